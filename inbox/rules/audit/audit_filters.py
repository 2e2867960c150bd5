"""Which rows of the audit trail are wanted, as it stands in an address."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from inbox.rules.decisions.list_filters import ParameterReader
from inbox.rules.people.access import ActorKind
from inbox.rules.runs.states import ToolCallOutcome

#: What is open, and what nobody was asked about, has no verdict.
UNDECIDED = "none"
#: The parameters that are not called as their fields are.
_CALLED = {"verdict": "decision", "text": "q"}


@dataclass(frozen=True)
class TrailFilter:
    """What a search asks for; every field narrows it further."""

    team: str = ""  #: its slug
    agent: str = ""  #: the slug of the agent whose thread it is
    tool: str = ""
    verdict: str = ""  #: on the call: one of Verdict, or UNDECIDED
    by: str = ""  #: who did it: the id of a person, key or agent, or the name of a part of Signoff
    since: date | None = None  #: the first day, UTC
    until: date | None = None  #: the last day, UTC
    text: str = ""  #: words, each of which occurs

    @property
    def words(self) -> list[str]:
        return self.text.split()

    @property
    def narrows(self) -> bool:
        return self != type(self)()

    @property
    def asked(self) -> dict[str, str]:
        """The parameters that say it."""
        pairs = {field.name: getattr(self, field.name) for field in fields(self)}
        return {_CALLED.get(name, name): str(value) for name, value in pairs.items() if value}

    def to_query(self) -> str:
        return urlencode(self.asked)

    def without(self, parameter: str) -> Self:
        rest = {name: value for name, value in self.asked.items() if name != parameter}
        return self.from_query(rest)[0]

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Self, list[str]]:
        """Read a filter, and the names of those parameters that make no sense and are ignored."""
        read = ParameterReader(query)
        return cls(**cls._fields_of(query, read)), read.ignored

    @classmethod
    def _fields_of(cls, query: Mapping[str, str], read: ParameterReader) -> dict[str, Any]:
        verdict = query.get("decision", "")
        if verdict != UNDECIDED:
            verdict = read.choice("decision", ToolCallOutcome, "")
        return {
            **{name: read.name(name) for name in ("team", "agent", "tool", "by")},
            **{name: read.day(name) for name in ("since", "until")},
            "verdict": verdict,
            "text": read.search("q"),
        }


@dataclass(frozen=True)
class CallFilter(TrailFilter):
    """
    Tool calls: `by` decided, on those days it was proposed.

    The words occur in its name, its id, its arguments or its result.
    """

    @property
    def call_id(self) -> UUID | None:
        """The id that the text is, if it is one."""
        try:
            return UUID(self.text) if self.text else None
        except ValueError:
            return None


@dataclass(frozen=True)
class EntryFilter(TrailFilter):
    """Entries: the words occur in their names and texts, as far as they are not erased."""

    thread: UUID | None = None
    action: str = ""  #: exactly as it was written down

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

    @classmethod
    def _fields_of(cls, query: Mapping[str, str], read: ParameterReader) -> dict[str, Any]:
        own = {"thread": read.id("thread"), "action": read.name("action")}
        return super()._fields_of(query, read) | own


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
