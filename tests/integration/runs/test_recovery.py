"""Lost workers, lost rings and late answers: what the sweeper makes of them."""

import contextlib
import threading
from datetime import timedelta

import ag_ui.core as agui
import pytest
from django.db import OperationalError

from agents.port import Effect, ToolRefused
from inbox import engine, sweeper, wakeups
from inbox.actions.runs import claim, run_lease
from inbox.actions.runs.start_run import start_run
from inbox.models import ToolCall
from inbox.rules import errors
from tests.support import steps
from tests.support.agents.agent_events import (
    about,
    asking,
    assert_readable_by_the_official_client,
    finished,
    message_events,
    proposed,
)
from tests.support.agents.lost_workers import kill_while_driving, queued_resume
from tests.support.steps import (
    approve,
    open_interrupts,
    request,
    start,
)


def test_a_living_worker_keeps_its_run(world, alice):
    accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
    run_lease.claim_run(run_id=accepted.run.pk)

    sweeper.sweep()

    assert steps.reread(accepted.run).status == "running"


async def says_two_things(run_input, ctx):
    for event in message_events("one", " and two"):
        yield event
    with contextlib.suppress(ToolRefused):  # what was said is committed before this is refused
        await ctx.journal.begin("nowhere", args={}, effect=Effect.READ)
    for event in message_events("three", message_id="m2"):
        yield event
    yield finished(run_input)


@pytest.mark.parametrize("at", ["start_tool_calls", "finish_run"])
def test_a_lost_run_goes_on_where_its_last_commit_was(
    world, as_agent, alice, monkeypatch, later, at
):
    agent = as_agent(says_two_things)
    uninterrupted = start(world, "go", agent=agent)
    accepted = start_run(agent=agent, request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at=at)
    assert killed.status == "running"

    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    again = steps.reread(killed)
    assert (again.status, again.attempt) == ("succeeded", 2)
    assert steps.event_types(again) == steps.event_types(uninterrupted)


def test_a_fenced_worker_can_write_nothing_more(world, alice, later):
    accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
    _, lease = run_lease.claim_run(run_id=accepted.run.pk)
    later(seconds=60)
    sweeper.sweep()

    with pytest.raises(errors.LeaseLost):
        run_lease.append_events(lease=lease, batch=run_lease.EventBatch())
    with pytest.raises(errors.LeaseLost):
        run_lease.renew_lease(lease=lease)


def test_idempotent_tool_is_retried_with_the_same_key(world, bob, monkeypatch, later):
    resume = queued_resume(world, "tool_call", bob)
    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")
    assert ToolCall.objects.get().state == "started"

    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    assert steps.reread(killed).status == "succeeded"
    assert steps.event_types(killed).count("TOOL_CALL_RESULT") == 1


@pytest.fixture
def in_doubt(world, bob, monkeypatch, later):
    """A resume run whose worker died while a `once` tool was running."""
    resume = queued_resume(world, "effect:doubt", bob)
    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    return steps.reread(killed)


def test_a_once_tool_that_may_have_happened_becomes_a_question(in_doubt):
    assert in_doubt.status == "interrupted"
    (question,) = open_interrupts(in_doubt)
    assert question.reason == "signoff:outcome_unknown"
    assert "charge" in question.title
    assert ToolCall.objects.get().state == "in_doubt"


def test_it_happened_and_the_result_is_what_the_person_says(in_doubt, bob):
    (question,) = open_interrupts(in_doubt)

    steps.answer(question, bob, {"outcome": "happened", "result": '{"ok": true, "by": "hand"}'})
    resumed = steps.resumed_run(in_doubt)

    assert resumed.status == "succeeded"
    assert steps.results(resumed) == [{"ok": True, "by": "hand"}]


def test_it_did_not_happen_and_is_run_now(in_doubt, bob):
    (question,) = open_interrupts(in_doubt)

    steps.answer(question, bob, {"outcome": "did_not_happen"})
    resumed = steps.resumed_run(in_doubt)

    assert resumed.status == "succeeded"
    (result,) = steps.results(resumed)
    assert result["ok"] is True


@pytest.mark.parametrize("how", ["stop", "called off"])
def test_a_person_can_stop_a_doubtful_run(in_doubt, bob, how):
    (question,) = open_interrupts(in_doubt)
    before = steps.events(in_doubt.thread_id)

    if how == "stop":
        steps.answer(question, bob, {"outcome": "stop"})
    else:
        steps.call_off(question, bob)
    resumed = steps.resumed_run(in_doubt)

    assert resumed.status == "cancelled"
    assert steps.results(resumed) == []
    assert len(steps.events(in_doubt.thread_id)) > len(before)


