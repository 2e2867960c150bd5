"""Rate limits of calls and attempts, shared by all processes through Redis."""

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

from inbox.platform import clock
from inbox.platform.client_ip import ipv6_network_of
from inbox.platform.deployment.redis_access import KEY_PREFIX
from inbox.platform.monitoring import request_facts
from inbox.platform.monitoring.refusals import note_refusal
from inbox.platform.rate_limit_memory import SlidingWindowMemory
from inbox.rules.errors import RateLimited
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

#: The policy of secrets in addresses, such as the links of mails.
_GUESSES = "guesses"
#: The policy of refused requests of an agent.
_REFUSALS = "refusals"
#: The timeout of one Redis command, and the time without commands after a failure.
REDIS_TIMEOUT_SECONDS = 0.2
REDIS_RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class RateLimitStatus:
    """The state of one rate limit for one caller."""

    policy: str  #: its name
    quota: int
    window_seconds: int
    left: int
    next_seconds: int  #: until one more call is allowed
    is_over: bool  #: whether the limit is exceeded


class RequestQuota:
    """The quota of one request or socket, which is counted once however often it authenticates."""

    def __init__(self) -> None:
        self.status: RateLimitStatus | None = None  #: None while nothing was counted
        self._releases: list[Callable[[], None]] = []

    def release_at_end(self, release: Callable[[], None]) -> None:
        self._releases.append(release)

    def end(self) -> None:
        """Release the slots that were taken by this request; later calls are counted again."""
        while self._releases:
            self._releases.pop()()
        if _current.get() is self:
            _current.set(None)


_current: ContextVar[RequestQuota | None] = ContextVar("request_quota", default=None)


def begin_request() -> RequestQuota:
    """Count this task, and the threads that work for it, as one request."""
    quota = RequestQuota()
    _current.set(quota)
    return quota


def count_caller(actor: Actor) -> None:
    """
    Count a call of a person or an API key.

    Raises:
        RateLimited.
    """
    request_facts.set_actor(actor)
    _count_once("caller", settings.RATE_LIMIT, f"{actor.kind}:{actor.ident}")


def count_anonymous(address: str) -> None:
    """
    Count an unauthenticated call by its address.

    Raises:
        RateLimited.
    """
    _count_once("address", settings.RATE_LIMIT_ANONYMOUS, ipv6_network_of(address))


def check_guesses(address: str) -> None:
    """
    Raise if an address has tried too many secrets that do not exist; see `count_guess`.

    Raises:
        RateLimited.
    """
    item = _parse_limit(settings.RATE_LIMIT_ANONYMOUS)
    if item is not None:
        limiter = rate_limiter(settings.REDIS_URL)
        status = limiter.peek(_GUESSES, item, ipv6_network_of(address))
        if status.is_over:
            note_refusal(RateLimited.code, caller=ipv6_network_of(address))
            seconds = status.next_seconds
            raise RateLimited(f"Too many tries. Try again in {seconds} s.", retry_after=seconds)


def count_guess(address: str) -> None:
    """Count a try of an address with a secret that does not exist or has ended."""
    item = _parse_limit(settings.RATE_LIMIT_ANONYMOUS)
    if item is not None:
        rate_limiter(settings.REDIS_URL).count(_GUESSES, item, ipv6_network_of(address))


def count_refusal(rate: str, subject: str) -> bool:
    """Count a refusal of a subject; return whether it had more than the rate. "": never."""
    item = _parse_limit(rate)
    return (
        item is not None
        and rate_limiter(settings.REDIS_URL).count(_REFUSALS, item, subject).is_over
    )


def take_stream(actor: Actor) -> None:
    """
    Take a slot for a stream until the end of this request.

    Raises:
        RateLimited.
    """
    if not take_slot(f"streams of {actor.kind}:{actor.ident}", settings.STREAMS_PER_CALLER):
        raise RateLimited("Too many open connections. Close some first.", retry_after=1)


def take_slot(name: str, most: int) -> bool:
    """Take a slot under this name until the end of this request; False if none is free."""
    quota = _current.get()
    if quota is None:
        return True
    try:
        quota.release_at_end(concurrency_slots.take({name: most}))
    except RateLimited:
        return False
    return True


class ConcurrencySlots:
    """Bounds of what each caller may have open at once in this process."""

    def __init__(self) -> None:
        self._taken: Counts[str] = Counts()
        self._lock = Lock()

    def take(self, limits: Mapping[str, int]) -> Callable[[], None]:
        """
        Take one slot under each of these names and return the function that releases them.

        Raises:
            RateLimited: no slot is free under one of the names.
        """
        with self._lock:
            if any(self._taken[name] >= limit for name, limit in limits.items()):
                raise RateLimited("Too many open connections. Close some first.", retry_after=1)
            self._taken.update(limits.keys())
        held = list(limits)

        def release() -> None:
            with self._lock:
                self._taken.subtract(held)
                self._taken += Counts()  # drops names without slots
                held.clear()

        return release

    def number(self, name: str) -> int:
        """Return the number of slots that are taken under a name."""
        with self._lock:
            return self._taken[name]


