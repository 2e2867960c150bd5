"""Runs that the embedded process claims when it accepts them, and drives without the broker."""

import json

import pytest

from inbox import engine, sweeper, wakeups
from inbox.actions.runs import start_run as actions
from inbox.engine import handover
from inbox.rules.errors import UnknownInterrupt
from tests.support import steps
from tests.support.steps import APPROVE, entry, open_interrupts, request


class SameThread:
    """An executor that runs a job when it gets it."""

    def __init__(self, threads, **_options):
        self.threads = threads

    def submit(self, function, *arguments):
        function(*arguments)


class Deaf(SameThread):
    """An executor whose threads never come to a job, like those of a process that dies."""

    def submit(self, function, *arguments):
        pass


def pool_of(threads, executor, monkeypatch):
    monkeypatch.setattr(handover, "ThreadPoolExecutor", executor)
    # The connection is the test's own.
    monkeypatch.setattr(handover, "close_old_connections", lambda: None)
    pool = handover.RunPool()
    pool.start(threads)
    monkeypatch.setattr(handover, "pool", pool)
    return pool


@pytest.fixture
def messages(monkeypatch):
    sent = []
    monkeypatch.setattr(wakeups, "wake_workers", sent.append)
    return sent


@pytest.fixture
def pool(monkeypatch):
    return pool_of(1, SameThread, monkeypatch)


@pytest.fixture
def accept(world, alice, bob, django_capture_on_commit_callbacks):
    def accept(text="", **more):
        actor = bob if "entries" in more else alice
        with django_capture_on_commit_callbacks(execute=True):
            return engine.start_run(agent=world.agent, request=request(text, **more), actor=actor)

    return accept


def test_an_accepted_run_is_driven_without_a_message_to_a_worker(accept, pool, messages):
    run = accept("rehearse:tool_call").run

    assert steps.reread(run).status == "interrupted"
    assert steps.event_types(run)[0] == "RUN_STARTED"
    assert steps.event_types(run).count("RUN_STARTED") == 1
    assert messages == []


def test_a_resume_is_driven_without_a_message_to_a_worker(accept, pool, messages):
    run = accept("rehearse:tool_call").run
    (interrupt,) = open_interrupts(run)

    resumed = accept(thread_id=run.thread.external_id, entries=(entry(interrupt, APPROVE),)).run

    assert steps.reread(resumed).status == "succeeded"
    assert steps.event_types(resumed)[0] == "RUN_STARTED"
    assert messages == []


def test_a_later_run_continues_the_conversation(accept, pool):
    first = accept("rehearse:echo").run

    second = accept("rehearse:echo", thread_id=first.thread.external_id).run

    sequence = list(first.thread.events.order_by("seq").values_list("seq", flat=True))
    assert sequence == list(range(1, len(sequence) + 1))
    messages = json.loads(steps.reread(second.thread).messages)
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2


def test_a_run_is_queued_while_no_thread_is_free(accept, world, messages, monkeypatch):
    pool = pool_of(1, SameThread, monkeypatch)
    with pool.reserved(world.agent, is_resume=False):
        run = accept("rehearse:echo").run

    assert steps.reread(run).status == "queued"
    assert messages == [run.pk]


def test_a_run_is_queued_while_the_process_stops(accept, pool, messages, monkeypatch):
    monkeypatch.setattr(engine.stopping, "is_set", lambda: True)

    run = accept("rehearse:echo").run

    assert steps.reread(run).status == "queued"
    assert messages == [run.pk]


def test_a_rejected_request_and_a_replay_give_the_thread_back(accept, pool):
    run = accept("rehearse:tool_call").run
    (interrupt,) = open_interrupts(run)
    answer = {"thread_id": run.thread.external_id, "entries": (entry(interrupt, APPROVE),)}
    with pytest.raises(UnknownInterrupt):
        accept(thread_id="new", entries=(entry(interrupt, APPROVE),))
    resumed = accept(**answer).run

    replay = accept(**answer)

    assert (replay.replayed, replay.run.pk) == (True, resumed.pk)
    assert steps.reread(accept("rehearse:echo").run).status == "succeeded"


def test_a_failing_run_gives_the_thread_back(accept, pool, monkeypatch):
    def fail(run, lease):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(handover, "drive_run", fail)
        accept("rehearse:echo")

    assert steps.reread(accept("rehearse:echo").run).status == "succeeded"


def test_a_claimed_run_of_a_process_that_died_is_driven_by_another(
    accept, messages, monkeypatch, later
):
    pool_of(1, Deaf, monkeypatch)
    run = accept("rehearse:echo").run
    assert steps.reread(run).status == "running"
    later(seconds=60)

    sweeper.sweep()
    engine.execute_run(run.pk)

    assert steps.reread(run).status == "succeeded"
    assert steps.event_types(run).count("RUN_STARTED") == 1


def test_a_run_that_is_rolled_back_is_not_driven(accept, pool, monkeypatch):
    def fail(*_facts, **_more):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(actions.audit_trail, "record", fail)
        with pytest.raises(RuntimeError):
            accept("rehearse:echo")

    assert steps.reread(accept("rehearse:echo").run).status == "succeeded"
