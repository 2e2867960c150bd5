"""Filters of the audit trail, read from and written to query strings."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from inbox.rules.decisions.list_filters import ParameterReader
from inbox.rules.people.access import ActorKind
from inbox.rules.runs.states import ToolCallOutcome
from inbox.rules.text.ids import read_id

#: Matches calls without a decision: undecided ones and those that needed no decision.
UNDECIDED = "none"
#: The parameters whose names differ from their fields.
_PARAMETER_NAMES = {"verdict": "decision", "text": "q"}


@dataclass(frozen=True)
class TrailFilter:
    """The filters of a search; all of them must match."""

    team: str = ""  #: its slug
    agent: str = ""  #: the slug of the agent whose thread it is
    tool: str = ""
    verdict: str = ""  #: on the call: a ToolCallOutcome, or UNDECIDED
    by: str = ""  #: the actor: the id of a person, key or agent, or the name of a part of Signoff
    since: date | None = None  #: the first day
    until: date | None = None  #: the last day
    text: str = ""  #: words, each of which occurs

    @property
    def words(self) -> list[str]:
        return self.text.split()

    @property
    def narrows(self) -> bool:
        return self != type(self)()

    @property
    def parameters(self) -> dict[str, str]:
        """Return the query parameters."""
        pairs = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            _PARAMETER_NAMES.get(name, name): str(value) for name, value in pairs.items() if value
        }

    def to_query(self) -> str:
        return urlencode(self.parameters)

    def without(self, parameter: str) -> Self:
        remaining = {name: value for name, value in self.parameters.items() if name != parameter}
        return self.from_query(remaining)[0]

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Self, list[str]]:
        """Parse a filter; also return the names of invalid parameters, which are ignored."""
        reader = ParameterReader(query)
        return cls(**cls._fields_of(query, reader)), reader.ignored

    @classmethod
    def _fields_of(cls, query: Mapping[str, str], reader: ParameterReader) -> dict[str, Any]:
        verdict = query.get("decision", "")
        if verdict != UNDECIDED:
            verdict = reader.choice("decision", ToolCallOutcome, "")
        return {
            **{name: reader.name(name) for name in ("team", "agent", "tool", "by")},
            **{name: reader.day(name) for name in ("since", "until")},
            "verdict": verdict,
            "text": reader.search("q"),
        }


@dataclass(frozen=True)
class CallFilter(TrailFilter):
    """
    A filter of tool calls: `by` is who decided; the days are those of the proposal.

    The words occur in the name, the id, the arguments or the result.
    """

    @property
    def call_id(self) -> UUID | None:
        """Return the text as an id, None if it is not one."""
        return read_id(self.text)


@dataclass(frozen=True)
class EntryFilter(TrailFilter):
    """A filter of entries; the words occur in names and texts that are not erased."""

    thread: UUID | None = None
    action: str = ""  #: exact

    @property
    def kinds(self) -> list[ActorKind]:
        """Return the kinds of actor that `by` may refer to."""
        if self.by.isdigit():
            return [ActorKind.HUMAN]
        return [ActorKind.KEY, ActorKind.AGENT] if read_id(self.by) else [ActorKind.SYSTEM]

    @classmethod
    def _fields_of(cls, query: Mapping[str, str], reader: ParameterReader) -> dict[str, Any]:
        own = {"thread": reader.id("thread"), "action": reader.name("action")}
        return super()._fields_of(query, reader) | own


def first_id_of(day: date, zone: tzinfo = UTC) -> UUID:
    """Return the smallest UUIDv7 of a day; keys are ordered by time."""
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    milliseconds = max(0, int(start.timestamp())) * 1000
    return UUID(int=milliseconds << 80)


def time_of_id(key: UUID) -> datetime:
    """Return the time of a UUIDv7 in milliseconds."""
    return datetime.fromtimestamp((key.int >> 80) / 1000, UTC)


def first_id_after(day: date, zone: tzinfo = UTC) -> UUID | None:
    """Return the smallest UUIDv7 of the next day, None if there is no such day."""
    try:
        return first_id_of(day + timedelta(days=1), zone)
    except OverflowError:
        return None
