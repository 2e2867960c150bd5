"""The threads of this process that runs occupy, by team and agent."""

import threading
from collections import Counter
from uuid import UUID

from django.conf import settings

from inbox.rules.runs.worker_shares import Occupancy, may_resume, may_start


class Share:
    """A thread that a run occupies until it is released."""

    def __init__(self, shares: "WorkerShares", team: UUID, agent: UUID, *, is_resume: bool) -> None:
        self._shares: WorkerShares | None = shares
        self.team = team
        self.agent = agent
        self.is_resume = is_resume

    def release(self) -> None:
        """Release the thread; safe to repeat."""
        shares, self._shares = self._shares, None
        if shares is not None:
            shares.release(self)


class WorkerShares:
    """
    Admits runs to the threads of this process, as `inbox.rules.runs.worker_shares` says.

    In memory only: a run that is not admitted stays queued, and a run that ends in this process
    starts the next one. Each process of a scaled installation divides its own threads, so that
    none of them is ever full of the new runs of one team.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: Counter[UUID] = Counter()  #: by team
        self._new_runs: Counter[UUID] = Counter()  #: by team, and by agent
        self._all_new_runs = 0
        self._has_waiting = False

    def take(self, team: UUID, agent: UUID, *, is_resume: bool) -> Share | None:
        """Take a thread for a run; None if it has to wait until another run ends."""
        with self._lock:
            if not self._may_take(team, agent, is_resume=is_resume):
                self._has_waiting = True
                return None
            self._count(team, agent, 1, is_resume=is_resume)
            return Share(self, team, agent, is_resume=is_resume)

    def may_take(self, team: UUID, agent: UUID, *, is_resume: bool) -> bool:
        """Return whether a run would be admitted now."""
        with self._lock:
            return self._may_take(team, agent, is_resume=is_resume)

    def _may_take(self, team: UUID, agent: UUID, *, is_resume: bool) -> bool:
        occupancy = Occupancy(
            threads=settings.CELERY_WORKER_CONCURRENCY,
            runs=self._runs.total(),
            new_runs=self._all_new_runs,
            team_resumes=self._runs[team] - self._new_runs[team],
            team_new_runs=self._new_runs[team],
            agent_new_runs=self._new_runs[agent],
        )
        return (may_resume if is_resume else may_start)(occupancy)

    def release(self, share: Share) -> None:
        with self._lock:
            self._count(share.team, share.agent, -1, is_resume=share.is_resume)

    def _count(self, team: UUID, agent: UUID, number: int, *, is_resume: bool) -> None:
        self._runs[team] += number
        if not is_resume:
            self._new_runs.update({team: number, agent: number})
            self._all_new_runs += number
        if number < 0:  # drop the teams and agents without runs
            self._runs, self._new_runs = +self._runs, +self._new_runs

    def runs_of(self, team: UUID) -> int:
        with self._lock:
            return self._runs[team]

    def note_waiting(self) -> None:
        """Note that a run was left in the queue, so that the next end of a run looks for it."""
        with self._lock:
            self._has_waiting = True

    def forget_waiting(self) -> bool:
        """Return whether a run was left in the queue since the last call."""
        with self._lock:
            had_waiting, self._has_waiting = self._has_waiting, False
            return had_waiting


shares = WorkerShares()
