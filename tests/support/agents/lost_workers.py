"""Lose a worker at a chosen commit of a run."""

import pytest

from inbox import engine
from inbox.actions.runs import run_lease
from inbox.engine import agent_loop
from inbox.models import Run
from tests.support import steps
from tests.support.steps import APPROVE, open_interrupts, start


class WorkerKilled(BaseException):
    """Stand for a SIGKILL: nothing of the worker is executed after it."""


def kill_while_driving(run, *, monkeypatch, at, batch_seconds=60):
    """Drive a queued run until the worker is about to commit `at`, and lose the worker there."""

    def die(**_kwargs):
        raise WorkerKilled

    with monkeypatch.context() as dying:
        dying.setattr(run_lease, at, die)
        # Nothing is committed only because the machine was slow.
        dying.setattr(agent_loop, "BATCH_SECONDS", batch_seconds)
        with pytest.raises(WorkerKilled):
            engine.execute_run(run.pk)
    return steps.reread(run)


def queued_resume(world, scenario, bob, payload=APPROVE):
    run = start(world, f"rehearse:{scenario}")
    for interrupt in open_interrupts(run):
        steps.answer(interrupt, bob, payload)
    return Run.objects.get(resumes=run)


def die_behind(action, text):
    """Lose the worker right after it has committed this text."""

    def act(*, lease, batch):
        action(lease=lease, batch=batch)
        if any(text in frame.body for frame in batch.frames):
            raise WorkerKilled

    return act
