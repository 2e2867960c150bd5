"""What a worker shows of itself: its consumer ends, is stuck, or waits for its broker."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from inbox import engine
from inbox.management import server
from tests.support.children import free_port
from tests.support.processes import REPOSITORY, embedded_environment

#: The product, with a consumer that breaks as soon as it starts.
BROKEN = """
import django
django.setup()
from django.core.management import call_command
from inbox.management import server

class Broken(server.BackoffConsumer):
    def start(self):
        raise RuntimeError("broken")

server.BackoffConsumer = Broken
call_command("serve")
"""


@pytest.fixture
def worker(monkeypatch):
    """A worker whose consumer is connected and has just shown that it runs."""
    monkeypatch.setattr(engine, "stopping", threading.Event())
    worker = server.Worker()
    worker._controller = SimpleNamespace(consumer=SimpleNamespace(connection=object()))
    worker._note_pulse()
    return worker


@pytest.fixture
def signals(monkeypatch):
    sent = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


def ends(error=None):
    def start(_controller):
        if error:
            raise error

    return SimpleNamespace(start=start)


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_a_consumer_that_ends_stops_the_process(worker, signals, error):
    worker._controller.blueprint = ends(error)

    worker._consume()

    assert worker.has_failed
    assert signals == [(os.getpid(), signal.SIGTERM)]


def test_a_consumer_that_was_told_to_stop_is_no_failure(worker, signals):
    worker._controller.blueprint = ends()
    engine.stopping.set()

    worker._consume()

    assert not worker.has_failed
    assert not signals


def test_a_consumer_whose_loop_stands_still_is_not_consuming(worker, monkeypatch):
    assert worker.is_consuming()

    worker._pulse_at = time.monotonic() - server.STUCK_SECONDS

    assert not worker.is_consuming()


def test_a_consumer_that_waits_for_its_broker_is_well(worker):
    worker._controller.consumer.connection = None
    worker._pulse_at = time.monotonic() - server.STUCK_SECONDS

    assert worker.is_consuming()


def test_the_whole_product_exits_with_an_error_when_its_consumer_ends(tmp_path):
    environment = embedded_environment(
        tmp_path, DJANGO_SETTINGS_MODULE="inbox.config.settings", PORT=str(free_port())
    )

    done = subprocess.run(
        [sys.executable, "-c", BROKEN],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    assert "consumer ended" in done.stderr + done.stdout
