"""Comparing versions of a team's policy, and the warnings about its rules."""

from dataclasses import dataclass
from uuid import UUID

from inbox.models import PolicyDraft, PolicyVersion
from inbox.queries.people.access import require
from inbox.queries.policies.known_names import known_names
from inbox.queries.policies.policies import (
    parse_stored_policy,
    policy_state,
    policy_version,
    readable_policy,
)
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.implication import RuleWarning, warnings
from inbox.rules.policies.language.policy import Policy


@dataclass(frozen=True)
class Comparison:
    """Two policies; one that does not exist or cannot be read has no rules."""

    before: Policy
    after: Policy
    before_number: int | None  #: None without a version
    after_number: int | None  #: None for the draft


def compare_policies(
    actor: Actor, team_id: UUID, *, before: int | None, after: int | None
) -> Comparison:
    """
    Return two versions; None is the version in force for `before`, and the draft for `after`.

    Raises:
        NotFound: there is no such version, or no draft.
        Forbidden.
    """
    state = policy_state(actor, team_id)
    old = state.version if before is None else policy_version(actor, team_id, before)
    new = state.draft if after is None else policy_version(actor, team_id, after)
    if new is None:
        raise NotFound()
    number = old.number if old else None
    return Comparison(readable_policy(old), readable_policy(new), number, after)


@dataclass(frozen=True)
class PolicyWarnings:
    """A policy that can be read, with the warnings about its rules."""

    policy: Policy
    warnings: list[RuleWarning]


def policy_warnings(
    actor: Actor, team_id: UUID
) -> tuple[PolicyWarnings | None, PolicyWarnings | None]:
    """
    Return the warnings about the version in force and the draft; None for one that does not exist.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    require(actor, team_id, Permission.READ)
    state, names = policy_state(actor, team_id), known_names(team_id)

    def warnings_of(stored: PolicyDraft | PolicyVersion | None) -> PolicyWarnings | None:
        policy = parse_stored_policy(stored.body) if stored else None
        return PolicyWarnings(policy, warnings(policy, names)) if policy else None

    return warnings_of(state.version), warnings_of(state.draft)
