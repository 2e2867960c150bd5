"""API keys, webhooks and invitations of people who leave: they end, or get another owner."""

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction

from inbox.actions.people import api_keys, invitations
from inbox.actions.team_lock import lock_permitted_team
from inbox.actions.webhooks import endpoints
from inbox.models import ApiKey, Invitation, Membership, User, WebhookEndpoint
from inbox.models.locks import lock_credentials
from inbox.platform.clock import database_now
from inbox.queries.people.credentials import rows_of
from inbox.queries.people.invitations import open_invitations_to
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import DisabledReason

_LEFT = "owner_left"
_INVITED_LEFT = "invited_left"
_MAX_ID = 2**63 - 1


@transaction.atomic(durable=True)
def hand_over(
    *, team_id: UUID, owner_id: int, credential_id: UUID, heir_id: int, actor: Actor
) -> None:
    """
    Give a key, a webhook or an invitation of a member another owner, who is a member as well.

    The token, the secret and the link stay as they are: the former owner may know them. Safe to
    replay.

    Raises:
        NotFound: also if the owner has no such key, webhook or invitation.
        Forbidden.
        InvalidValue: the new owner is no active member.
    """
    lock_credentials([owner_id], team_id)
    lock_permitted_team(team_id, actor, Permission.ADMIN, fresh_sign_in=True)
    rows = {row.pk: row for row in rows_of(owner_id, [team_id]).all()}
    if credential_id not in rows:
        raise errors.NotFound()
    heirs = members_by_id(team_id, {heir_id})
    _hand_over(rows[credential_id], heirs[heir_id], actor, database_now())


def end_credentials(
    *,
    user_id: int,
    team_ids: Collection[UUID],
    actor: Actor,
    now: datetime,
    heirs: Mapping[UUID, User] | None = None,
) -> None:
    """
    Revoke the keys of a person who leaves, disable their webhooks, withdraw their invitations.

    Those in `heirs` get the person there as their owner instead. Invitations to the person, by
    which they could come back, are withdrawn as well. Call it in the transaction of the caller,
    which has called `lock_credentials` and then locked the teams.
    """
    heirs = heirs or {}
    rows = rows_of(user_id, team_ids)
    for row in rows.all():
        if row.pk in heirs:
            _hand_over(row, heirs[row.pk], actor, now)
    for key in rows.keys:
        if key.pk not in heirs:
            key.revoked_at = now
            key.save(update_fields=["revoked_at"])
            api_keys.record(key, "key.revoked", actor, now, reason=_LEFT)
    for webhook in rows.webhooks:
        if webhook.pk not in heirs and webhook.disabled_at is None:
            endpoints.disable(webhook, actor, now, DisabledReason.OWNER_LEFT)
    for invitation in rows.invitations:
        if invitation.pk not in heirs:
            invitations.withdraw(invitation, actor, now, reason=_LEFT)
    for invitation in open_invitations_to(user_id, team_ids):
        invitations.withdraw(invitation, actor, now, reason=_INVITED_LEFT)


def members_by_id(team_id: UUID, user_ids: Collection[int]) -> dict[int, User]:
    """
    Return active members of a team.

    Raises:
        InvalidValue: one of the ids is no active member's.
    """
    valid_ids = [user_id for user_id in user_ids if user_id <= _MAX_ID]
    rows = Membership.objects.filter(team=team_id, user__in=valid_ids, user__is_active=True)
    members = {row.user_id: row.user for row in rows.select_related("user")}
    if len(members) < len(set(user_ids)):
        text = TranslatableMessage("The new owner must be an active member of the team.")
        raise errors.InvalidValue(text, problems={"user": [text]})
    return members


def _hand_over(
    row: ApiKey | WebhookEndpoint | Invitation, heir: User, actor: Actor, now: datetime
) -> None:
    if row.owner_id == heir.pk:
        return
    if isinstance(row, ApiKey):
        # The former owner may know the token.
        row.token_people = sorted(row.person_ids() | {heir.pk})
    row.owner = heir
    row.save(update_fields=["owner", "token_people"] if isinstance(row, ApiKey) else ["owner"])
    detail = {"owner": heir.get_username(), "owner_id": str(heir.pk)}
    if isinstance(row, ApiKey):
        api_keys.record(row, "key.handed_over", actor, now, **detail)
    elif isinstance(row, WebhookEndpoint):
        endpoints.record(row, "webhook.handed_over", actor, now, **detail)
    else:
        invitations.record(row, "invitation.handed_over", actor, now, **detail)
