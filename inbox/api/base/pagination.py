"""Lists a page at a time, and the fields that are asked for."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.validators import slug_re
from rest_framework.response import Response

from inbox.rules.decisions.list_filters import MAX_SEARCH_CHARACTERS, MAX_WORDS
from inbox.rules.errors import InvalidInput, InvalidValue

PAGE = 50
LONGEST_PAGE = 200
#: The JSON Schema of a name in an address, and of a cursor that is one.
SLUG = {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$", "maxLength": 50}
#: The JSON Schema of a cursor that is a number: what Window.after_number takes.
NUMBER_CURSOR = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}


@dataclass(frozen=True)
class Window:
    """The part of a list that was asked for."""

    limit: int
    after: str  #: as the page before gave it, "" for the first page

    @classmethod
    def of(
        cls, query: Mapping[str, str], *, limit: int = PAGE, most: int = LONGEST_PAGE
    ) -> "Window":
        """Raises InvalidInput."""
        text = query.get("limit", str(limit))
        is_number = text.isascii() and text.isdecimal() and len(text) < 6
        if not (is_number and 1 <= int(text) <= most):
            raise InvalidInput(f"`limit` is a whole number from 1 to {most}.")
        return cls(int(text), query.get("after", ""))

    @property
    def after_id(self) -> UUID | None:
        """Raises InvalidInput."""
        try:
            return UUID(self.after) if self.after else None
        except ValueError as error:
            raise _no_cursor() from error

    @property
    def after_name(self) -> str:
        """A name in an address. Raises InvalidInput."""
        if self.after and not slug_re.fullmatch(self.after):
            raise _no_cursor()
        return self.after

    @property
    def after_number(self) -> int:
        """Raises InvalidInput."""
        text = self.after or "0"
        if not (text.isascii() and text.isdecimal() and len(text) < 16):
            raise _no_cursor()
        return int(text)

    @property
    def one_more(self) -> int:
        """How many rows to read: the last one only says that there is another page."""
        return self.limit + 1

    def page(
        self,
        rows: Sequence[Any],
        shape: Callable[[Any], Any],
        cursor: Callable[[Any], Any] = lambda row: row.pk,
    ) -> Response:
        """The answer that holds `one_more` rows but the last one, and where it goes on."""
        shown = rows[: self.limit]
        more = len(rows) > self.limit
        following = str(cursor(shown[-1])) if more else None
        return Response({"results": list(map(shape, shown)), "next_after": following})


def page_response(page: Any, shape: Callable[[Any], Any]) -> Response:
    """Return the page of a query that finds its own cursor."""
    next_after = str(page.after) if page.after is not None else None
    return Response({"results": list(map(shape, page.rows)), "next_after": next_after})


def _no_cursor() -> InvalidInput:
    return InvalidInput("`after` is the `next_after` of the page before, as it was.")


def chosen(data: Mapping[str, Any], wanted: str, known: Collection[str]) -> dict[str, Any]:
    """What `fields=a,b` leaves of an answer, or of each result of a list. Raises InvalidInput."""
    names = names_of(wanted, known)
    if not isinstance(data.get("results"), list):
        return {name: data[name] for name in data if name in names}
    results = [{name: row[name] for name in row if name in names} for row in data["results"]]
    return {**data, "results": results}


def names_of(wanted: str, known: Collection[str]) -> Sequence[str]:
    """The names in `a,b`. Raises InvalidInput, which says which ones are known."""
    names = wanted.split(",")
    if not set(names) <= set(known):
        raise InvalidInput(
            f"`fields` are names with commas between; there are {', '.join(known)}.",
            known=list(known),
        )
    return names


def refuse_ignored(names: Sequence[str]) -> None:
    """
    Refuse the parameters that a page would ignore, and say so, where nobody would notice.

    Raises:
        InvalidValue: it is the number of words, which no schema can tell.
        InvalidInput.
    """
    if set(names) == {"q"}:
        raise InvalidValue(
            f"A search has up to {MAX_WORDS} words, of {MAX_SEARCH_CHARACTERS} characters."
        )
    if names:
        raise InvalidInput(f"These parameters make no sense: {', '.join(names)}.")
