"""The filter of the list of runs, read from and written to query strings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Self
from urllib.parse import urlencode
from uuid import UUID

from inbox.rules.decisions.list_filters import ParameterReader
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, RunStatus
from inbox.rules.text.ids import read_id


class RunState(StrEnum):
    """The state of a thread in the list: the one of its latest run."""

    ACTIVE = "active"
    INTERRUPTED = "interrupted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        return ACTIVE_RUN_STATUSES if self is RunState.ACTIVE else (RunStatus(self.value),)


@dataclass(frozen=True)
class RunFilter:
    """The filters of the list; all of them must match."""

    text: str = ""  #: words of the title, or an id
    state: str = ""  #: a RunState
    agent: str = ""  #: its slug
    since: date | None = None  #: the first day, in the reader's zone
    until: date | None = None  #: the last day

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        return RunState(self.state).statuses if self.state else ()

    @property
    def searched_id(self) -> UUID | None:
        """Return the text as an id, None if it is not one."""
        return read_id(self.text)

    @property
    def parameters(self) -> dict[str, str]:
        """Return the query parameters."""
        pairs = {
            "q": self.text,
            "state": self.state,
            "agent": self.agent,
            "since": self.since,
            "until": self.until,
        }
        return {name: str(value) for name, value in pairs.items() if value}

    def to_query(self, **changes: str) -> str:
        """Return the query string; a parameter that is changed to "" is left out."""
        changed = {**self.parameters, **changes}
        return urlencode({name: value for name, value in changed.items() if value})

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Self, list[str]]:
        """Parse a filter; also return the names of invalid parameters, which are ignored."""
        reader = ParameterReader(query)
        filters = cls(
            text=reader.search("q"),
            state=reader.choice("state", RunState, ""),
            agent=reader.name("agent"),
            since=reader.day("since"),
            until=reader.day("until"),
        )
        return filters, reader.ignored
