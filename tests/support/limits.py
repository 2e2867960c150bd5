"""Limits of teams in tests."""

from typing import Any

from inbox.queries.limits.team_limits import limit_memory
from inbox.rules.limits.team_limits import Limit


def limit_teams(settings: Any, **limits: int | None) -> None:
    """Set the installation's defaults by their names."""
    own = {Limit(name): most for name, most in limits.items()}
    settings.TEAM_LIMITS = {**settings.TEAM_LIMITS, **own}
    limit_memory.clear()
