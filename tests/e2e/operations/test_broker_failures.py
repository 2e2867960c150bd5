"""A worker outlives every failure of its broker, and what cannot be read from the queue."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest
import redis

from tests.campaigns.faults.setup import Stage, stage
from tests.support.product_client import in_background, wait_for

pytestmark = pytest.mark.services

QUEUE = "runs"
#: How long each failure lasts, in seconds: as long as a failover.
FAILURE_SECONDS = 3.0
SILENCE_SECONDS = 35.0

POISONS = {
    "no JSON": "garbage",
    "a number": "42",
    "a list": "[]",
    "an object": "{}",
    "no UTF-8": b"\xff\xfe",
    "nested too deep": "[" * 100_000,
    "no delivery tag": json.dumps({"body": "", "properties": {"delivery_info": {}}}),
    "parts of the wrong type": json.dumps({"body": 1, "headers": 2, "properties": 3}),
}


@pytest.fixture(scope="module")
def scaled(tmp_path_factory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("scaled"), workers=1) as running:
        yield running


@pytest.fixture
def broker(scaled) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(scaled.product.rings.url, socket_timeout=60) as client:
        yield client


def is_over(seconds: float) -> bool:
    return not threading.Event().wait(seconds)


def become_replica(broker: redis.Redis, stage: Stage) -> None:
    """Refuse writes with READONLY, as the old primary does during a failover."""
    broker.replicaof("127.0.0.1", 1)
    is_over(FAILURE_SECONDS)
    broker.replicaof("NO", "ONE")


def hold_another_type(broker: redis.Redis, stage: Stage) -> None:
    """Answer WRONGTYPE for the queue."""
    broker.delete(QUEUE)
    while not broker.set(QUEUE, "text"):
        pass
    is_over(FAILURE_SECONDS)
    broker.delete(QUEUE)


def fall_silent(broker: redis.Redis, stage: Stage) -> None:
    """Accept commands and answer none of them."""
    broker.client_pause(int(SILENCE_SECONDS * 1000))
    is_over(SILENCE_SECONDS)


def be_stopped(broker: redis.Redis, stage: Stage) -> None:
    """Stop the process of the broker, and have it go on."""
    os.kill(stage.product.rings.pid, signal.SIGSTOP)
    is_over(FAILURE_SECONDS)
    os.kill(stage.product.rings.pid, signal.SIGCONT)


def be_poisoned(broker: redis.Redis, stage: Stage) -> None:
    """Hold messages that cannot be read, at both ends of the queue."""
    for poison in POISONS.values():
        broker.lpush(QUEUE, poison)
        broker.rpush(QUEUE, poison)


def hold_unreadable_deliveries(broker: redis.Redis, stage: Stage) -> None:
    """Hold deliveries that nobody acknowledged and nobody can read."""
    for number, poison in enumerate(POISONS.values()):
        broker.hset("unacked", f"tag-{number}", poison)
        broker.zadd("unacked_index", {f"tag-{number}": 1})
    broker.client_kill_filter(_type="normal", skipme=True)


FAILURES = (
    become_replica,
    hold_another_type,
    fall_silent,
    be_stopped,
    be_poisoned,
    hold_unreadable_deliveries,
)


@pytest.mark.parametrize("fail", FAILURES, ids=lambda fail: fail.__name__)
def test_a_worker_outlives(scaled, broker, fail: Callable[[redis.Redis, Stage], None]):
    (worker,) = scaled.product.workers

    with in_background(lambda stop: start_runs(stop, scaled)):
        fail(broker, scaled)
    last = scaled.client.start("rehearse:echo").raise_for_status().json()["id"]

    ended = wait_for(scaled.facts.is_everything_ended, seconds=60)
    assert ended, scaled.product.log_tails()
    assert worker.is_running
    assert not worker.has_logged("Unrecoverable error")
    assert scaled.client.run(last)["status"] == "succeeded"
    assert not scaled.facts.violations()


def start_runs(stop: threading.Event, stage: Stage) -> None:
    while not stop.wait(0.1):
        stage.client.start("rehearse:echo").raise_for_status()
