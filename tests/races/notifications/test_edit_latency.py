"""The time from a decision to the edit of the messages, over the ticks of a running sweeper."""

import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from inbox import sweeper, wakeups
from inbox.sending.notification_sender import send_due
from tests.support.notifications.slack_server import (
    add_slack_app,
    closed_requests,
    run_slack_server,
)
from tests.support.notifications.subscribed import send_all
from tests.support.product_client import wait_for
from tests.support.races.concurrently import rounds
from tests.support.steps import approve, open_interrupts, start

pytestmark = pytest.mark.services

CHANNELS, REQUESTS = 6, 5


@pytest.fixture
def running_sweeper(monkeypatch):
    """Sweep in a thread, and let wake-ups reach two workers of this process."""
    workers, stopping = ThreadPoolExecutor(2), threading.Event()

    def work(channel_id):
        try:
            send_due(channel_id)
        finally:
            connections.close_all()

    def sweep():
        try:
            sweeper.run_until(stopping)
        finally:
            # Closed, not returned to the pool: the session has the sweeper's lock and its timeout.
            sweeper._drop_session()

    monkeypatch.setattr(wakeups, "wake_notifiers", lambda pk: workers.submit(work, pk))
    thread = threading.Thread(target=sweep)
    thread.start()
    yield
    stopping.set()
    thread.join(30)
    workers.shutdown()


def test_messages_are_edited_soon_after_each_decision(committed_world, race_bob, settings, request):
    settings.PUBLIC_URL = "https://signoff.example.com"
    latencies = []
    with run_slack_server(settings) as slack:
        for _ in range(CHANNELS):
            add_slack_app(committed_world.team.pk)
        interrupts = [
            open_interrupts(start(committed_world, "rehearse:tool_call"))[0]
            for _ in range(REQUESTS)
        ]
        send_all()
        assert len(slack.calls) == CHANNELS
        request.getfixturevalue("running_sweeper")
        for interrupt in interrupts[: rounds(short=3, long=REQUESTS)]:
            approve(interrupt, race_bob)
            decided_at = time.monotonic()
            url = f"https://signoff.example.com/interrupts/{interrupt.pk}/"

            def edits(url=url):
                calls = zip(slack.times, slack.calls, strict=False)
                return [at for at, (_, body) in calls if url in closed_requests(body)]

            assert wait_for(lambda edits=edits: len(edits()) >= CHANNELS, seconds=60, every=0.05)
            latencies += [at - decided_at for at in edits()[:CHANNELS]]

    p95 = statistics.quantiles(latencies, n=20)[-1]
    print(f"edits: {len(latencies)}, p95 {p95:.2f} s, slowest {max(latencies):.2f} s")
