"""Clients that send the same thing at the same moment: a resume, or a start with one key."""

from functools import partial

import pytest

from agents.demo_agent import execution_counter
from inbox import engine
from inbox.actions.runs.start_run import start_run
from inbox.models import Decision, Run
from tests.support import steps
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

pytestmark = pytest.mark.services


def waiting_for_an_email(world):
    run = steps.start(world, "rehearse:tool_call")
    (interrupt,) = steps.open_interrupts(run)
    return run, interrupt


def send_resume(world, run, interrupt, actor):
    return start_run(
        agent=world.agent,
        request=steps.request(
            thread_id=run.thread.external_id, entries=(steps.entry(interrupt, steps.APPROVE),)
        ),
        actor=actor,
    )


def test_four_identical_resumes_make_one_run_and_run_the_tool_once(committed_world, race_bob):
    for _ in range(rounds(short=20, long=100)):
        run, interrupt = waiting_for_an_email(committed_world)
        send = partial(send_resume, committed_world, run, interrupt, race_bob)

        outcomes = at_once([send] * 4)

        assert failures(outcomes) == []
        assert len({accepted.run.pk for accepted in outcomes}) == 1
        assert sorted(accepted.replayed for accepted in outcomes) == [False, True, True, True]
        (resume,) = Run.objects.filter(resumes=run)
        at_once([partial(engine.execute_run, resume.pk)] * 4)
        assert steps.reread(resume).status == "succeeded"
        assert [result["executionCount"] for result in steps.results(resume)] == [1]
        call = interrupt.tool_call.tool_call_id
        assert execution_counter.count(run.thread.external_id, call) == 1
        assert Decision.objects.filter(interrupt=interrupt).count() == 1


def test_without_the_lock_only_the_constraints_are_left(
    committed_world, race_bob, monkeypatch, without_the_lock
):
    from inbox.actions.runs import start_run

    run, interrupt = waiting_for_an_email(committed_world)
    meeting = Meeting(2)
    monkeypatch.setattr(start_run, "check_resume", meeting.after(start_run.check_resume))
    send = partial(
        start_run.start_run,
        agent=committed_world.agent,
        request=steps.request(
            thread_id=run.thread.external_id, entries=(steps.entry(interrupt, steps.APPROVE),)
        ),
        actor=race_bob,
    )

    outcomes = at_once([send] * 2)

    assert without_the_lock.entries
    assert meeting.met
    assert [type(outcome).__name__ for outcome in failures(outcomes)] == ["IntegrityError"]


def test_eight_starts_with_one_idempotency_key_make_one_run(committed_world):
    alice = committed_world.actor(committed_world.alice)
    for number in range(rounds(short=10, long=100)):
        request = steps.request("rehearse:echo", thread_id=f"keyed-{number}")
        send = partial(
            start_run,
            agent=committed_world.agent,
            request=request,
            actor=alice,
            idempotency_key=f"key-{number}",
        )

        outcomes = at_once([send] * 8)

        assert failures(outcomes) == []
        assert len({accepted.run.pk for accepted in outcomes}) == 1
        assert sum(not accepted.replayed for accepted in outcomes) == 1
        assert Run.objects.filter(thread__external_id=f"keyed-{number}").count() == 1


def test_eight_starts_on_a_new_thread_make_one_run_and_seven_refusals(committed_world):
    alice = committed_world.actor(committed_world.alice)
    for number in range(rounds(short=5, long=50)):
        calls = [
            partial(
                start_run,
                agent=committed_world.agent,
                request=steps.request("rehearse:echo", thread_id=f"new-{number}"),
                actor=alice,
            )
            for _ in range(8)
        ]

        outcomes = at_once(calls)

        assert [type(error).__name__ for error in failures(outcomes)] == ["ThreadBusy"] * 7
        assert Run.objects.filter(thread__external_id=f"new-{number}").count() == 1
