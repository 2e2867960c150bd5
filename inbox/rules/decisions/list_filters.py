"""What a list shows and in which order, as it stands in an address."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

#: What expires sooner than this is expiring: amber in every list.
EXPIRING_SOON = timedelta(minutes=10)
#: As long as the longest tool name; agents and teams have shorter ones.
MAX_NAME_CHARACTERS = 200
MAX_SEARCH_CHARACTERS = 200
MAX_QUERY_CHARACTERS = 8_000
MAX_VIEW_NAME_CHARACTERS = 60
MAX_WORDS = 10


class ListState(StrEnum):
    """Which interrupts are listed."""

    OPEN = "open"  #: those that wait
    DECIDED = "decided"  #: those that are closed, however that came
    EXPIRED = "expired"  #: closed by the system, too late for an answer
    CANCELLED = "cancelled"  #: closed without an answer
    ALL = "all"


class Sort(StrEnum):
    DUE = "due"  #: the soonest to expire first, then the oldest; only what is open expires
    NEW = "new"  #: the latest first: closed where all are closed, else asked
    OLD = "old"  #: the other way round


@dataclass(frozen=True)
class InterruptFilter:
    """
    What a list shows; every field narrows it further.

    Texts are compared as they are, `text` word by word wherever a request has words.
    """

    state: ListState = ListState.OPEN
    agent: str = ""  #: its slug
    tool: str = ""
    reason: str = ""
    team: str = ""  #: its slug
    mine: bool = False  #: claimed by whoever looks, or decided by them
    expiring: bool = False
    text: str = ""
    sort: Sort = Sort.DUE

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
        """Whether it leaves anything out of the list of its kind."""
        return self != replace(InterruptFilter(state=self.kind), sort=self.sort)

    @property
    def kind(self) -> ListState:
        """The list that it narrows: what waits, or what is decided."""
        return ListState.DECIDED if self.is_closed else ListState.OPEN

    @property
    def words(self) -> list[str]:
        """What must occur, each of them: in the spelling of the stored search text."""
        return self.text.casefold().split()[:MAX_WORDS]

    def without(self, name: str) -> "InterruptFilter":
        """The filter with one of its fields as it is in an address that does not name it."""
        if name == "state":
            return replace(self, state=self.kind)
        return replace(self, **{name: getattr(InterruptFilter(state=self.state), name)})

    def to_query(self) -> str:
        """The filter as a query, without what its list has anyway; "" for the whole list."""
        whole = InterruptFilter(state=self.kind)
        pairs = [
            (parameter, "1" if value is True else str(value))
            for parameter, name in _PARAMETERS.items()
            if (value := getattr(self, name)) != getattr(whole, name)
        ]
        return urlencode(pairs)

    def to_full_query(self) -> str:
        """The filter as a query that means the same at every address: its state is always named."""
        rest = self.to_query()
        if "state=" not in rest:
            rest = "&".join(part for part in (urlencode({"state": self.state}), rest) if part)
        return rest

    @classmethod
    def from_text(cls, query: str) -> "InterruptFilter":
        """Read a filter from the text of a query, which may be anything."""
        return cls.from_query(dict(parse_qsl(query[:MAX_QUERY_CHARACTERS])))[0]

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], *, state: ListState = ListState.OPEN
    ) -> "tuple[InterruptFilter, list[str]]":
        """
        Read a filter, and the names of those parameters that make no sense and are ignored.

        `state` is that of the list at this address. Parameters with other names are others'.
        """
        read = ParameterReader(query)
        found = cls(
            state=ListState(read.one_of("state", ListState, state)),
            agent=read.name("agent"),
            tool=read.name("tool"),
            reason=read.name("reason"),
            team=read.name("team"),
            mine=read.flag("mine"),
            expiring=read.flag("expiring"),
            text=read.search("q"),
            sort=Sort(read.one_of("sort", Sort, Sort.DUE)),
        )
        return found, read.ignored


def check_view_name(name: str) -> None:
    """Raise InvalidValue unless a view may have this name."""
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
    **{name: name for name in ("state", "agent", "tool", "reason", "team", "mine", "expiring")},
    "q": "text",
    "sort": "sort",
}


class ParameterReader:
    """Reads parameters one by one, and notes which made no sense."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self._query = query
        self.ignored: list[str] = []

    def one_of(self, name: str, known: type[StrEnum], default: str) -> str:
        value = self._query.get(name, "")
        if value in set(known):
            return value
        self._note(name, value)
        return default

    def name(self, name: str) -> str:
        value = self._query.get(name, "").strip()
        if len(value) <= MAX_NAME_CHARACTERS and "\0" not in value:
            return value
        self._note(name, value)
        return ""

    def id(self, name: str) -> UUID | None:
        value = self._query.get(name, "").strip()
        try:
            return UUID(value) if value else None
        except ValueError:
            self._note(name, value)
            return None

    def flag(self, name: str) -> bool:
        value = self._query.get(name, "")
        if value not in ("", "1"):
            self._note(name, value)
        return value == "1"

    def day(self, name: str) -> date | None:
        value = self._query.get(name, "").strip()
        try:
            return date.fromisoformat(value) if value else None
        except ValueError:
            self._note(name, value)
            return None

    def search(self, name: str) -> str:
        """What is too long is cut, and said to be."""
        value = " ".join(self._query.get(name, "").replace("\0", " ").split())
        if len(value) <= MAX_SEARCH_CHARACTERS and len(value.split()) <= MAX_WORDS:
            return value
        self._note(name, value)
        return " ".join(value[:MAX_SEARCH_CHARACTERS].split()[:MAX_WORDS])

    def _note(self, name: str, value: str) -> None:
        if value:
            self.ignored.append(name)
