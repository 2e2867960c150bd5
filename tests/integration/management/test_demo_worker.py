"""The demo beside a worker that is faster than the process that creates it."""

import time
from types import SimpleNamespace

import pytest

from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.run_lease import claim_run
from inbox.actions.runs.start_run import start_run
from inbox.management import demo_history
from tests.support.steps import request, reread


def queued_run(world):
    actor = world.actor(world.alice)
    return start_run(agent=world.agent, request=request("hello"), actor=actor).run


def test_a_run_that_a_worker_has_claimed_is_waited_for(world, monkeypatch):
    run = queued_run(world)
    assert claim_run(run_id=run.pk)
    pauses = []

    def end_at_the_second_look(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            cancel_run(run_id=run.pk, actor=world.actor(world.alice))

    clock = SimpleNamespace(sleep=end_at_the_second_look, monotonic=time.monotonic)
    monkeypatch.setattr(demo_history, "time", clock)
    demo_history.drive(run.thread)

    assert len(pauses) >= 2
    assert run.thread.runs.get().status == "cancelled"


def test_a_run_that_nobody_has_claimed_is_driven(world):
    run = queued_run(world)

    demo_history.drive(run.thread)

    assert reread(run).status == "succeeded"


def test_a_run_that_never_ends_is_named(world, monkeypatch):
    run = queued_run(world)
    assert claim_run(run_id=run.pk)
    monkeypatch.setattr(demo_history, "_WORKER_SECONDS", 0)

    with pytest.raises(RuntimeError, match=f"has not ended run {run.pk}"):
        demo_history.drive(run.thread)
