"""A few threads for database work of async code; they keep their connections."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.core.handlers.asgi import ASGIRequest
from django.db import OperationalError, close_old_connections
from django.http import HttpRequest

P = ParamSpec("P")
T = TypeVar("T")

# asgiref's default would put every query of the process behind one another in a single thread.
_executor = ThreadPoolExecutor(max_workers=12, thread_name_prefix="db")
# Hashing a password takes a good part of a second: many at once leave the threads above alone.
_hashing = ThreadPoolExecutor(max_workers=2, thread_name_prefix="hashing")


class DatabaseBusy(OperationalError):
    """The database is there, but had no connection or no turn for this in time."""


async def in_db_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in one of the threads, for the request of this task."""
    return await _in(_executor, function, *args, **kwargs)


async def in_hashing_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that hashes passwords, as `in_db_thread` does, in one of two threads."""
    return await _in(_hashing, function, *args, **kwargs)


async def _in(
    pool: ThreadPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    call = partial(_with_fresh_connection, partial(function, *args, **kwargs))
    # A copy: what the call sets is its own, and a thread keeps nothing of one request for another.
    call = partial(copy_context().run, call)
    return await asyncio.get_running_loop().run_in_executor(pool, call)


def in_turns(
    request: HttpRequest, chunks: Iterator[bytes]
) -> Iterator[bytes] | AsyncIterator[bytes]:
    """
    What is read from the database while it is sent, as the server of this request takes it.

    Each chunk may be read in another thread: between two of them no query may be open.
    """
    return _each_in_db_thread(chunks) if isinstance(request, ASGIRequest) else chunks


async def _each_in_db_thread(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await in_db_thread(next, chunks, None)) is not None:
        yield chunk


def _with_fresh_connection(call: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()
