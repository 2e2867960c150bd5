"""How calls are counted: by whom, in which window, by many at once, and while Redis is away."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from django.core.exceptions import ImproperlyConfigured
from limits import parse
from structlog.testing import capture_logs

from inbox.platform import rate_limit_memory, rate_limits
from inbox.platform.client_ip import ipv6_network_of
from inbox.realtime import agui_consumer
from inbox.rules.errors import RateLimited
from tests.support.races.concurrently import Meeting
from tests.support.valkey import ValkeyServer

FIVE = parse("5/minute")


@pytest.fixture(scope="module")
def valkey():
    with ValkeyServer() as server:
        yield server


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.services)])
def counter(request):
    url = request.getfixturevalue("valkey").url if request.param == "redis" else ""
    return rate_limits.RateLimiter(url)


@pytest.fixture
def clock(monkeypatch):
    """The seconds that have gone by, as the counter of a process reads them."""

    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    monkeypatch.setattr(rate_limit_memory, "time", Clock())
    return rate_limit_memory.time


def allowed(counter, times, limit=FIVE, who="a"):
    return sum(not counter.count("caller", limit, who).is_over for _ in range(times))


def test_so_many_calls_are_taken_and_no_more(counter, request):
    assert allowed(counter, 9, who=request.node.name) == 5


def test_each_is_counted_by_themselves(counter, request):
    allowed(counter, 9, who=request.node.name)

    assert allowed(counter, 9, who=f"another than {request.node.name}") == 5


def test_a_standing_says_what_is_left_and_when_there_is_more(counter, request):
    first, *_, last = (counter.count("caller", FIVE, request.node.name) for _ in range(6))

    assert (first.left, first.quota, first.window_seconds) == (4, 5, 60)
    assert (last.left, last.is_over) == (0, True)
    assert 1 <= last.next_seconds <= 120


@pytest.mark.parametrize("limit", [1, 40, 1_000])
def test_sixteen_at_once_are_never_more_than_the_limit(counter, request, limit):
    item = parse(f"{limit}/day")
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # let threads take turns everywhere
    try:
        with ThreadPoolExecutor(16) as pool:
            futures = [
                pool.submit(allowed, counter, 100, item, request.node.name) for _ in range(16)
            ]
            allowed_count = sum(future.result() for future in futures)
    finally:
        sys.setswitchinterval(patience)

    assert allowed_count == limit


def test_who_counts_in_a_process_counts_alone(monkeypatch):
    counter, meeting = rate_limits.RateLimiter(""), Meeting(2, wait_seconds=0.2)
    read = rate_limit_memory.SlidingWindowMemory._read

    def read_and_wait(*args):
        value = read(*args)
        meeting.wait()
        return value

    monkeypatch.setattr(rate_limit_memory.SlidingWindowMemory, "_read", read_and_wait)
    with ThreadPoolExecutor(2) as pool:
        allowed_count = sum(pool.map(lambda _: allowed(counter, 1, parse("1/day")), range(2)))

    assert (allowed_count, meeting.met) == (1, False)


@pytest.mark.parametrize(
    ("later", "then"),
    [
        (59.9, 0),  # the same window
        (60.0, 0),  # all of the one before counts still
        (72.0, 1),  # four fifths of it do
        (72.1, 2),  # what is less than a whole call counts nothing
        (90.1, 3),
        (120.0, 5),
        (300.0, 5),
    ],
)
def test_previous_window_counts_in_proportion(clock, later, then):
    counter = rate_limits.RateLimiter("")
    allowed(counter, 5)

    clock.seconds = later

    assert allowed(counter, 9) == then


def test_a_process_keeps_nothing_of_windows_that_are_past(clock):
    memory = rate_limit_memory.SlidingWindowMemory()
    for who in range(1_000):
        memory.acquire_sliding_window_entry(f"{who}", 5, 60)

    clock.seconds = 120.0
    memory.acquire_sliding_window_entry("a", 5, 60)

    ((_, now, before),) = memory._windows.values()
    assert (len(now), len(before)) == (1, 0)


@pytest.fixture
def begin_request():
    """Begin a request, which ends the one before; the last one ends with the test."""
    with ExitStack() as requests:

        def begin():
            requests.close()
            request = rate_limits.begin_request()
            requests.callback(request.end)
            return request

        yield begin


def test_a_request_counts_once_however_often_it_asks_who_calls(settings, alice, begin_request):
    settings.RATE_LIMIT = "1/year"

    begin_request()
    rate_limits.count_caller(alice)
    rate_limits.count_caller(alice)

    begin_request()
    for _ in range(2):
        with pytest.raises(RateLimited):
            rate_limits.count_caller(alice)


def test_what_comes_after_a_request_counts_by_itself(settings, alice, begin_request):
    settings.RATE_LIMIT = "1/year"
    request = begin_request()
    rate_limits.count_caller(alice)

    request.end()

    with pytest.raises(RateLimited):
        rate_limits.count_caller(alice)


def test_without_a_limit_nothing_is_counted(settings, alice, begin_request):
    settings.RATE_LIMIT = ""
    request = begin_request()

    rate_limits.count_caller(alice)

    assert request.status is None


@pytest.mark.parametrize("text", ["many", "6000", "-1/minute", "6000/fortnight"])
def test_what_is_no_limit_keeps_a_server_from_starting(settings, text):
    settings.RATE_LIMIT_ANONYMOUS = text

    with pytest.raises(ImproperlyConfigured):
        rate_limits.check_settings()


@pytest.mark.parametrize(
    ("address", "household"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_addresses_that_one_customer_has_count_as_one(address, household):
    assert ipv6_network_of(address) == household


@pytest.mark.services
def test_while_redis_is_away_each_process_counts_and_it_is_logged_once(valkey, monkeypatch):
    counter = rate_limits.RateLimiter(valkey.url)
    allowed(counter, 9)
    monkeypatch.setattr(rate_limits, "REDIS_RETRY_SECONDS", 0.0)  # ask again at once

    valkey.shut_down()
    try:
        with capture_logs() as lines:
            allowed_count = allowed(counter, 9)
    finally:
        valkey.start()

    assert allowed_count == 5
    assert [line["event"] for line in lines] == ["redis down, each process counts calls"]
    with capture_logs() as lines:
        assert allowed(counter, 9) == 5
    assert [line["event"] for line in lines] == ["redis up, processes count calls together"]


@pytest.mark.services
def test_a_redis_that_is_away_is_not_asked_by_every_call(valkey, monkeypatch):
    counter = rate_limits.RateLimiter(valkey.url)
    valkey.shut_down()
    try:
        first = counter.count("caller", FIVE, "a")
    finally:
        valkey.start()

    assert (first.left, counter.count("caller", FIVE, "a").left) == (4, 3)


def test_an_address_has_so_many_sockets_without_an_input(monkeypatch, alice, bob, robot, dora):
    monkeypatch.setattr(agui_consumer, "MAX_IDLE_PER_ADDRESS", 2)
    leave = agui_consumer._take_idle_slot(alice, "192.0.2.1")
    agui_consumer._take_idle_slot(bob, "192.0.2.1")

    with pytest.raises(RateLimited):
        agui_consumer._take_idle_slot(robot, "192.0.2.1")

    agui_consumer._take_idle_slot(robot, "192.0.2.2")
    leave()
    agui_consumer._take_idle_slot(dora, "192.0.2.1")
