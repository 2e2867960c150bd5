"""Filters and sort orders of interrupt lists, and their query parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

#: An interrupt that expires within this time counts as expiring in lists.
EXPIRING_SOON = timedelta(minutes=10)
#: As long as the longest tool name; agents and teams have shorter ones.
MAX_NAME_CHARACTERS = 200
MAX_SEARCH_CHARACTERS = 200
MAX_QUERY_CHARACTERS = 8_000
MAX_VIEW_NAME_CHARACTERS = 60
MAX_WORDS = 10


class ListState(StrEnum):
    """The state of the interrupts that are listed."""

    OPEN = "open"
    DECIDED = "decided"  #: all closed ones
    EXPIRED = "expired"  #: closed by the system
    CANCELLED = "cancelled"  #: closed without an answer
    ALL = "all"


class Sort(StrEnum):
    DUE = "due"  #: the first to expire first, then the oldest; for open interrupts only
    NEW = "new"  #: the latest first, by closing time in lists of closed ones, else by creation
    OLD = "old"  #: the oldest first


class Queue(StrEnum):
    """The people who are to decide next, by claims and assignees."""

    ANY = ""
    MINE = "mine"  #: claimed by or assigned to the actor
    TEAM = "team"  #: neither claimed nor assigned
    OTHERS = "others"  #: claimed by or assigned to others only


@dataclass(frozen=True)
class InterruptFilter:
    """
    The filter of a list; all conditions must hold.

    Texts are compared exactly; each word of `text` must occur in the search text.
    """

    state: ListState = ListState.OPEN
    agent: str = ""  #: its slug
    tool: str = ""
    reason: str = ""
    team: str = ""  #: its slug
    mine: bool = False  #: claimed or decided by the actor
    queue: Queue = Queue.ANY
    assigned: bool = False  #: to the actor
    started: bool = False  #: the actor started the run
    snoozed: bool = False  #: snoozed by the actor; pages leave them out otherwise
    expiring: bool = False
    since: date | None = None  #: the first day, of the request or of the decision
    until: date | None = None  #: the last day
    text: str = ""
    sort: Sort = Sort.DUE
    # Of REST only; pages lead from a run to its requests by links.
    run: UUID | None = None
    thread: UUID | None = None
    interrupt_id: str = ""  #: as the agent named it

    def __post_init__(self) -> None:
        if self.sort is Sort.DUE and not self.is_open:
            object.__setattr__(self, "sort", Sort.NEW)

    @property
    def is_open(self) -> bool:
        return self.state is ListState.OPEN

    @property
    def is_closed(self) -> bool:
        return self.state not in (ListState.OPEN, ListState.ALL)

    @property
    def narrows(self) -> bool:
        """True if it excludes anything from its list."""
        return self != replace(InterruptFilter(state=self.kind), sort=self.sort)

    @property
    def kind(self) -> ListState:
        """The list that it filters: OPEN or DECIDED."""
        return ListState.DECIDED if self.is_closed else ListState.OPEN

    @property
    def words(self) -> list[str]:
        """The words that must all occur, casefolded like the search text."""
        return self.text.casefold().split()[:MAX_WORDS]

    def includes(self, *, team: str, agent: str, tool: str, reason: str, search_text: str) -> bool:
        """
        Return whether a request is in the list, now or later.

        Conditions that change while a request waits, or depend on the actor, are left out.
        """
        pairs = ((self.team, team), (self.agent, agent), (self.tool, tool), (self.reason, reason))
        return all(not name or name == value for name, value in pairs) and all(
            word in search_text for word in self.words
        )

    def lasting_query(self) -> str:
        """Return the query string of the conditions that `includes` checks."""
        return InterruptFilter(
            agent=self.agent, tool=self.tool, reason=self.reason, team=self.team, text=self.text
        ).to_query()

    def without(self, name: str) -> "InterruptFilter":
        """Return the filter with the default for one field."""
        if name == "state":
            return replace(self, state=self.kind)
        return replace(self, **{name: getattr(InterruptFilter(state=self.state), name)})

    def to_query(self) -> str:
        """Return the filter as a query string without defaults; "" for the whole list."""
        defaults = InterruptFilter(state=self.kind)
        pairs = [
            (parameter, "1" if value is True else str(value))
            for parameter, name in _PARAMETERS.items()
            if (value := getattr(self, name)) != getattr(defaults, name)
        ]
        return urlencode(pairs)

    def to_full_query(self) -> str:
        """Return the filter as a query string that always has `state`, for any list's address."""
        query = self.to_query()
        if "state=" not in query:
            query = "&".join(filter(None, (urlencode({"state": self.state}), query)))
        return query

    def of_rest(self, query: Mapping[str, str]) -> "tuple[InterruptFilter, list[str]]":
        """Return the filter with `run`, `thread` and `interrupt_id`, and invalid parameters."""
        read = ParameterReader(query)
        filters = replace(
            self,
            run=read.id("run"),
            thread=read.id("thread"),
            interrupt_id=read.name("interrupt_id"),
        )
        return filters, read.ignored

    @classmethod
    def from_text(cls, query: str) -> "InterruptFilter":
        """Return the filter of a query string, ignoring invalid parameters."""
        return cls.from_query(dict(parse_qsl(query[:MAX_QUERY_CHARACTERS])))[0]

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], *, state: ListState = ListState.OPEN
    ) -> "tuple[InterruptFilter, list[str]]":
        """
        Return the filter of a query, and the names of parameters with invalid values.

        `state` is the default at this address. Unknown parameters are left to the caller.
        """
        read = ParameterReader(query)
        filters = cls(
            state=ListState(read.choice("state", ListState, state)),
            agent=read.name("agent"),
            tool=read.name("tool"),
            reason=read.name("reason"),
            team=read.name("team"),
            mine=read.flag("mine"),
            queue=Queue(read.choice("queue", Queue, Queue.ANY)),
            assigned=read.flag("assigned"),
            started=read.flag("started"),
            snoozed=read.flag("snoozed"),
            expiring=read.flag("expiring"),
            since=read.day("since"),
            until=read.day("until"),
            text=read.search("q"),
            sort=Sort(read.choice("sort", Sort, Sort.DUE)),
        )
        return filters, read.ignored


