"""Limits of sessions: without use, and in total."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

MIN_IDLE_MINUTES: Final = 5
MAX_IDLE_MINUTES: Final = 7 * 24 * 60
MIN_SESSION_HOURS: Final = 1
MAX_SESSION_HOURS: Final = 90 * 24


@dataclass(frozen=True)
class SessionLimits:
    idle: timedelta  #: without a request of the person
    total: timedelta  #: from the sign-in

    def shortened(self, *, idle_minutes: int | None, hours: int | None) -> "SessionLimits":
        """Return the stricter of these limits and those of a team; None: the team has no limit."""
        idle = self.idle if idle_minutes is None else timedelta(minutes=idle_minutes)
        total = self.total if hours is None else timedelta(hours=hours)
        return SessionLimits(min(self.idle, idle), min(self.total, total))

    def end_of(self, *, began_at: datetime, used_at: datetime) -> datetime:
        """Return when a session ends that is not used after `used_at`."""
        return min(began_at + self.total, used_at + self.idle)
