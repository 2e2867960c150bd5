"""The limits of a team: what it may have at once, so that it does not use up what others need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage

GIB = 1024**3
#: Larger numbers do not fit into every client's integers.
MAX_LIMIT = 2**53 - 1


class Limit(StrEnum):
    """The limits, by the names of their columns."""

    RUNNING_RUNS = "running_runs"
    QUEUED_RUNS = "queued_runs"
    OPEN_REQUESTS = "open_requests"
    AGENT_OPEN_REQUESTS = "agent_open_requests"  #: of each agent
    AGENT_REQUESTS_PER_MINUTE = "agent_requests_per_minute"  #: of each external agent
    THREADS = "threads"
    STREAMS = "streams"  #: in each web process
    SOCKETS = "sockets"  #: in each web process
    EVENT_BYTES = "event_bytes"
    FILE_BYTES = "file_bytes"


#: Of an installation without settings; None: no limit. SIGNOFF_TEAM_FILE_BYTES limits files.
DEFAULT_LIMITS: Mapping[Limit, int | None] = {
    Limit.RUNNING_RUNS: None,
    Limit.QUEUED_RUNS: 1_000,
    Limit.OPEN_REQUESTS: 5_000,
    Limit.AGENT_OPEN_REQUESTS: 200,
    Limit.AGENT_REQUESTS_PER_MINUTE: 60,
    Limit.THREADS: 1_000_000,
    Limit.STREAMS: 1_000,
    Limit.SOCKETS: 1_000,
    Limit.EVENT_BYTES: 50 * GIB,
}

Limits = Mapping[Limit, int | None]

#: The limits of one agent: one that asks beyond them again and again is paused.
AGENT_LIMITS = (Limit.AGENT_OPEN_REQUESTS, Limit.AGENT_REQUESTS_PER_MINUTE)

#: Seconds until another try makes sense; the others do not end by themselves.
RETRY_AFTER: Mapping[Limit, int] = {
    Limit.QUEUED_RUNS: 5,
    Limit.OPEN_REQUESTS: 60,
    Limit.AGENT_OPEN_REQUESTS: 60,
    Limit.STREAMS: 5,
    Limit.SOCKETS: 5,
}

_MESSAGES: Mapping[Limit, Callable[[int], TranslatableMessage]] = {
    Limit.QUEUED_RUNS: lambda most: TranslatableMessage(
        "This team has {most} queued runs. Try again when some have started.", most=most
    ),
    Limit.OPEN_REQUESTS: lambda most: TranslatableMessage(
        "This team has {most} open requests. Wait for decisions, or withdraw some.", most=most
    ),
    Limit.AGENT_OPEN_REQUESTS: lambda most: TranslatableMessage(
        "This agent has {most} open requests. Wait for decisions, or withdraw some.", most=most
    ),
    Limit.THREADS: lambda most: TranslatableMessage(
        "This team has {most} threads. Continue one of them, or ask for a higher limit.", most=most
    ),
    Limit.STREAMS: lambda most: TranslatableMessage(
        "This team has {most} open event streams. Close some first.", most=most
    ),
    Limit.SOCKETS: lambda most: TranslatableMessage(
        "This team has {most} open pages and sockets. Close some first.", most=most
    ),
    Limit.EVENT_BYTES: lambda most: TranslatableMessage(
        "The events of this team take more than {most} bytes. Ask for a higher limit.", most=most
    ),
}


@dataclass(frozen=True)
class LimitUse:
    """One limit of a team, and the use that a team makes of it."""

    limit: Limit
    used: int
    most: int | None  #: None: no limit
    default: int | None  #: of the installation
    own: int | None  #: of the team, None if the default counts

    @property
    def percent(self) -> int:
        return min(100, 100 * self.used // self.most) if self.most else 0


def reached(limit: Limit, most: int) -> errors.LimitReached:
    """Return the error about a limit that is reached."""
    return errors.LimitReached(
        _MESSAGES[limit](most), limit=limit.value, most=most, retry_after=RETRY_AFTER.get(limit)
    )


def parse_limits(text: str) -> Limits:
    """
    Parse the limits of an installation: `queued_runs=500, threads=0`; 0 is no limit.

    Raises:
        ValueError: a name or a number is wrong.
    """
    limits = dict(DEFAULT_LIMITS)
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        limit, most = Limit(name.strip()), int(number)
        if limit not in DEFAULT_LIMITS:
            raise ValueError("SIGNOFF_TEAM_FILE_BYTES limits the files of a team.")
        if not 0 <= most <= MAX_LIMIT:
            raise ValueError(f"{name} must be 0 to {MAX_LIMIT}.")
        limits[limit] = most or None
    return limits


def check_limits(limits: Mapping[Limit, int | None]) -> None:
    """
    Check the limits that an administrator of the installation sets; None is the default.

    Raises:
        InvalidValue: with `problems` by name.
    """
    problems = {
        limit.value: [TranslatableMessage("Enter a whole number from 1.")]
        for limit, most in limits.items()
        if most is not None and not 1 <= most <= MAX_LIMIT
    }
    if problems:
        text = TranslatableMessage("Enter a whole number from 1.")
        raise errors.InvalidValue(text, problems=problems)
