"""
Threads for database work of asynchronous code; each keeps its connection.

Why: asgiref's `sync_to_async` runs all thread-sensitive calls of a process one after another in a
single thread, and otherwise in new threads that each open a new connection.
Remove when: Django has an asynchronous database backend with a connection pool.
"""

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

_executor = ThreadPoolExecutor(max_workers=12, thread_name_prefix="db")
# Hashing a password takes a large part of a second and must not block the threads above.
_hashing_executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="hashing")


class DatabaseBusy(OperationalError):
    """The database is up, but had no free connection or no write slot in time."""


async def in_db_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in one of the threads, with this task's context."""
    return await _run_in(_executor, function, *args, **kwargs)


async def in_hashing_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that hashes passwords in one of two threads of their own."""
    return await _run_in(_hashing_executor, function, *args, **kwargs)


async def _run_in(
    pool: ThreadPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    call = partial(_with_open_connection, partial(function, *args, **kwargs))
    # A copy, so that context variables do not leak from one request into another.
    call = partial(copy_context().run, call)
    return await asyncio.get_running_loop().run_in_executor(pool, call)


def iterate_in_db_threads(
    request: HttpRequest, chunks: Iterator[bytes]
) -> Iterator[bytes] | AsyncIterator[bytes]:
    """
    Return chunks that are read from the database while they are sent, for WSGI or ASGI.

    Each chunk may be read in another thread, so no query may stay open between two chunks.
    """
    return _each_in_db_thread(chunks) if isinstance(request, ASGIRequest) else chunks


async def _each_in_db_thread(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await in_db_thread(next, chunks, None)) is not None:
        yield chunk


def _with_open_connection(call: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()
