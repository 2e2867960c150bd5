"""Changes to the draft of a policy that keep what another administrator changed meanwhile."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from inbox.actions.policies.versions import save_draft
from inbox.queries.people.access import require
from inbox.queries.policies.policies import PolicyState, policy_state, readable_policy
from inbox.rules.errors import PolicyChanged
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.policy import Policy, Rule
from inbox.rules.text.messages import TranslatableMessage


def base_policy(state: PolicyState) -> Policy:
    """Return the draft, else the version in force; an empty policy if it cannot be read."""
    return readable_policy(state.draft or state.version)


def base_digest(state: PolicyState) -> str:
    """Return the digest that a form carries, "" without a draft and version."""
    base = state.draft or state.version
    return base.digest if base else ""


def change_draft(
    *, team_id: UUID, actor: Actor, seen_digest: str, change: Callable[[Policy], object]
) -> None:
    """
    Save the policy with a change; `change` returns the new document.

    Raises:
        NotFound, Forbidden.
        PolicyError: the document is not a policy.
        PolicyChanged: the policy is not the one with `seen_digest`.
    """

    def check_seen() -> PolicyState:
        return _check_seen(actor, team_id, seen_digest, _changed_text)

    require(actor, team_id, Permission.ADMIN)
    body = change(base_policy(check_seen()))
    save_draft(team_id=team_id, body=body, actor=actor, check_seen=check_seen)


def replace_draft(*, team_id: UUID, actor: Actor, seen_digest: str, body: object) -> None:
    """
    Save a whole document as the draft.

    Raises:
        NotFound, Forbidden.
        PolicyError: the document is not a policy.
        PolicyChanged: the policy is not the one with `seen_digest`.
    """

    def check_seen() -> PolicyState:
        return _check_seen(actor, team_id, seen_digest, _not_replaced_text)

    save_draft(team_id=team_id, body=body, actor=actor, check_seen=check_seen)


def _check_seen(
    actor: Actor,
    team_id: UUID,
    seen_digest: str,
    text_of: Callable[[PolicyState], TranslatableMessage],
) -> PolicyState:
    """Return the state; raise PolicyChanged with a text unless it is the one with the digest."""
    state = policy_state(actor, team_id)
    if base_digest(state) != seen_digest:
        raise PolicyChanged(text_of(state))
    return state


def _not_replaced_text(state: PolicyState) -> TranslatableMessage:
    if state.draft:
        return TranslatableMessage(
            "{author} has changed the draft in the meantime. It was not replaced. Check it, then "
            "try again.",
            author=state.draft.author_label,
        )
    return TranslatableMessage(
        "The draft was published or discarded in the meantime. Nothing was saved. Check the "
        "policy, then try again."
    )


def _changed_text(state: PolicyState) -> TranslatableMessage:
    if state.draft:
        return TranslatableMessage(
            "{author} has changed the draft in the meantime. Nothing was saved; your input is "
            "still here. Save again to add it to the changed draft.",
            author=state.draft.author_label,
        )
    return TranslatableMessage(
        "The draft was published or discarded in the meantime. Nothing was saved; your input is "
        "still here. Save again to add it to a new draft."
    )


def rule_of(policy: Policy, rule_id: str) -> Rule | None:
    return next((rule for rule in policy.rules if rule.id == rule_id), None)


def free_id(policy: Policy, text: str) -> str:
    """Return an id for a new rule that no rule has."""
    used = {rule.id for rule in policy.rules}
    base = text[:56].strip("-_") or "rule"
    names = (base, *(f"{base}-{number}" for number in range(2, len(used) + 3)))
    return next(name for name in names if name not in used)


def without_rule(policy: Policy, rule_id: str) -> Policy:
    return replace(policy, rules=tuple(rule for rule in policy.rules if rule.id != rule_id))
