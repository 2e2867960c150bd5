"""
Checks of a team's limits, in the transaction of the action that would exceed them.

Near a limit the team is locked before it is counted, so that concurrent requests cannot exceed the
limit together. The caller holds the locks that come before the one of a team.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID

from inbox.models import AgentRequest
from inbox.models.locks import lock_team
from inbox.platform.http.headroom import headroom
from inbox.queries.limits import team_limits as queries
from inbox.queries.limits.team_limits import MINUTE, limits_of
from inbox.rules import errors
from inbox.rules.limits.team_limits import Limit, reached
from inbox.rules.text.messages import TranslatableMessage


def check_new_run(
    *, team_id: UUID, agent_id: UUID, is_new_thread: bool, locks_team: bool = True
) -> None:
    """
    Raise LimitReached if a team may not have one more run that begins something new.

    Not for resumes: what was approved goes on, whatever else the team has. A new thread is stored
    already, the run is not. A caller that locks grants afterwards checks without a lock.
    """
    check = _Check(team_id, locks_team=locks_team)
    check.one_more(Limit.QUEUED_RUNS, lambda: queries.queued_runs_of(team_id).count())
    check.requests(agent_id)
    if is_new_thread:
        check.threads(stored=1)
    check.events()


def check_before_request(*, team_id: UUID, agent_id: UUID, now: datetime) -> None:
    """
    Raise LimitReached if an external agent certainly may not ask now.

    Without a lock, because policies lock grants later; `check_stored_request` follows.
    """
    check = _Check(team_id, locks_team=False)
    check.rate(agent_id, now)
    check.requests(agent_id)
    check.threads()
    check.events()


def check_stored_request(*, team_id: UUID, agent_id: UUID, now: datetime) -> None:
    """Raise LimitReached if the request that was just stored exceeds a limit of its agent."""
    check = _Check(team_id, stored=1)
    check.rate(agent_id, now)
    check.requests_of_agent(agent_id)
    check.threads()


def check_stored_interrupts(*, team_id: UUID, agent_id: UUID, number: int) -> None:
    """Raise LimitReached if the interrupts that were just stored exceed the team's or agent's."""
    _Check(team_id, stored=number).requests(agent_id)


def may_run_more(team_id: UUID) -> bool:
    """Return whether the team may have one more running run; locks the team if it is limited."""
    most = limits_of(team_id)[Limit.RUNNING_RUNS]
    if most is None:
        return True
    lock_team(team_id)
    return queries.running_runs_of(team_id).count() < most


class _Check:
    """Checks of a team, before or after rows of the caller are stored."""

    def __init__(self, team_id: UUID, *, locks_team: bool = True, stored: int = 0) -> None:
        self._team_id = team_id
        self._locks_team = locks_team
        self._stored = stored  #: rows of the caller, which the counts contain
        self._limits = limits_of(team_id)

    def requests(self, agent_id: UUID) -> None:
        team_id = self._team_id
        self.one_more(Limit.OPEN_REQUESTS, lambda: queries.open_interrupts_of(team_id).count())
        self.requests_of_agent(agent_id)

    def requests_of_agent(self, agent_id: UUID) -> None:
        rows = queries.open_interrupts_of(self._team_id, agent_id)
        self.one_more(Limit.AGENT_OPEN_REQUESTS, rows.count, agent_id)

    def threads(self, *, stored: int = 0) -> None:
        """Check the threads; `stored` if the caller has stored one."""
        count = partial(queries.number_of_threads, self._team_id)
        self.one_more(Limit.THREADS, count, stored=stored)

    def events(self) -> None:
        self.one_more(Limit.EVENT_BYTES, lambda: queries.bytes_of_events(self._team_id))

    def rate(self, agent_id: UUID, now: datetime) -> None:
        most = self._limits[Limit.AGENT_REQUESTS_PER_MINUTE]
        if most is None:
            return
        if self._stored:
            lock_team(self._team_id)
        recent = AgentRequest.objects.filter(agent=agent_id, created_at__gt=now - MINUTE)
        times = recent.order_by("-created_at").values_list("created_at", flat=True)
        place = most + self._stored - 1  # of the request that has to be older than a minute
        for at in times[place : place + 1]:
            seconds = max(1, -int(-(at + MINUTE - now).total_seconds() // 1))
            raise errors.RateLimited(
                TranslatableMessage(
                    "An agent may ask {most} times a minute. Try again in {seconds} s.",
                    most=most,
                    seconds=seconds,
                ),
                limit=Limit.AGENT_REQUESTS_PER_MINUTE.value,
                most=most,
                retry_after=seconds,
            )

    def one_more(
        self,
        limit: Limit,
        count: Callable[[], int],
        subject: UUID | None = None,
        *,
        stored: int = 0,
    ) -> None:
        """Raise LimitReached if the stored rows, or one more, exceed the limit of the subject."""
        most, stored = self._limits[limit], stored or self._stored
        key = (limit, subject or self._team_id, most)
        if most is None or headroom.covers(key, stored or 1):
            return
        new = 0 if stored else 1
        used = count() + new
        if headroom.grant(key, used=used, most=most):
            return
        if self._locks_team:
            lock_team(self._team_id)
            used = count() + new
        if used > most:
            raise reached(limit, most)
