"""
Handing accepted runs to the worker of the same process, without the broker.

In the embedded shape a run that is accepted while a thread is free is claimed by the transaction
that stores it. The row stays the message: if the process dies before it drives the run, the lease
expires, and the run is recovered as after any crash. Without a free thread, or beyond the share of
its team or agent, the run is queued.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import structlog
from django.db import close_old_connections

from inbox.actions.runs.run_lease import RunLease
from inbox.engine.worker import drive_run, drive_waiting_runs, stopping
from inbox.engine.worker_shares import Share, shares
from inbox.models import Agent, Run

log = structlog.get_logger(__name__)


class RunPool:
    """Threads that drive runs of this process; there are none before `start`."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._free = threading.Semaphore(0)

    def start(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="runs")
        self._free.release(threads)

    def stop(self) -> None:
        """Wait for the runs that are being driven."""
        if self._executor is not None:
            self._executor.shutdown()

    @contextmanager
    def reserved(self, agent: Agent, *, is_resume: bool) -> "Iterator[Slot | None]":
        """
        Reserve a thread while a run of an agent is accepted.

        None if there is no free one, or if the agent or its team occupies its share.
        """
        slot = self._take_slot(agent, is_resume=is_resume)
        if slot is None:
            yield None
            return
        try:
            yield slot
        finally:
            if slot.claimed is None or self._executor is None:
                slot.share.release()
                self._free.release()
            else:
                self._executor.submit(self._drive, slot.share, *slot.claimed)

    def _take_slot(self, agent: Agent, *, is_resume: bool) -> "Slot | None":
        if stopping.is_set() or not self._free.acquire(blocking=False):
            return None
        share = shares.take(agent.team_id, agent.pk, is_resume=is_resume)
        if share is None:
            self._free.release()
            return None
        return Slot(share)

    def _drive(self, share: Share, run: Run, lease: RunLease) -> None:
        try:
            close_old_connections()
            try:
                drive_run(run, lease)
            finally:
                share.release()
            drive_waiting_runs()
        except Exception:
            log.exception("run not driven", run=str(run.pk))
        finally:
            close_old_connections()
            self._free.release()


class Slot:
    """A reserved thread, and the run that it will drive."""

    def __init__(self, share: Share) -> None:
        self.share = share
        self.claimed: tuple[Run, RunLease] | None = None


pool = RunPool()
