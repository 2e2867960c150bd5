"""Backtests of a team's draft, of a version, or of any document."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from inbox.models import PolicyDraft, PolicyVersion, Team
from inbox.queries.people.access import require
from inbox.queries.policies.past_requests import past_requests
from inbox.queries.policies.policies import installation_policies, parse_stored_policy
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.backtest import Backtest, backtest
from inbox.rules.policies.evaluation import VersionedPolicy
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.text.messages import TranslatableMessage

#: A backtest takes up to some seconds of one of about a dozen threads that also serve pages.
_MAX_AT_ONCE = 1
_free_slots = threading.BoundedSemaphore(_MAX_AT_ONCE)


def require_drafting(actor: Actor, team_id: UUID) -> None:
    """
    Raise unless the actor may draft the team's policy, and read all requests of the team.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    require(actor, team_id, Permission.READ)


def policy_to_try(
    team_id: UUID, *, document: Any = None, version: int | None = None
) -> VersionedPolicy:
    """
    Return the policy of a document, of a version, or else of the draft or the version in force.

    Raises:
        NotFound: there is no such version, or neither a draft nor a version.
        PolicyError: the document is not a policy.
        InvalidValue: the stored draft or version cannot be read.
    """
    if document is not None:
        return VersionedPolicy(0, parse_policy(document))
    stored: PolicyDraft | PolicyVersion | None
    if version is not None:
        stored = PolicyVersion.objects.filter(team=team_id, number=version).first()
    else:
        stored = PolicyDraft.objects.filter(team=team_id).first()
        if stored is None:
            stored = Team.objects.select_related("policy_version").get(pk=team_id).policy_version
    if stored is None:
        raise errors.NotFound()
    policy = parse_stored_policy(stored.body)
    if policy is None:
        raise errors.InvalidValue(TranslatableMessage("This policy cannot be read."))
    return VersionedPolicy(stored.number if isinstance(stored, PolicyVersion) else 0, policy)


def run_backtest(actor: Actor, team: Team, policy: VersionedPolicy, *, requests: int) -> Backtest:
    """
    Return the effects that a policy would have had on the last requests of a team.

    Raises:
        NotFound, Forbidden.
        RateLimited: this process already runs a backtest.
    """
    require_drafting(actor, team.pk)
    with backtest_slot():
        policies = [*installation_policies(team), policy]
        return backtest(policies, (request for request, _ in past_requests(team, requests)))


@contextmanager
def backtest_slot() -> Iterator[None]:
    if not _free_slots.acquire(blocking=False):
        raise errors.RateLimited(
            TranslatableMessage("Another backtest is running. Try again in a moment."),
            retry_after=1,
        )
    try:
        yield
    finally:
        _free_slots.release()
