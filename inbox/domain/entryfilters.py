"""Which entries of the audit trail are wanted, as it stands in an address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode
from uuid import UUID

from inbox.domain.access import ActorKind
from inbox.domain.callfilters import UNDECIDED
from inbox.domain.filters import Reader
from inbox.domain.states import Verdict


@dataclass(frozen=True)
class EntryFilter:
    """What a search of the trail asks for; every field narrows it further."""

    team: str = ""  #: its slug
    thread: UUID | None = None
    agent: str = ""  #: the slug of the agent whose thread it is
    tool: str = ""  #: of the call that it is about
    verdict: str = ""  #: on that call: one of Verdict, or UNDECIDED
    by: str = ""  #: who did it: the id of a person, key or agent, or the name of a part of Signoff
    action: str = ""  #: exactly as it was written down
    since: date | None = None  #: the first day, UTC
    until: date | None = None  #: the last day, UTC
    text: str = ""  #: words that occur in the names and texts, as far as they are not erased

    @property
    def words(self) -> list[str]:
        return self.text.split()

    @property
    def kinds(self) -> list[ActorKind]:
        """What whoever `by` names may be."""
        if self.by.isdigit():
            return [ActorKind.HUMAN]
        try:
            UUID(self.by)
        except ValueError:
            return [ActorKind.SYSTEM]
        return [ActorKind.KEY, ActorKind.AGENT]

    def to_query(self) -> str:
        return urlencode(self.asked)

    @property
    def asked(self) -> dict[str, str]:
        """The parameters that say it."""
        pairs = {name: getattr(self, field) for name, field in PARAMETERS.items()}
        return {name: str(value) for name, value in pairs.items() if value}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "tuple[EntryFilter, list[str]]":
        """Read a filter, and the names of those parameters that make no sense and are ignored."""
        read = Reader(query)
        verdict = query.get("decision", "")
        if verdict != UNDECIDED:
            verdict = read.one_of("decision", Verdict, "")
        found = cls(
            team=read.name("team"),
            thread=read.id("thread"),
            agent=read.name("agent"),
            tool=read.name("tool"),
            verdict=verdict,
            by=read.name("by"),
            action=read.name("action"),
            since=read.day("since"),
            until=read.day("until"),
            text=read.search("q"),
        )
        return found, read.ignored


PARAMETERS = {
    **{name: name for name in ("team", "thread", "agent", "tool", "by", "action")},
    "since": "since",
    "until": "until",
    "decision": "verdict",
    "q": "text",
}
