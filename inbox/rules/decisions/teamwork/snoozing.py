"""Snoozing: the times until which a person does not want to see a request."""

from datetime import datetime, time, timedelta

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

MAX_SNOOZE = timedelta(days=365)
#: A choice for later today is so much later.
_LATER = timedelta(hours=3)
_MORNING = time(9)


def check_snooze(until: datetime, now: datetime) -> None:
    """Raise InvalidValue unless a request may be snoozed until this time."""
    if not now < until <= now + MAX_SNOOZE:
        raise InvalidValue(
            TranslatableMessage(
                "Choose a time in the future, at most {days} days from now.", days=MAX_SNOOZE.days
            )
        )


def later_today(now: datetime) -> datetime:
    return now + _LATER


def tomorrow(now: datetime) -> datetime:
    """Return nine in the morning of the next day; `now` has the person's time zone."""
    return _morning(now, days=1)


def next_week(now: datetime) -> datetime:
    """Return nine in the morning of the next Monday; `now` has the person's time zone."""
    return _morning(now, days=7 - now.weekday())


def _morning(now: datetime, *, days: int) -> datetime:
    # In the local clock: a day may have 23 or 25 hours.
    return datetime.combine(now.date() + timedelta(days=days), _MORNING, tzinfo=now.tzinfo)
