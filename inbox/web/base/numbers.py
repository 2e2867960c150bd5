"""Counts and shares in the reader's format."""

from django.utils.formats import number_format
from django.utils.translation import gettext


def number_text(count: int) -> str:
    """Return "4,212"."""
    return str(number_format(count, force_grouping=True))


def percent_text(share: float) -> str:
    """Return "67 %"; a share that is not zero is never "0 %"."""
    if 0 < share < 0.01:
        return gettext("under 1\N{NO-BREAK SPACE}%")
    return f"{round(100 * share)}\N{NO-BREAK SPACE}%"
