"""Channels that the system has switched off, and notifications that are late."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from inbox.models import Announcement, Channel
from inbox.models.statements import Select
from inbox.platform.clock import database_now
from inbox.rules.notifications.events import ChannelEnd

#: The sweeper looks for announcements every second.
_LATE: Final = timedelta(seconds=60)


_SWITCHED_OFF = (
    Channel.objects.filter(disabled_at__isnull=False, removed_at=None)
    .exclude(disabled_reason=ChannelEnd.BY_HAND)
    .order_by("pk")
)
# On every page, so compiled once.
_OWN = Select(lambda params: _SWITCHED_OFF.filter(user=params.user))
_OWN_AND_TEAMS = Select(
    lambda params: _SWITCHED_OFF.filter(Q(user=params.user) | Q(team__pk__in=params.each("teams")))
)


def switched_off_channels(user_id: int | None, team_ids: Collection[UUID]) -> list[Channel]:
    """Return the channels of a person, and of teams, that were switched off after failures."""
    if not team_ids:
        return _OWN.all(user=user_id)
    return _OWN_AND_TEAMS.all(user=user_id, teams=team_ids)


def are_announcements_late() -> bool:
    """Return whether an event has not been expanded for a minute: no sweeper is running."""
    at = database_now() - _LATE
    return Announcement.objects.filter(expanded_at=None, at__lte=at).exists()
