"""Pages of the latest rows, merged from one index range for each team."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

#: The number of rows of each part that one page of a search reads.
MAX_ROWS_SEARCHED = 5_000
Key = TypeVar("Key", UUID, int)
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class SearchPage(Generic[Row, Key]):
    """A page of rows, the latest first."""

    rows: Sequence[Row]
    after: Key | None  #: the id after which the next page begins, None at the end
    is_cut: bool  #: the search stopped before the page was full; there may be more rows


def search(
    parts: Sequence["QuerySet[Any]"],
    condition: Q,
    *,
    limit: int,
    after: Key | None,
    load: Callable[[Sequence[Key]], Sequence[Row]],
) -> SearchPage[Row, Key]:
    """
    Return the latest rows of these parts that fulfil a condition for which there is no index.

    The parts are as `latest_ids` takes them; MAX_ROWS_SEARCHED rows of each are read. `load` reads
    the rows of some ids, in their order, without those that match by masked values only. They are
    skipped before the page is cut, so that the end of a page does not reveal that they match.
    """
    if after is not None:
        parts = [part.filter(pk__lt=after) for part in parts]
    bound: Key | None = _bound(parts) if condition else None
    if bound is not None:
        parts = [part.filter(pk__gte=bound) for part in parts]
    parts = [part.filter(condition) for part in parts]
    rows: list[Row] = []
    last_id: Key | None = None
    while True:
        ids: list[Key] = latest_ids(parts, limit=limit + 1, after=last_id)
        rows += load(ids)
        if len(rows) > limit:
            return SearchPage(rows[:limit], after=rows[limit - 1].pk, is_cut=False)
        if len(ids) <= limit:
            return SearchPage(rows, after=bound, is_cut=bound is not None)
        last_id = ids[-1]


def _bound(parts: "Iterable[QuerySet[Any]]") -> Any:
    """Return the lowest id that is searched, None if all rows are."""
    last = slice(MAX_ROWS_SEARCHED - 1, MAX_ROWS_SEARCHED)  # a bounded number of index entries
    ids = [pk for part in parts for pk in part.order_by("-pk").values_list("pk", flat=True)[last]]
    return max(ids, default=None)


def latest_ids(parts: Iterable["QuerySet[Any]"], *, limit: int, after: Key | None) -> list[Key]:
    """
    Return up to `limit` ids of the latest rows of these parts, after the id `after`.

    Each part is in the order of ids in an index, and the parts have no row in common. `after` need
    not exist, so a page can be read after its last row was deleted, and the result does not reveal
    which ids exist.
    """
    pages = []
    for part in parts:
        rows = part if after is None else part.filter(pk__lt=after)
        pages.append(rows.order_by("-pk").values_list("pk", flat=True)[:limit])
    return list(islice(merge(*pages, reverse=True), limit))
