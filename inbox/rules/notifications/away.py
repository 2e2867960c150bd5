"""Deputies: the people who are told instead of those who are away."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from inbox.rules.errors import raise_for
from inbox.rules.text.messages import TranslatableMessage

MAX_AWAY: Final = timedelta(days=366)


@dataclass(frozen=True)
class Absence:
    """A person is away until an instant; without a deputy nobody is told instead."""

    until: datetime
    deputy: int | None

    def is_current(self, at: datetime) -> bool:
        return at < self.until


def recipient_for(
    user_id: int, absences: Mapping[int, Absence], deciders: Collection[int], at: datetime
) -> int | None:
    """
    Return the person who is told of a request in place of one who would be, None for nobody.

    A deputy who is away, too, or who may not decide the request cannot act: then the person is told
    all the same, so that no request is left to nobody by mistake.
    """
    absence = absences.get(user_id)
    if absence is None or not absence.is_current(at):
        return user_id
    if absence.deputy is None:
        return None
    of_deputy = absences.get(absence.deputy)
    is_there = of_deputy is None or not of_deputy.is_current(at)
    return absence.deputy if is_there and absence.deputy in deciders else user_id


def end_of_day(day: date, zone: str) -> datetime:
    """Return the instant at which a day ends in a time zone."""
    return datetime.combine(day + timedelta(days=1), time(), ZoneInfo(zone)).astimezone(UTC)


def last_day(until: datetime, zone: str) -> date:
    """Return the day that `end_of_day` ends at an instant."""
    return (until - timedelta(seconds=1)).astimezone(ZoneInfo(zone)).date()


def check_absence(
    until: datetime, deputy: int | None, *, colleagues: Collection[int], now: datetime
) -> None:
    """
    Raise unless a person can be away until then; `colleagues` can be their deputies.

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    if not now < until <= now + MAX_AWAY:
        text = TranslatableMessage("Enter a day from today, within a year.")
        problems["until"] = [text]
    if deputy is not None and deputy not in colleagues:
        text = TranslatableMessage("Choose a colleague who may decide in one of your teams.")
        problems["deputy"] = [text]
    raise_for(problems)
