"""Doing several things at the same moment, each over a connection of its own."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections

#: Long rounds are for campaigns; a test run has to end.
LONG = os.environ.get("SIGNOFF_CAMPAIGN") == "long"
_PATIENCE_SECONDS = 60
#: How long threads wait for each other that have to meet.
LONG_WAIT_SECONDS = 30
#: Of the pool's connections; a larger crowd takes turns, as it does in a web process.
_MOST_CONNECTIONS = 30


def rounds(*, short: int, long: int) -> int:
    """How often a race is run: often in a campaign, and enough to notice in a test run."""
    return long if LONG else short


class CallLog:
    """Counts, from any thread, that something happened."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self.entries: list[str] = []

    def add(self, entry: str) -> None:
        with self._guard:
            self.entries.append(entry)


class Meeting:
    """
    A point in the code where `parties` threads wait for each other.

    Where a lock keeps the others away nobody ever meets: then each goes on after a second, and
    `met` stays false. Where they have to meet, they wait for `LONG_WAIT_SECONDS`.
    """

    wait_seconds = 1.0

    def __init__(self, parties: int, *, wait_seconds: float | None = None) -> None:
        self._barrier = threading.Barrier(parties)
        if wait_seconds is not None:
            self.wait_seconds = wait_seconds
        self.met = False

    def wait(self) -> None:
        try:
            self._barrier.wait(self.wait_seconds)
        except threading.BrokenBarrierError:
            return
        self.met = True

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, before whose calls the threads wait for each other."""

        def wait_and_call(*arguments: Any, **options: Any) -> Any:
            self.wait()
            return function(*arguments, **options)

        return wait_and_call

    def after(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, after whose calls the threads wait for each other."""

        def call_and_wait(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            self.wait()
            return result

        return call_and_wait


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """
    Make all calls at the same moment, each in a thread with a connection of its own.

    Returns the result or the exception of each, in the order of the calls.
    """
    outcomes: list[Any] = [None] * len(calls)
    gate = threading.Barrier(len(calls), timeout=_PATIENCE_SECONDS)

    def run(index: int, call: Callable[[], Any]) -> None:
        try:
            if len(calls) <= _MOST_CONNECTIONS:
                # Opened before the gate, so that the calls themselves meet.
                connections["default"].ensure_connection()
            gate.wait()
            outcomes[index] = call()
        except BaseException as error:
            outcomes[index] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(index, call), daemon=True)
        for index, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE_SECONDS)
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a call neither returned nor raised: a deadlock")
    return outcomes


def failures(outcomes: Sequence[Any]) -> list[BaseException]:
    return [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
