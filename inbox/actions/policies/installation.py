"""Publishing the policy of the installation, which rules on the requests of all teams."""

from typing import Any
from uuid import UUID

from django.db import transaction

from inbox.actions.policies.versions import check_comment, store_version
from inbox.models import PolicyVersion, Team
from inbox.models.locks import lock_all_teams, lock_first_team
from inbox.platform.clock import database_now
from inbox.queries.policies.installation import require_installation_admin
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import canonical_body
from inbox.rules.text.messages import TranslatableMessage


@transaction.atomic(durable=True)
def publish_installation_policy(
    *, body: Any, actor: Actor, comment: str = "", seen_version: int | None = None
) -> PolicyVersion:
    """
    Put a policy in force for all teams. Open interrupts keep the rulings that they have.

    Its rules ask or deny; what runs without asking is for the teams to say. Locks all teams.

    Raises:
        Forbidden: the actor does not administer the installation.
        PolicyError: the document is not a policy, or a rule allows.
        InvalidValue: the comment is too long, or the policy is the one in force.
        PolicyChanged: the number of the version in force, 0 without one, is not `seen_version`.
    """
    require_installation_admin(actor)
    check_comment(comment)
    policy = parse_policy(body, installation=True)
    text = canonical_body(policy)
    lock_all_teams()
    last = PolicyVersion.objects.filter(team=None).order_by("-number").first()
    if seen_version is not None and seen_version != (last.number if last else 0):
        raise errors.PolicyChanged(
            TranslatableMessage(
                "Another version was published in the meantime. Check it before publishing."
            )
        )
    if last is not None and last.body == text:
        raise errors.InvalidValue(TranslatableMessage("This is the policy in force."))
    version = store_version(
        None,
        text,
        actor=actor,
        author_label=actor.label[:160],
        comment=comment,
        now=database_now(),
    )
    Team.objects.update(installation_version=version)
    return version


def version_for_new_team() -> UUID | None:
    """
    Return the installation's policy, in the transaction that creates a team.

    The lock makes the new team visible to whoever publishes the next version.
    """
    lock_first_team()
    rows = PolicyVersion.objects.filter(team=None).order_by("-number")
    return rows.values_list("pk", flat=True).first()
