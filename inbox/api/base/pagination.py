"""Pages of lists, and the selection of fields."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from django.core.validators import slug_re
from rest_framework.response import Response

from inbox.rules.decisions.list_filters import MAX_SEARCH_CHARACTERS, MAX_WORDS
from inbox.rules.errors import InvalidInput, InvalidValue

PAGE = 50
MAX_PAGE_SIZE = 200
#: The JSON Schema of a name in an address, and of such cursors.
SLUG = {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$", "maxLength": 50}
#: The JSON Schema of a cursor that is a number: for Pagination.after_number.
NUMBER_CURSOR = {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}


Row = TypeVar("Row")


@dataclass(frozen=True)
class Pagination:
    """The requested part of a list."""

    limit: int
    after: str  #: the `next_after` of the previous page, "" for the first page

    @classmethod
    def of(
        cls, query: Mapping[str, str], *, limit: int = PAGE, maximum: int = MAX_PAGE_SIZE
    ) -> "Pagination":
        """Raises InvalidInput."""
        text = query.get("limit", str(limit))
        is_number = text.isascii() and text.isdecimal() and len(text) < 6
        if not (is_number and 1 <= int(text) <= maximum):
            raise InvalidInput(f"`limit` is a whole number from 1 to {maximum}.")
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
        """Return the number of rows to read; the last one only tells that there is another page."""
        return self.limit + 1

    def page(
        self,
        rows: Sequence[Row],
        represent: Callable[[Row], Any],
        cursor: Callable[[Row], object] = attrgetter("pk"),
    ) -> Response:
        """Return the response with up to `limit` of the `one_more` rows, and the next cursor."""
        results = rows[: self.limit]
        after = cursor(results[-1]) if len(rows) > self.limit else None
        return page_response(results, after, represent)


def page_response(
    rows: Sequence[Row], after: object | None, represent: Callable[[Row], Any]
) -> Response:
    """Return the response with all `rows`; `after` is the cursor, or None on the last page."""
    next_after = str(after) if after is not None else None
    return Response({"results": list(map(represent, rows)), "next_after": next_after})


def _no_cursor() -> InvalidInput:
    return InvalidInput("`after` is the `next_after` of the previous page, unchanged.")


def select_fields(data: Mapping[str, Any], fields: str, allowed: Collection[str]) -> dict[str, Any]:
    """Return a response, or each result of a list, with `a,b` only. Raises InvalidInput."""
    names = field_names(fields, allowed)
    if not isinstance(data.get("results"), list):
        return {name: data[name] for name in data if name in names}
    results = [{name: row[name] for name in row if name in names} for row in data["results"]]
    return {**data, "results": results}


def field_names(fields: str, allowed: Collection[str]) -> Sequence[str]:
    """Return the names in `a,b`. Raises InvalidInput, which lists the allowed ones."""
    names = fields.split(",")
    if not set(names) <= set(allowed):
        raise InvalidInput(
            f"`fields` are names with commas between, of: {', '.join(allowed)}.",
            known=list(allowed),
        )
    return names


def reject_values(names: Sequence[str]) -> None:
    """
    Reject parameters whose values pages ignore, because programs would not notice.

    Unknown parameters are rejected before, by `check_parameters`.

    Raises:
        InvalidValue: a search has too many words.
        InvalidInput: any other parameter.
    """
    if set(names) == {"q"}:
        raise InvalidValue(
            f"A search has up to {MAX_WORDS} words, of {MAX_SEARCH_CHARACTERS} characters."
        )
    if names:
        raise InvalidInput(f"Query parameters with an invalid value: {', '.join(names)}.")
