"""The time that one page may spend on colours and Markdown, because agents choose the texts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Later texts of the page are shown as they are written.
SECONDS = 0.5


@contextmanager
def markup_time(request: Any) -> Iterator[float]:
    """Yield the seconds that are left for the page of a request, and count those that are used."""
    left: float = getattr(request, "markup_seconds", SECONDS)
    begun = time.perf_counter()
    yield left
    if request is not None:
        request.markup_seconds = left - (time.perf_counter() - begun)
