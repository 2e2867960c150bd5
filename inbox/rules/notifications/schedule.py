"""The times at which a person wants messages: quiet hours and the digest, in their time zone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from inbox.rules.errors import raise_for
from inbox.rules.text.messages import TranslatableMessage

_MINUTE: Final = timedelta(minutes=1)
#: Digests without a chosen time.
DEFAULT_DIGEST_AT: Final = time(8)


@dataclass(frozen=True)
class Schedule:
    """Quiet hours, and the time of the digest. Without quiet hours both ends are the same."""

    zone: str = "UTC"
    quiet_from: time = time(0)
    quiet_to: time = time(0)
    digest_at: time = DEFAULT_DIGEST_AT

    def is_quiet(self, at: datetime) -> bool:
        """Return whether an instant is in the quiet hours, by the clock of the zone."""
        clock = at.astimezone(ZoneInfo(self.zone)).time().replace(second=0, microsecond=0)
        if self.quiet_from <= self.quiet_to:
            return self.quiet_from <= clock < self.quiet_to
        return clock >= self.quiet_from or clock < self.quiet_to

    def end_of_quiet(self, at: datetime) -> datetime:
        """Return the instant itself, or the end of the quiet hours that it is in."""
        if not self.is_quiet(at):
            return at
        zone = ZoneInfo(self.zone)
        local = at.astimezone(zone)
        is_today = local.time() < self.quiet_to
        day = local.date() if is_today else local.date() + timedelta(days=1)
        end = _instant(day, self.quiet_to, zone)
        return _earliest(end, at, lambda instant: not self.is_quiet(instant))

    def next_digest(self, at: datetime) -> datetime:
        """Return the first time of a digest after an instant."""
        zone = ZoneInfo(self.zone)
        day = at.astimezone(zone).date()

        def is_due(instant: datetime) -> bool:
            local = instant.astimezone(zone)
            return (local.date(), local.time()) >= (target, self.digest_at)

        target = day
        if is_due(at):
            target = day + timedelta(days=1)
        return _earliest(_instant(target, self.digest_at, zone), at, is_due)


#: Of people who have chosen nothing.
NO_SCHEDULE: Final = Schedule()


@dataclass(frozen=True)
class PersonalTime:
    """
    The time at which a person is told of a request.

    `awake` is the time without regard to quiet hours, `due` the end of them. `is_too_late` if the
    request expires before `due`.
    """

    awake: datetime
    due: datetime
    is_too_late: bool


def personal_time(
    schedule: Schedule,
    *,
    earliest: datetime,
    is_digest: bool,
    expires_at: datetime | None,
) -> PersonalTime:
    """
    Return when to tell a person, who is told at the earliest at `earliest`.

    A digest that would be too late does not wait.
    """
    awake = earliest
    if is_digest:
        digest = schedule.next_digest(earliest)
        awake = digest if expires_at is None or digest < expires_at else earliest
    due = schedule.end_of_quiet(awake)
    return PersonalTime(awake, due, due > awake and expires_at is not None and due >= expires_at)


def times_of(personal: Sequence[PersonalTime]) -> list[datetime]:
    """
    Return the times at which several people are told of one request.

    If it would expire in the quiet hours of all of them, they are told all the same.
    """
    is_anybody_awake = any(not item.is_too_late for item in personal)
    return [item.due if is_anybody_awake else item.awake for item in personal]


def schedule_texts(schedule: Schedule) -> dict[str, str]:
    """Return the texts that `check_schedule` reads."""
    has_quiet = schedule.quiet_from != schedule.quiet_to
    return {
        "zone": schedule.zone,
        "quiet_from": f"{schedule.quiet_from:%H:%M}" if has_quiet else "",
        "quiet_to": f"{schedule.quiet_to:%H:%M}" if has_quiet else "",
        "digest_at": f"{schedule.digest_at:%H:%M}",
    }


def check_schedule(values: Mapping[str, str]) -> Schedule:
    """
    Return the schedule of texts: `zone`, `quiet_from`, `quiet_to` and `digest_at`, as in 22:00.

    Without quiet hours both texts are "".

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}

    def clock(name: str) -> time:
        try:
            if len(values[name]) == len("22:00"):
                return time.fromisoformat(values[name])
        except ValueError:
            pass
        problems[name] = [TranslatableMessage("Enter a time, as in 22:00.")]
        return time()

    try:
        zone = ZoneInfo(values["zone"]).key
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        problems["zone"] = [TranslatableMessage("This must be a time zone, as in Europe/Berlin.")]
        zone = "UTC"
    has_quiet = bool(values["quiet_from"] or values["quiet_to"])
    quiet_from = clock("quiet_from") if has_quiet else time()
    quiet_to = clock("quiet_to") if has_quiet else time()
    if has_quiet and not problems and quiet_from == quiet_to:
        problems["quiet_to"] = [TranslatableMessage("Enter another time than the first one.")]
    digest_at = clock("digest_at")
    raise_for(problems)
    return Schedule(zone, quiet_from, quiet_to, digest_at)


def _instant(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock, zone).astimezone(UTC)


def _earliest(guess: datetime, after: datetime, holds: Callable[[datetime], bool]) -> datetime:
    """
    Return the first full minute after `after` at which the condition holds, close to the guess.

    Where the clocks change, a time of the day may be skipped, or come twice.
    """
    # The guess is the first of two equal times, which may be over.
    guess = max(guess, (after + _MINUTE).replace(second=0, microsecond=0))
    while not holds(guess):
        guess += _MINUTE
    while guess - _MINUTE > after and holds(guess - _MINUTE):
        guess -= _MINUTE
    return guess
