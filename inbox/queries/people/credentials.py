"""The API keys, webhooks and open invitations that a person owns in a team."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from urllib.parse import urlsplit
from uuid import UUID

from inbox.models import ApiKey, Invitation, Membership, Team, WebhookEndpoint
from inbox.platform.clock import database_now
from inbox.queries.people.access import require
from inbox.queries.people.invitations import state_of
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.people.api_keys import is_key_valid
from inbox.rules.people.invitations import InvitationState

_MAX_ID = 2**63 - 1


class CredentialKind(StrEnum):
    KEY = "key"
    WEBHOOK = "webhook"
    INVITATION = "invitation"


@dataclass(frozen=True)
class Credential:
    """A key, a webhook or an invitation that ends when its owner leaves the team."""

    id: UUID
    kind: CredentialKind
    name: str
    created_at: datetime
    last_used_at: datetime | None = None  #: of a key


@dataclass(frozen=True)
class OwnedRows:
    """The rows that end when a person leaves."""

    keys: Sequence[ApiKey]
    webhooks: Sequence[WebhookEndpoint]
    invitations: Sequence[Invitation]

    def all(self) -> list[ApiKey | WebhookEndpoint | Invitation]:
        return [*self.keys, *self.webhooks, *self.invitations]


def rows_of(user_id: int, team_ids: Collection[UUID]) -> OwnedRows:
    """Return what a person owns in these teams and has not ended, each kind by id."""
    now = database_now()
    keys = ApiKey.objects.filter(ApiKey.owned_by([user_id]), team__in=team_ids, revoked_at=None)
    webhooks = WebhookEndpoint.objects.filter(owner=user_id, team__in=team_ids, removed_at=None)
    invitations = Invitation.objects.filter(
        owner=user_id, team__in=team_ids, accepted_at=None, withdrawn_at=None
    )
    return OwnedRows(
        keys=[
            key
            for key in keys.select_related("team", "agent").order_by("pk")
            if is_key_valid(revoked_at=None, expires_at=key.expires_at, now=now)
        ],
        webhooks=list(webhooks.order_by("pk")),
        invitations=[
            row for row in invitations.order_by("pk") if state_of(row, now) is InvitationState.OPEN
        ],
    )


def credentials_of(actor: Actor, team_id: UUID, user_id: int) -> list[Credential]:
    """
    Return the keys, webhooks and invitations of a member, for administrators and the member.

    Raises:
        NotFound: also if the person is no member.
        Forbidden.
    """
    is_own = actor.user_id == user_id
    require(actor, team_id, Permission.READ if is_own else Permission.ADMIN)
    rows = Membership.objects.filter(team=team_id, user=user_id)
    if user_id > _MAX_ID or not rows.exists():
        raise NotFound()
    return _credentials(rows_of(user_id, [team_id]))


def owned_names(user_id: int) -> list[str]:
    """Return the team, the kind and the name of all that a person owns, for superusers."""
    teams = dict(Team.objects.values_list("pk", "name"))
    rows = rows_of(user_id, list(teams))
    return [
        f"{teams[row.team_id]}: {credential.kind} {credential.name}"
        for row, credential in zip(rows.all(), _credentials(rows), strict=True)
    ]


def _credentials(rows: OwnedRows) -> list[Credential]:
    return [
        *(
            Credential(key.pk, CredentialKind.KEY, key.name, key.created_at, key.last_used_at)
            for key in rows.keys
        ),
        *(
            Credential(row.pk, CredentialKind.WEBHOOK, _name_of(row), row.created_at)
            for row in rows.webhooks
        ),
        *(
            Credential(row.pk, CredentialKind.INVITATION, row.email, row.created_at)
            for row in rows.invitations
        ),
    ]


def _name_of(webhook: WebhookEndpoint) -> str:
    """Return its description, or the host: the URLs of some receivers contain a secret."""
    return webhook.description or urlsplit(webhook.url).hostname or ""
