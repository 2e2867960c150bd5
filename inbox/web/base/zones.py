"""The time zones that a field offers."""

from functools import cache
from zoneinfo import available_timezones


@cache
def zone_names() -> list[str]:
    """Return the names of all time zones; reading them opens many files."""
    return sorted(available_timezones())