def check_view_name(name: str) -> None:
    """Raise InvalidValue unless this is a valid name of a saved view."""
    if (
        not 1 <= len(name) <= MAX_VIEW_NAME_CHARACTERS
        or name != name.strip()
        or not name.isprintable()
    ):
        raise InvalidValue(
            TranslatableMessage(
                "The name of a view must have 1 to {most} visible characters.",
                most=MAX_VIEW_NAME_CHARACTERS,
            )
        )


_PARAMETERS = {
    **{name: name for name in ("state", "agent", "tool", "reason", "team", "mine", "queue")},
    **{name: name for name in ("assigned", "started", "snoozed", "expiring", "since", "until")},
    "q": "text",
    "sort": "sort",
}


class ParameterReader:
    """Reads query parameters and collects the names of those with invalid values."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self._query = query
        self.ignored: list[str] = []

    def choice(self, name: str, choices: type[StrEnum], default: str) -> str:
        value = self._query.get(name, "")
        if value in set(choices):
            return value
        self._ignore(name, value)
        return default

    def name(self, name: str) -> str:
        value = self._query.get(name, "").strip()
        if len(value) <= MAX_NAME_CHARACTERS and "\0" not in value:
            return value
        self._ignore(name, value)
        return ""

    def id(self, name: str) -> UUID | None:
        value = self._query.get(name, "").strip()
        try:
            return UUID(value) if value else None
        except ValueError:
            self._ignore(name, value)
            return None

    def flag(self, name: str) -> bool:
        value = self._query.get(name, "")
        if value not in ("", "1"):
            self._ignore(name, value)
        return value == "1"

    def day(self, name: str) -> date | None:
        value = self._query.get(name, "").strip()
        try:
            return date.fromisoformat(value) if value else None
        except ValueError:
            self._ignore(name, value)
            return None

    def search(self, name: str) -> str:
        """Return a search text; one that is too long is cut and reported."""
        value = " ".join(self._query.get(name, "").replace("\0", " ").split())
        if len(value) <= MAX_SEARCH_CHARACTERS and len(value.split()) <= MAX_WORDS:
            return value
        self._ignore(name, value)
        return " ".join(value[:MAX_SEARCH_CHARACTERS].split()[:MAX_WORDS])

    def _ignore(self, name: str, value: str) -> None:
        if value:
            self.ignored.append(name)
