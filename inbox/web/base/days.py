"""Days and times in the zone and the format of the reader; static/js/times.js moves them on."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

from django.utils.formats import date_format
from django.utils.translation import gettext

from inbox.platform import clock
from inbox.web.base.durations import duration_text
from inbox.web.base.zones import local, zone_suffix

_MINUTE: Final = timedelta(minutes=1)
_SOON: Final = timedelta(minutes=10)
_DAY: Final = timedelta(days=1)
_MONTH: Final = timedelta(days=30)


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


def clock_text(at: datetime, *, seconds: bool = False) -> str:
    """Return "14:12"."""
    return date_format(local(at), "H:i:s" if seconds else "TIME_FORMAT")


def moment_text(at: datetime, *, seconds: bool = False) -> str:
    """Return "5 Nov, 14:12"."""
    return f"{day_name(local(at).date())}, {clock_text(at, seconds=seconds)}"


def near_text(at: datetime) -> str:
    """Return "14:12", and the day before it if that is not today."""
    return clock_text(at) if local(at).date() == today() else moment_text(at)


def time_text(at: datetime, kind: str) -> str:
    """Return a time as the pages write this kind of it, one of `KINDS`."""
    return KINDS[kind](at, at - clock.now())


def absolute_text(at: datetime, kind: str) -> str:
    """Return the day or moment that a relative time becomes, "" if the kind is absolute."""
    if kind in ("clock", "moment"):
        return ""
    return day_name(local(at).date()) if kind in ("age", "left") else _moment(at)


def _moment(at: datetime, *, seconds: bool = False) -> str:
    return moment_text(at, seconds=seconds) + zone_suffix()


def _age(at: datetime, away: timedelta) -> str:
    if away > -_MINUTE:
        return gettext("now")
    return duration_text(-away, most=1) if away > -_DAY else absolute_text(at, "age")


def _ago(at: datetime, away: timedelta) -> str:
    if away > -_MINUTE:
        return gettext("just now")
    if away <= -_DAY:
        return _moment(at)
    return gettext("{time} ago").format(time=duration_text(-away, most=1))


def _left(at: datetime, away: timedelta) -> str:
    if away <= timedelta():
        return gettext("now")
    if away >= _MONTH:
        return absolute_text(at, "left")
    minutes, seconds = divmod(int(away.total_seconds()), 60)
    time = duration_text(away, most=1) if away >= _SOON else f"{minutes}:{seconds:02}"
    return gettext("{time} left").format(time=time)


def _in(at: datetime, away: timedelta) -> str:
    if away <= timedelta():
        return gettext("now")
    if away >= _DAY:
        return _moment(at)
    return gettext("in {time}").format(time=duration_text(away, most=1))


def _due(at: datetime, away: timedelta) -> str:
    if away >= _DAY:
        return _moment(at)
    if away < _SOON:
        return _left(at, away)
    left = gettext("{time} left").format(time=duration_text(away))
    return f"{clock_text(at)}{zone_suffix()}, {left}"


#: The values of `data-as`.
KINDS: Final[dict[str, Callable[[datetime, timedelta], str]]] = {
    "age": _age,
    "ago": _ago,
    "left": _left,
    "in": _in,
    "due": _due,
    "clock": lambda at, _: near_text(at) + zone_suffix(),
    "moment": lambda at, _: _moment(at, seconds=True),
}