def test_a_person_can_stop_a_doubtful_run_that_has_said_something(
    world, as_agent, alice, bob, monkeypatch, later
):
    async def acts_once(run_input, ctx):
        for event in [*message_events("one"), *proposed("t")]:
            yield event
        await ctx.journal.begin("t", args={"amount": 5}, effect=Effect.ONCE)
        await ctx.journal.settle("t", result="1")
        yield finished(run_input)

    accepted = start_run(agent=as_agent(acts_once), request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    (question,) = open_interrupts(steps.reread(killed))

    steps.answer(question, bob, {"outcome": "stop"})
    resumed = steps.resumed_run(killed)

    assert (resumed.status, resumed.error_code) == ("cancelled", "")
    assert_readable_by_the_official_client(killed.thread_id)


def test_a_worker_that_slept_past_its_lease_begins_nothing(
    world, as_agent, alice, monkeypatch, later
):
    called = []

    async def acts_once(run_input, ctx):
        for event in proposed("t"):
            yield event
        await ctx.journal.begin("t", args={"amount": 5}, effect=Effect.ONCE)
        called.append("t")
        await ctx.journal.settle("t", result="1")
        yield finished(run_input)

    begin = run_lease.start_tool_calls

    def begin_and_sleep(**arguments):
        answers = begin(**arguments)
        monkeypatch.setattr(claim, "LEASE", timedelta(seconds=-1))
        return answers

    monkeypatch.setattr(run_lease, "start_tool_calls", begin_and_sleep)
    accepted = start_run(agent=as_agent(acts_once), request=request("go"), actor=alice)

    engine.execute_run(accepted.run.pk)

    assert called == []
    later(seconds=60)
    sweeper.sweep()
    (question,) = open_interrupts(steps.reread(accepted.run))
    assert question.reason == "signoff:outcome_unknown"


def test_the_doubt_is_not_answered_by_anything_else(in_doubt, bob):
    (question,) = open_interrupts(in_doubt)

    with pytest.raises(errors.InvalidPayload):
        steps.answer(question, bob, {"outcome": "maybe"})


def test_not_restartable_agent_fails_when_its_worker_is_lost(
    world, as_agent, alice, monkeypatch, later
):
    async def play(run_input, ctx):
        for event in message_events("one"):
            yield event
        yield finished(run_input)

    agent = as_agent(play, restartable=False)
    accepted = start_run(agent=agent, request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")

    later(seconds=60)
    sweeper.sweep()

    assert (steps.reread(killed).status, steps.reread(killed).error_code) == (
        "failed",
        "WORKER_LOST",
    )


def test_an_agent_that_says_something_else_the_second_time_is_not_trusted(
    world, as_agent, alice, monkeypatch, later
):
    attempts = []

    async def play(run_input, ctx):
        attempts.append(1)
        for event in message_events(f"attempt {len(attempts)}"):
            yield event
        with contextlib.suppress(ToolRefused):  # what it said is committed before it is refused
            await ctx.journal.begin("nowhere", args={}, effect=Effect.READ)
        yield finished(run_input)

    agent = as_agent(play)
    accepted = start_run(agent=agent, request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    assert steps.reread(killed).error_code == "WORKER_LOST"


def test_a_run_that_kills_its_worker_every_time_is_given_up(
    world, as_agent, alice, monkeypatch, later
):
    async def play(run_input, ctx):
        for event in message_events("boom"):
            yield event
        yield finished(run_input)

    accepted = start_run(agent=as_agent(play), request=request("go"), actor=alice)
    for lost in (1, 2, 3):
        kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
        later(seconds=60 * lost)
        sweeper.sweep()

    run = steps.reread(accepted.run)
    assert (run.status, run.attempt, run.error_code) == ("failed", 3, "WORKER_LOST")


def test_a_run_whose_ring_was_lost_is_rung_for_again(world, alice, monkeypatch, later):
    rung = []
    accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
    monkeypatch.setattr(wakeups, "wake_workers", rung.append)
    sweeper.sweep()
    assert rung == []

    later(seconds=6)
    sweeper.sweep()

    assert rung == [accepted.run.pk]


def test_expired_interrupt_closes_and_the_thread_goes_on(world, later):
    run = start(world, "rehearse:expires_soon")
    later(seconds=2)

    sweeper.sweep()

    interrupt = run.interrupts.get()
    assert interrupt.status == "expired"
    assert interrupt.decisions.get().actor_label == "system:expiry"
    assert steps.resumed_run(run).status == "succeeded"


def test_expiry_lets_the_decisions_on_the_siblings_count(world, as_agent, bob, later):
    async def play(run_input, ctx):
        if ctx.answers:
            yield finished(run_input)
            return
        for call_id in ("c1", "c2"):
            for event in proposed(call_id=call_id):
                yield event
        yield asking(run_input, about("c1", expires_at="2020-01-01T00:00:00Z"), about("c2"))

    run = start(world, "go", agent=as_agent(play))
    late, patient = open_interrupts(run)
    approve(patient, bob)
    sweeper.sweep()

    resumed = steps.resumed_run(run)
    assert resumed.status == "succeeded"
    assert late.decisions.get().status == "cancelled"


def test_an_answer_after_expiry_is_refused_and_calling_off_is_not(world, bob, later):
    run = start(world, "rehearse:expires_soon")
    (interrupt,) = open_interrupts(run)
    later(seconds=2)

    with pytest.raises(errors.InterruptExpired):
        approve(interrupt, bob)
    steps.call_off(interrupt, bob)

    assert steps.resumed_run(run).status == "succeeded"


def test_one_run_that_cannot_be_recovered_does_not_keep_others_from_it(
    world, alice, monkeypatch, later
):
    runs = []
    for _ in range(2):
        accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
        run_lease.claim_run(run_id=accepted.run.pk)
        runs.append(accepted.run)
    original = sweeper.recover_run

    def poisoned(*, run_id, restartable):
        if run_id == runs[0].pk:
            raise ValueError("cannot be read")
        return original(run_id=run_id, restartable=restartable)

    monkeypatch.setattr(sweeper, "recover_run", poisoned)
    later(seconds=60)
    sweeper.sweep()

    assert [steps.reread(run).status for run in runs] == ["running", "queued"]


def test_a_doubt_about_a_call_with_a_long_id_can_be_asked(
    world, as_agent, alice, monkeypatch, later
):
    name = "c" * 200

    async def play(run_input, ctx):
        for event in proposed(call_id=name):
            yield event
        await ctx.journal.begin(name, args={"amount": 5}, effect=Effect.ONCE)
        await ctx.journal.settle(name, result="done")
        yield finished(run_input)

    accepted = start_run(agent=as_agent(play), request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()

    assert open_interrupts(steps.reread(killed))


def test_a_doubt_in_the_middle_of_a_step_is_continued_in_that_step(
    world, as_agent, alice, bob, monkeypatch, later
):
    async def play(run_input, ctx):
        yield agui.StepStartedEvent(step_name="pay")
        yield agui.TextMessageStartEvent(message_id="m1", role="assistant")
        yield agui.TextMessageContentEvent(message_id="m1", delta="Paying ")
        for event in proposed():
            yield event
        permit = await ctx.journal.begin("c1", args={"amount": 5}, effect=Effect.ONCE)
        if permit.result is None:
            await ctx.journal.settle("c1", result="done")
        yield agui.TextMessageContentEvent(message_id="m1", delta="now.")
        yield agui.TextMessageEndEvent(message_id="m1")
        yield agui.StepFinishedEvent(step_name="pay")
        yield finished(run_input)

    accepted = start_run(agent=as_agent(play), request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()
    (question,) = open_interrupts(steps.reread(killed))
    steps.answer(question, bob, {"outcome": "happened", "result": "done"})

    resumed = steps.resumed_run(killed)

    assert resumed.status == "succeeded"
    assert steps.event_types(resumed)[:4] == [
        "RUN_STARTED",
        "MESSAGES_SNAPSHOT",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
    ]
    assert "Paying now." in resumed.thread.messages
    assert_readable_by_the_official_client(resumed.thread_id)


def test_an_agent_that_says_less_the_second_time_is_not_trusted(
    world, as_agent, alice, monkeypatch, later
):
    attempts = []

    async def play(run_input, ctx):
        attempts.append(1)
        for event in message_events("one") if len(attempts) == 1 else ():
            yield event
        with contextlib.suppress(ToolRefused):
            await ctx.journal.begin("nowhere", args={}, effect=Effect.READ)
        yield finished(run_input)

    accepted = start_run(agent=as_agent(play), request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()
    engine.execute_run(killed.pk)

    assert steps.reread(killed).error_code == "WORKER_LOST"


def test_not_restartable_agent_is_not_restarted_after_a_call_in_doubt(
    world, as_agent, alice, monkeypatch, later
):
    async def play(run_input, ctx):
        for event in proposed():
            yield event
        await ctx.journal.begin("c1", args={"amount": 5}, effect=Effect.ONCE)
        await ctx.journal.settle("c1", result="done")
        yield finished(run_input)

    agent = as_agent(play, restartable=False)
    accepted = start_run(agent=agent, request=request("go"), actor=alice)
    killed = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    sweeper.sweep()

    assert steps.reread(killed).error_code == "WORKER_LOST"
    assert ToolCall.objects.get().state == "in_doubt"


@pytest.fixture
def _quick_ticks(monkeypatch):
    monkeypatch.setattr(sweeper, "EXPIRY_SECONDS", 0.001)


@pytest.mark.usefixtures("world", "_quick_ticks")
def test_the_sweeper_beats_as_long_as_its_looks_go_well(monkeypatch):
    stopping, looks = threading.Event(), []

    def look():
        looks.append(1)
        if len(looks) < 3:
            raise OperationalError("server closed the connection")

    monkeypatch.setattr(sweeper, "expire_overdue", look)
    monkeypatch.setattr(sweeper, "_drop_session", lambda: None)

    def beat(*, has_swept):
        stopping.set()

    sweeper.run_until(stopping, beat=beat)

    assert len(looks) == 3
