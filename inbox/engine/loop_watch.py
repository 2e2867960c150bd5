"""Watches the event loops of agents: one that blocks is named in the log, and its run ends."""

import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import close_old_connections

from agents.adapters.background_loop import probe
from inbox.actions.runs import run_lease
from inbox.actions.runs.recovery import end_blocked_run
from inbox.engine.error_report import is_own, place_of
from inbox.rules.errors import LeaseLost

log = structlog.get_logger(__name__)

#: A loop that does not return for so long is reported; a busy machine alone takes less.
REPORT_SECONDS = 5.0
#: The run of a loop that does not return for so long ends.
LIMIT_SECONDS = 20.0
#: Less than a lease, which the blocked driver cannot renew.
RENEW_SECONDS = 4.0
_PAUSE_SECONDS = 0.5
_MIN_LOOKS = 5


@dataclass
class Turn:
    """One turn of a driver's event loop."""

    lease: run_lease.RunLease
    restartable: bool
    log: Any  #: with the run
    thread: int
    began_at: float
    renewed_at: float
    looks: int = 0  #: at which it was blocked; few if the whole process was suspended
    is_over: bool = False  #: its run has ended
    has_ended: bool = False

    def place(self) -> str:
        """Return the innermost line of the author's code in the thread, "" if there is none."""
        return _place_in(self.thread)


class LoopWatch:
    """One thread per process that looks at turns that last too long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock  #: in seconds
        self._turns: dict[int, Turn] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._framework_report = ""

    @contextmanager
    def watching(
        self, lease: run_lease.RunLease, restartable: bool, run_log: Any
    ) -> Iterator[None]:
        """Watch the turn of an event loop in this thread, which takes half a second at most."""
        now, thread = self._clock(), threading.get_ident()
        turn = Turn(lease, restartable, run_log, thread, now, now)
        self._turns[thread] = turn
        self._start()
        try:
            yield
        finally:
            del self._turns[thread]
            turn.has_ended = True
            if turn.looks:
                seconds = round(self._clock() - turn.began_at, 1)
                run_log.warning("event loop free again", blocked_seconds=seconds)

    def look(self) -> None:
        """Report, keep alive or end the runs whose event loops are blocked."""
        for turn in list(self._turns.values()):
            try:
                self._look_at(turn)
            except LeaseLost:
                turn.is_over = True
            except Exception:
                turn.log.exception("blocked run not ended")
            finally:
                close_old_connections()
        self._look_at_frameworks()

    def _look_at(self, turn: Turn) -> None:
        now = self._clock()
        seconds = now - turn.began_at
        place = turn.place() if seconds >= REPORT_SECONDS else ""
        if not place or turn.has_ended:
            return  # not blocked by the agent: the machine is busy, or the process was suspended
        turn.looks += 1
        if turn.looks == 1:
            turn.log.warning(
                "event loop blocked",
                at=place,
                seconds=round(seconds, 1),
                remedy="make the blocking tool a plain function, or use asyncio.to_thread",
            )
        if seconds >= LIMIT_SECONDS and turn.looks >= _MIN_LOOKS and not turn.is_over:
            end_blocked_run(
                lease=turn.lease, restartable=turn.restartable, place=place, seconds=LIMIT_SECONDS
            )
            turn.is_over = True
            turn.log.error("run ended: event loop blocked", at=place, seconds=round(seconds, 1))
        elif not turn.is_over and now - turn.renewed_at >= RENEW_SECONDS:
            run_lease.renew_lease(lease=turn.lease)
            turn.renewed_at = now

    def _look_at_frameworks(self) -> None:
        """Report a blocked loop of the agents of other frameworks, which delays all of them."""
        seconds, thread = probe.unanswered()
        place = _place_in(thread) if seconds >= REPORT_SECONDS else ""
        if place and place != self._framework_report:
            log.warning(
                "event loop of other frameworks blocked",
                at=place,
                seconds=round(seconds, 1),
                remedy="make the blocking tool a plain function, or use asyncio.to_thread",
            )
        self._framework_report = place

    def _start(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="loop-watch", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(_PAUSE_SECONDS)
            with contextlib.suppress(Exception):
                self.look()


def _place_in(thread: int) -> str:
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - the documented way
    if frame is None:
        return ""
    frames = [item for item in traceback.extract_stack(frame) if is_own(item.filename)]
    return place_of(frames[-1]) if frames else ""


watch = LoopWatch()
