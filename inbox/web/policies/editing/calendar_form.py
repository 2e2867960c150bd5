"""The fields of the form for one calendar, and the calendar in JSON that they stand for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import QueryDict
from django.utils.dates import WEEKDAYS as DAY_NAMES
from django.utils.translation import gettext

from inbox.rules.policies.language.policy import WEEKDAYS, Calendar

_HOUR: Final = re.compile(r"(\d{1,2})(?::(\d\d))?", re.ASCII)
_OFFICE_HOURS: Final = "09:00-17:00"


@dataclass(frozen=True)
class CalendarForm:
    """The fields as they are displayed or posted."""

    name: str = ""
    zone: str = ""
    days: Mapping[str, str] = field(default_factory=dict)  #: the intervals by weekday
    closed: str = ""  #: dates, one in a line


def new_form() -> CalendarForm:
    """Return a form with office hours from Monday to Friday."""
    return CalendarForm(days=dict.fromkeys(WEEKDAYS[:5], _OFFICE_HOURS))


def form_of(name: str, calendar: Calendar) -> CalendarForm:
    stored = calendar.to_json()
    days = {day: _intervals_text(intervals) for day, intervals in stored["week"].items()}
    return CalendarForm(name, calendar.zone, days, "\n".join(stored.get("closed", ())))


def read_form(post: QueryDict) -> CalendarForm:
    return CalendarForm(
        name=post.get("name", "").strip(),
        zone=post.get("zone", "").strip(),
        days={day: post.get(day, "").strip() for day in WEEKDAYS},
        closed=post.get("closed", "").strip(),
    )


def calendar_json(form: CalendarForm) -> dict[str, Any]:
    """Return the document of a form, which may be invalid."""
    week = {day: _intervals(text) for day, text in form.days.items() if text}
    closed = [part for part in re.split(r"[\s,]+", form.closed) if part]
    members: dict[str, Any] = {"zone": form.zone, "week": week}
    return {**members, "closed": closed} if closed else members


def field_of(pointer: str) -> str:
    """Return the field that a pointer into the calendar is about, "" for the calendar itself."""
    member, _, index = pointer.removeprefix("/").partition("/")
    return index.partition("/")[0] or WEEKDAYS[0] if member == "week" else member


def week_text(calendar: Calendar) -> str:
    """Return the open hours of a week; neighbouring days with the same hours are one entry."""
    entries: list[tuple[int, int, str]] = []
    for number, intervals in enumerate(calendar.to_json()["week"].get(day, ()) for day in WEEKDAYS):
        text = _intervals_text(intervals)
        if entries and entries[-1][2] == text:
            entries[-1] = (entries[-1][0], number, text)
        else:
            entries.append((number, number, text))
    return "; ".join(f"{_days_text(first, last)} {text}" for first, last, text in entries if text)


def _days_text(first: int, last: int) -> str:
    if first == last:
        return str(DAY_NAMES[first])
    return gettext("{first} to {last}").format(first=DAY_NAMES[first], last=DAY_NAMES[last])


def _intervals_text(intervals: Sequence[Sequence[str]]) -> str:
    return ", ".join(f"{start}-{end}" for start, end in intervals)


def _intervals(text: str) -> list[list[str]]:
    parts = [part for part in text.split(",") if part.strip()]
    return [[_clock(time) for time in re.split("[-\N{EN DASH}]", part)] for part in parts]


def _clock(text: str) -> str:
    """Return a time with two digits each: 9 and 9:00 are 09:00."""
    text = text.strip()
    if match := _HOUR.fullmatch(text):
        return f"{int(match[1]):02}:{match[2] or '00'}"
    return text
