"""The latest rows of several teams, a page at a time, without reading what is not shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

#: So far one page looks for what no index answers; the next page goes on from there.
LOOKED_AT = 5_000
Key = TypeVar("Key", UUID, int)
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class SearchPage(Generic[Row, Key]):
    """One page, the latest first."""

    rows: Sequence[Row]
    after: Key | None  #: where the next page goes on, None at the end
    is_cut: bool  #: whether there may be less on this page than a page holds, and more behind it


def search(
    parts: Sequence["QuerySet[Any]"],
    rest: Q,
    *,
    limit: int,
    after: Key | None,
    show: Callable[[Sequence[Key]], Sequence[Row]],
) -> SearchPage[Row, Key]:
    """
    The latest rows of these parts that the `rest` leaves, for which there is no index.

    The parts are as `latest` takes them. Of each, LOOKED_AT rows are looked at. `show` reads the
    rows of some ids, in their order, and leaves out those that match by masked values only. These
    are skipped before the page is cut: where a page ends must not tell that they match.
    """
    if after is not None:
        parts = [part.filter(pk__lt=after) for part in parts]
    bound: Key | None = _bound(parts) if rest else None
    if bound is not None:
        parts = [part.filter(pk__gte=bound) for part in parts]
    parts = [part.filter(rest) for part in parts]
    rows: list[Row] = []
    place: Key | None = None
    while True:
        ids: list[Key] = latest_ids(parts, limit=limit + 1, after=place)
        rows += show(ids)
        if len(rows) > limit:
            return SearchPage(rows[:limit], after=rows[limit - 1].pk, is_cut=False)
        if len(ids) <= limit:
            return SearchPage(rows, after=bound, is_cut=bound is not None)
        place = ids[-1]


def _bound(parts: "Iterable[QuerySet[Any]]") -> Any:
    """The id as far as to which each part is looked through, None if that is all of them."""
    last = slice(LOOKED_AT - 1, LOOKED_AT)  # steps in an index, and never more of them
    found = [pk for part in parts for pk in part.order_by("-pk").values_list("pk", flat=True)[last]]
    return max(found, default=None)


def latest_ids(parts: Iterable["QuerySet[Any]"], *, limit: int, after: Key | None) -> list[Key]:
    """
    The ids of the first rows of these parts, the latest first, from behind the id `after` on.

    Each part is in the order of its ids in an index, and they have no row in common. An id that is
    no row's is a place in the order like any other, so that a page can be asked for after its
    last row is gone, and the answer tells nobody what is there.
    """
    pages = []
    for part in parts:
        rows = part if after is None else part.filter(pk__lt=after)
        pages.append(rows.order_by("-pk").values_list("pk", flat=True)[:limit])
    return list(islice(merge(*pages, reverse=True), limit))
