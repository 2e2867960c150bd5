"""Which tool calls the trail shows, as it stands in an address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from inbox.domain.filters import Reader
from inbox.domain.states import Verdict

#: What is open, and what nobody was asked about, has no verdict.
UNDECIDED = "none"


@dataclass(frozen=True)
class CallFilter:
    """What a search for tool calls asks for; every field narrows it further."""

    team: str = ""  #: its slug
    agent: str = ""  #: its slug
    tool: str = ""
    verdict: str = ""  #: one of Verdict, or UNDECIDED
    by: str = ""  #: who decided: the id of a person or a key, or the name of a part of Signoff
    since: date | None = None  #: the first day, UTC
    until: date | None = None  #: the last day, UTC
    text: str = ""  #: words that occur in the name, the id, the arguments or the result

    @property
    def words(self) -> list[str]:
        return self.text.split()

    @property
    def narrows(self) -> bool:
        return self != CallFilter()

    @property
    def call_id(self) -> UUID | None:
        """The id that the text is, if it is one."""
        try:
            return UUID(self.text) if self.text else None
        except ValueError:
            return None

    def without(self, name: str) -> "CallFilter":
        return replace(self, **{name: getattr(CallFilter(), name)})

    def to_query(self) -> str:
        pairs = [(name, getattr(self, field)) for name, field in PARAMETERS.items()]
        return urlencode([(name, str(value)) for name, value in pairs if value])

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "tuple[CallFilter, list[str]]":
        """Read a filter, and the names of those parameters that make no sense and are ignored."""
        read = Reader(query)
        verdict = query.get("decision", "")
        if verdict != UNDECIDED:
            verdict = read.one_of("decision", Verdict, "")
        found = cls(
            team=read.name("team"),
            agent=read.name("agent"),
            tool=read.name("tool"),
            verdict=verdict,
            by=read.name("by"),
            since=read.day("since"),
            until=read.day("until"),
            text=read.search("q"),
        )
        return found, read.ignored


PARAMETERS = {
    **{name: name for name in ("team", "agent", "tool", "by", "since", "until")},
    "decision": "verdict",
    "q": "text",
}


def first_id_of(day: date) -> UUID:
    """The least UUIDv7 that can be made on a day: keys are in the order of their times."""
    begun = datetime(day.year, day.month, day.day, tzinfo=UTC)
    milliseconds = max(0, int(begun.timestamp())) * 1000
    return UUID(int=milliseconds << 80)


def first_id_after(day: date) -> UUID | None:
    """The least UUIDv7 of the day after, None if there is no such day."""
    try:
        return first_id_of(day + timedelta(days=1))
    except OverflowError:
        return None
