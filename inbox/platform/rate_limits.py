"""Rate limits of calls and attempts, counted for all processes of a site."""

import time
from collections import Counter as Counts
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from math import ceil
from threading import Lock
from typing import Literal

import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from limits import RateLimitItem, parse
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from inbox.platform.client_ip import household_of
from inbox.platform.rate_limit_memory import Windows
from inbox.rules.errors import RateLimited
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

#: How long one question to Redis may take, and how long nobody asks again while it is away.
REDIS_SECONDS = 0.2
AWAY_SECONDS = 5.0


@dataclass(frozen=True)
class Standing:
    """What somebody has left of a policy after a call."""

    policy: str  #: its name
    quota: int
    window_seconds: int
    left: int
    next_seconds: int  #: until there is one more
    is_over: bool  #: this call was one too many


class Call:
    """One request or one socket, which is counted once, whoever asks in it who is calling."""

    def __init__(self) -> None:
        self.standing: Standing | None = None  #: None while nothing was counted
        self._places: list[Callable[[], None]] = []

    def keep(self, leave: Callable[[], None]) -> None:
        """Keep a place until the end of the call."""
        self._places.append(leave)

    def end(self) -> None:
        """Leave the places that were taken in this call."""
        while self._places:
            self._places.pop()()


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def begin_call() -> Call:
    """From here on this task, and the threads that work for it, serve one request."""
    call = Call()
    _current.set(call)
    return call


def count_caller(actor: Actor) -> None:
    """Count a call of a person or of a key. Raises RateLimited."""
    _count("caller", settings.RATE_LIMIT, f"{actor.kind}:{actor.ident}")


def count_stranger(address: str) -> None:
    """Count a call of nobody who is known, by the address it came from. Raises RateLimited."""
    _count("address", settings.RATE_LIMIT_ANONYMOUS, household_of(address))


def take_stream(actor: Actor) -> None:
    """Take a place for a stream until the end of this call. Raises RateLimited."""
    call = _current.get()
    if call is not None:
        who = f"streams of {actor.kind}:{actor.ident}"
        call.keep(places.take({who: settings.STREAMS_PER_CALLER}))


class Places:
    """How many of something each caller has open in this process."""

    def __init__(self) -> None:
        self._taken: Counts[str] = Counts()
        self._turn = Lock()

    def take(self, most: Mapping[str, int]) -> Callable[[], None]:
        """
        Take one place under each of these names, and return what gives them back, once.

        Raises:
            RateLimited: so many are taken under one of the names.
        """
        with self._turn:
            if any(self._taken[name] >= limit for name, limit in most.items()):
                raise RateLimited("Too many are open: close some first.", retry_after=1)
            self._taken.update(most.keys())
        held = list(most)

        def leave() -> None:
            with self._turn:
                self._taken.subtract(held)
                self._taken += Counts()  # forgets those with none
                held.clear()

        return leave


places = Places()


def check_settings() -> None:
    """Raises ImproperlyConfigured."""
    for limit in (settings.RATE_LIMIT, settings.RATE_LIMIT_ANONYMOUS):
        _parsed(limit)


def _count(policy: str, limit: str, who: str) -> None:
    call = _current.get() or Call()
    if call.standing is None:
        item = _parsed(limit)
        call.standing = counter(settings.REDIS_URL).count(policy, item, who) if item else None
    if call.standing and call.standing.is_over:
        seconds = call.standing.next_seconds
        raise RateLimited(f"Too many calls: try again in {seconds} s.", retry_after=seconds)


@cache
def _parsed(limit: str) -> RateLimitItem | None:
    try:
        return parse(limit) if limit else None
    except ValueError as error:
        raise ImproperlyConfigured(
            f"A rate limit is a number of calls and a time, like 6000/minute, or empty: {limit!r}."
        ) from error


class Counter:
    """
    Counts in Redis for all processes; in this process if there is none, and while it is away.

    Limits apply per process while Redis is away: each process then allows as much as all of them
    together otherwise, and nobody is locked out.
    """

    def __init__(self, redis_url: str) -> None:
        self._here = SlidingWindowCounterRateLimiter(Windows())
        self._shared = (
            SlidingWindowCounterRateLimiter(
                RedisStorage(
                    redis_url,
                    key_prefix="signoff",
                    socket_timeout=REDIS_SECONDS,
                    socket_connect_timeout=REDIS_SECONDS,
                    # Once more, on a new connection: those of before a restart are all broken.
                    retry=Retry(NoBackoff(), 1),  # type: ignore[arg-type]  # handed to redis as it is
                )
            )
            if redis_url
            else None
        )
        self._away_until = 0.0  # 0: it is there
        self._turn = Lock()

    def count(self, policy: str, item: RateLimitItem, who: str) -> Standing:
        """Count one call of `who`."""
        return self._standing("hit", policy, item, who)

    def look(self, policy: str, item: RateLimitItem, who: str) -> Standing:
        """Return where `who` stands without counting; `is_over` means that one more is too many."""
        return self._standing("test", policy, item, who)

    def _standing(
        self, ask: Literal["hit", "test"], policy: str, item: RateLimitItem, who: str
    ) -> Standing:
        if self._shared is None or time.monotonic() < self._away_until:
            return _asked(self._here, ask, policy, item, who)
        try:
            standing = _asked(self._shared, ask, policy, item, who)
        except RedisError as error:
            self._lose(error)
            return _asked(self._here, ask, policy, item, who)
        if self._away_until:
            self._find()
        return standing

    def _lose(self, error: Exception) -> None:
        with self._turn:
            was_there, self._away_until = not self._away_until, time.monotonic() + AWAY_SECONDS
        if was_there:
            log.warning("redis away, each process counts calls", error=str(error)[:200])

    def _find(self) -> None:
        with self._turn:
            was_away, self._away_until = self._away_until, 0.0
        if was_away:
            log.info("redis back, calls are counted together")


def _asked(
    limiter: SlidingWindowCounterRateLimiter,
    ask: Literal["hit", "test"],
    policy: str,
    item: RateLimitItem,
    who: str,
) -> Standing:
    is_within = (limiter.hit if ask == "hit" else limiter.test)(item, policy, who)
    stats = limiter.get_window_stats(item, policy, who)
    return Standing(
        policy=policy,
        quota=item.amount,
        window_seconds=item.get_expiry(),
        left=stats.remaining,
        next_seconds=max(1, ceil(stats.reset_time - time.time())),
        is_over=not is_within,
    )


#: The counter of a Redis; "" is that of this process.
counter = cache(Counter)
