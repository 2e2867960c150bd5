"""The chats of a team, for its administrators."""

from collections.abc import Sequence
from uuid import UUID

from inbox.models import Channel
from inbox.queries.people.access import require
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission

_CHATS = Channel.objects.filter(team__isnull=False, removed_at=None).select_related(
    "team", "subscription"
)


def chats_for(
    actor: Actor, team_id: UUID, *, limit: int | None = None, after: UUID | None = None
) -> Sequence[Channel]:
    """
    Return the chats of a team, the oldest first, after the one with this id.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    rows = _CHATS.filter(team=team_id).order_by("pk")
    return list((rows if after is None else rows.filter(pk__gt=after))[:limit])


def chat_for(actor: Actor, channel_id: UUID) -> Channel:
    """
    Return a chat.

    Raises:
        NotFound, Forbidden.
    """
    row = _CHATS.filter(pk=channel_id).first()
    if row is None or row.team_id is None:
        raise NotFound()
    require(actor, row.team_id, Permission.ADMIN)
    return row