concurrency_slots = ConcurrencySlots()


def check_settings() -> None:
    """
    Check the limits in the settings.

    Raises:
        ImproperlyConfigured.
    """
    rates = (settings.RATE_LIMIT, settings.RATE_LIMIT_ANONYMOUS, settings.PAUSE_AGENTS_AFTER)
    for limit in rates:
        _parse_limit(limit)


def _count_once(policy: str, limit: str, caller: str) -> None:
    quota = _current.get() or RequestQuota()
    if quota.status is None:
        item = _parse_limit(limit)
        limiter = rate_limiter(settings.REDIS_URL)
        quota.status = limiter.count(policy, item, caller) if item else None
    if quota.status and quota.status.is_over:
        seconds = quota.status.next_seconds
        note_refusal(RateLimited.code, caller=caller)
        raise RateLimited(f"Too many calls. Try again in {seconds} s.", retry_after=seconds)


@cache
def _parse_limit(limit: str) -> RateLimitItem | None:
    try:
        return parse(limit) if limit else None
    except ValueError as error:
        raise ImproperlyConfigured(
            f"A rate limit must be calls per time, like 6000/minute, or empty: {limit!r}."
        ) from error


class RateLimiter:
    """
    A rate limiter that counts in Redis, or in this process without Redis and while it is down.

    While Redis is down, limits apply per process, so that nobody is locked out.
    """

    def __init__(self, redis_url: str) -> None:
        self._local = SlidingWindowCounterRateLimiter(SlidingWindowMemory())
        self._shared = (
            SlidingWindowCounterRateLimiter(_redis_storage(redis_url)) if redis_url else None
        )
        self._down_until = 0.0  # 0: Redis is up
        self._lock = Lock()

    def count(self, policy: str, item: RateLimitItem, caller: str) -> RateLimitStatus:
        return self._status("hit", policy, item, caller)

    def peek(self, policy: str, item: RateLimitItem, caller: str) -> RateLimitStatus:
        """Return the status without counting; `is_over` means that one more call is too many."""
        return self._status("test", policy, item, caller)

    def _status(
        self, operation: Literal["hit", "test"], policy: str, item: RateLimitItem, caller: str
    ) -> RateLimitStatus:
        if self._shared is None or time.monotonic() < self._down_until:
            return _apply(self._local, operation, policy, item, caller)
        try:
            status = _apply(self._shared, operation, policy, item, caller)
        except self._shared.storage.base_exceptions as error:
            self._mark_down(error)
            return _apply(self._local, operation, policy, item, caller)
        if self._down_until:
            self._mark_up()
        return status

    def _mark_down(self, error: Exception) -> None:
        with self._lock:
            was_up, self._down_until = not self._down_until, time.monotonic() + REDIS_RETRY_SECONDS
        if was_up:
            log.warning("redis down, each process counts calls", error=str(error)[:200])

    def _mark_up(self) -> None:
        with self._lock:
            was_down, self._down_until = self._down_until, 0.0
        if was_down:
            log.info("redis up, processes count calls together")


def _redis_storage(url: str) -> RedisStorage:
    # The embedded deployment does not load the Redis client, which takes memory.
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    return RedisStorage(
        url,
        key_prefix=KEY_PREFIX,
        socket_timeout=REDIS_TIMEOUT_SECONDS,
        socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        # Retry once: after a restart of Redis every pooled connection is broken.
        retry=Retry(NoBackoff(), 1),  # type: ignore[arg-type]  # passed on to redis unchanged
    )


def _apply(
    limiter: SlidingWindowCounterRateLimiter,
    operation: Literal["hit", "test"],
    policy: str,
    item: RateLimitItem,
    caller: str,
) -> RateLimitStatus:
    is_within = (limiter.hit if operation == "hit" else limiter.test)(item, policy, caller)
    stats = limiter.get_window_stats(item, policy, caller)
    return RateLimitStatus(
        policy=policy,
        quota=item.amount,
        window_seconds=item.get_expiry(),
        left=stats.remaining,
        next_seconds=max(1, ceil(stats.reset_time - clock.now().timestamp())),
        is_over=not is_within,
    )


#: One limiter per Redis URL; "" counts in this process only.
rate_limiter = cache(RateLimiter)
