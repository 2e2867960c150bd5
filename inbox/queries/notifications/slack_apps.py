"""The stored settings of Slack apps, and the accounts of people in their workspaces."""

from dataclasses import dataclass
from uuid import UUID

from inbox.models import Channel, ChatIdentity, ChatLinkCode
from inbox.platform.clock import database_now
from inbox.platform.encryption import DecryptionFailed, decrypt
from inbox.queries.notifications.recipients import person_of
from inbox.queries.people.api_key_tokens import digest_token
from inbox.rules.notifications.events import ChannelKind
from inbox.rules.notifications.slack_app import NO_APP, SlackApp
from inbox.rules.people.access import Actor, ActorKind

#: The sign-in method of people who act in a chat.
CHAT_METHOD = "chat"


@dataclass(frozen=True)
class SlackHook:
    """A Slack app that may send requests to us, and the team that it belongs to."""

    channel_id: UUID
    team_id: UUID
    language: str
    app: SlackApp


def slack_app_of(channel: Channel) -> SlackApp:
    """Return the settings of a Slack app; empty if it was removed or the key has been lost."""
    try:
        return SlackApp(**decrypt(channel.address))
    except (DecryptionFailed, TypeError, ValueError):
        return NO_APP


def slack_hook(channel_id: UUID) -> SlackHook | None:
    """Return the app that sends requests about a channel; None if it is removed or off."""
    row = Channel.objects.filter(
        pk=channel_id, kind=ChannelKind.SLACK_APP, removed_at=None, disabled_at=None
    ).first()
    if row is None or row.team_id is None:
        return None
    app = slack_app_of(row)
    return SlackHook(row.pk, row.team_id, row.language, app) if app.signing_secret else None


def actor_of_chat(team_id: UUID, workspace: str, external_id: str) -> Actor | None:
    """Return the person who has connected an account to decide in a team; None without one."""
    rows = ChatIdentity.objects.filter(team=team_id, workspace=workspace, external_id=external_id)
    row = rows.select_related("user").first()
    if row is None:
        return None
    return Actor(
        kind=ActorKind.HUMAN,
        label=row.user.display_name,
        user_id=row.user_id,
        method=CHAT_METHOD,
        chat_identity_id=row.pk,
    )


def identities_of(actor: Actor) -> list[ChatIdentity]:
    """Return the chat accounts that a person has connected; raises Forbidden for a key."""
    rows = ChatIdentity.objects.filter(user=person_of(actor)).select_related("team")
    return list(rows.order_by("linked_at", "pk"))


def link_code(code: str) -> ChatLinkCode | None:
    """Return what a code would connect; None if it is wrong, was used or has expired."""
    rows = ChatLinkCode.objects.filter(digest=digest_token(code), expires_at__gt=database_now())
    return rows.select_related("team").first()
