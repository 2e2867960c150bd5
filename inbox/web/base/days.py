"""Days in the zone and the format of the reader."""

from datetime import date, timedelta

from django.utils.formats import date_format
from django.utils.translation import gettext

from inbox.platform import clock
from inbox.web.base.zones import local


def today() -> date:
    return local(clock.now()).date()


def day_name(day: date) -> str:
    """Return "5 Nov", with the year if it is another one."""
    is_this_year = day.year == today().year
    return date_format(day, gettext("j M") if is_this_year else gettext("j M Y"))


def day_heading(day: date) -> str:
    """Return "Today, 27 November" for the heading of a group of rows."""
    name = date_format(day, gettext("j F") if day.year == today().year else gettext("j F Y"))
    if day == today():
        return gettext("Today, {day}").format(day=name)
    if day == today() - timedelta(days=1):
        return gettext("Yesterday, {day}").format(day=name)
    return name
