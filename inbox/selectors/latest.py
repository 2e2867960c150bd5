"""The latest rows of several teams, a page at a time, without reading what is not shown."""

from collections.abc import Iterable
from heapq import merge
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import QuerySet


def latest(parts: Iterable["QuerySet[Any]"], *, limit: int, after: UUID | None) -> list[UUID]:
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
