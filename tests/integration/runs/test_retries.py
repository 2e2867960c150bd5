"""Trying a failed run again: the same input, the same decisions, and nothing done twice."""

import ag_ui.core as agui
import pytest
from django.db import IntegrityError, transaction

from agents.demo_agent import execution_counter
from agents.port import Effect
from inbox import engine, sweeper
from inbox.actions.runs import run_lease
from inbox.actions.runs.recovery import recover_run
from inbox.actions.runs.retries import retry_run
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Run, ToolCall
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
    APPROVE,
    approve,
    open_interrupts,
    start,
)


class Broken(Exception):
    """What an agent raises until it is repaired."""


def retry(run, actor):
    """Try again, and drive what that made."""
    accepted = engine.retry_run(run.pk, actor)
    engine.execute_run(accepted.run.pk)
    return steps.reread(accepted.run)


class Workshop:
    """An agent that asks, charges once when it may, and breaks until it is repaired."""

    def __init__(self):
        self.charged = 0
        self.is_broken = True
        self.seen = []

    async def play(self, run_input, ctx):
        self.seen.append(
            (ctx.run_key, [answer.resume_entry.payload for answer in ctx.answers], ctx.checkpoint)
        )
        if not ctx.answers:
            for event in proposed():
                yield event
            ctx.save_checkpoint({"step": 1})
            yield asking(run_input, about())
            return
        for event in message_events("Charging now.", message_id=f"{ctx.run_key}-m"):
            yield event
        permit = await ctx.journal.begin("c1", args={"amount": 5}, effect=Effect.ONCE)
        if permit.result is None:
            self.charged += 1
            await ctx.journal.settle("c1", result="charged")
        yield agui.ToolCallResultEvent(message_id="r1", tool_call_id="c1", content="charged")
        if self.is_broken:
            raise Broken
        yield finished(run_input)


@pytest.fixture
def workshop():
    return Workshop()


@pytest.fixture(params=[True, False], ids=["restartable", "starts anew"])
def failed(request, world, as_agent, bob, workshop):
    """A resume run that failed after it had charged."""
    run = start(world, "go", agent=as_agent(workshop.play, restartable=request.param))
    approve(open_interrupts(run)[0], bob)
    return steps.resumed_run(run)


def test_failed_resume_retries_with_the_same_answers_and_charges_once(failed, workshop, alice):
    assert (failed.status, workshop.charged) == ("failed", 1)
    workshop.is_broken = False

    again = retry(failed, alice)

    assert (again.status, again.retries, again.started_by) == ("succeeded", failed, "Alice")
    assert workshop.charged == 1
    assert again.resume == failed.resume
    assert [entry[1:] for entry in workshop.seen[1:]] == [([APPROVE], {"step": 1})] * 2
    assert_readable_by_the_official_client(failed.thread_id)


def test_what_was_said_before_the_failure_is_not_said_again(world, as_agent, bob, alice, workshop):
    run = start(world, "go", agent=as_agent(workshop.play))
    approve(open_interrupts(run)[0], bob)
    broken = steps.resumed_run(run)
    workshop.is_broken = False

    again = retry(broken, alice)

    assert steps.event_types(again) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert again.thread.messages.count("Charging now.") == 1
    assert len({key for key, *_ in workshop.seen[1:]}) == 1


def test_an_agent_that_starts_anew_has_ids_of_its_own(world, as_agent, bob, alice, workshop):
    run = start(world, "go", agent=as_agent(workshop.play, restartable=False))
    approve(open_interrupts(run)[0], bob)
    broken = steps.resumed_run(run)
    workshop.is_broken = False

    again = retry(broken, alice)

    assert "TEXT_MESSAGE_START" in steps.event_types(again)
    assert len({key for key, *_ in workshop.seen[1:]}) == 2


@pytest.mark.parametrize("restartable", [True, False])
def test_a_failed_first_run_is_tried_again_with_the_same_input(world, as_agent, alice, restartable):
    inputs = []

    async def play(run_input, ctx):
        inputs.append([message.content for message in run_input.messages])
        if len(inputs) == 1:
            raise Broken
        for event in message_events("done"):
            yield event
        yield finished(run_input)

    broken = start(world, "please", agent=as_agent(play, restartable=restartable))

    again = retry(broken, alice)

    assert again.status == "succeeded"
    assert inputs == [["please"], ["please"]]
    assert_readable_by_the_official_client(broken.thread_id)


def test_a_retry_goes_on_in_the_middle_of_a_sentence(world, as_agent, alice):
    tries = []

    async def play(run_input, ctx):
        tries.append(1)
        yield agui.TextMessageStartEvent(message_id="m1", role="assistant")
        yield agui.TextMessageContentEvent(message_id="m1", delta="Half a ")
        if len(tries) == 1:
            raise Broken
        yield agui.TextMessageContentEvent(message_id="m1", delta="sentence.")
        yield agui.TextMessageEndEvent(message_id="m1")
        yield finished(run_input)

    broken = start(world, "go", agent=as_agent(play))

    again = retry(broken, alice)

    assert again.status == "succeeded"
    assert "Half a sentence." in again.thread.messages
    assert_readable_by_the_official_client(broken.thread_id)


def test_a_retry_that_fails_can_be_tried_again(failed, workshop, alice):
    second = retry(failed, alice)
    assert second.status == "failed"
    workshop.is_broken = False

    third = retry(second, alice)

    assert (third.status, third.retries, workshop.charged) == ("succeeded", second, 1)


def test_a_retry_whose_worker_is_lost_is_driven_again(
    world, as_agent, bob, alice, workshop, monkeypatch, later
):
    run = start(world, "go", agent=as_agent(workshop.play))
    approve(open_interrupts(run)[0], bob)
    broken = steps.resumed_run(run)
    workshop.is_broken = False
    accepted = engine.retry_run(broken.pk, alice)
    kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()

    engine.execute_run(accepted.run.pk)

    again = steps.reread(accepted.run)
    assert (again.status, again.attempt, workshop.charged) == ("succeeded", 2, 1)


# -- what may have happened -----------------------------------------------------------------------


@pytest.fixture
def in_doubt(world, bob, monkeypatch, later):
    """A resume run that failed with its worker, which died while a `once` tool was running."""
    resume = queued_resume(world, "effect:doubt", bob)
    kill_while_driving(resume, monkeypatch=monkeypatch, at="settle_tool_calls")
    later(seconds=60)
    recover_run(run_id=resume.pk, restartable=False)
    return steps.reread(resume)


def executions(run):
    (call,) = ToolCall.objects.filter(thread=run.thread_id)
    return execution_counter.count(run.thread.external_id, call.tool_call_id)


@pytest.fixture
def asked_again(in_doubt, alice):
    """The question that a retry of it asks before anything else."""
    assert (in_doubt.status, executions(in_doubt)) == ("failed", 1)
    again = retry(in_doubt, alice)
    assert again.status == "interrupted"
    (question,) = open_interrupts(again)
    return question


def test_what_may_have_happened_is_asked_before_anything_runs_again(asked_again):
    assert asked_again.reason == "signoff:outcome_unknown"
    assert asked_again.title == "The result of charge is unknown. Did the call take effect?"
    assert executions(asked_again.run) == 1
    assert_readable_by_the_official_client(asked_again.thread_id)


@pytest.mark.parametrize(
    ("outcome", "status", "times"),
    [
        ({"outcome": "happened", "result": '{"ok": true}'}, "succeeded", 1),
        ({"outcome": "did_not_happen"}, "succeeded", 2),
        ({"outcome": "stop"}, "cancelled", 1),
    ],
)
def test_the_retry_goes_on_with_what_a_person_says(asked_again, bob, outcome, status, times):
    steps.answer(asked_again, bob, outcome)

    resumed = steps.resumed_run(asked_again.run)

    assert resumed.status == status
    assert executions(resumed) == times
    assert_readable_by_the_official_client(resumed.thread_id)


def raising_once(called):
    """An agent whose `once` call raises, the first two times."""

    async def play(run_input, ctx):
        for event in proposed():
            yield event
        permit = await ctx.journal.begin("c1", args={"amount": 5}, effect=Effect.ONCE)
        if permit.result is None:
            called.append(1)
            if len(called) < 3:
                raise Broken
            await ctx.journal.settle("c1", result="charged")
        yield finished(run_input)

    return play


def test_a_once_call_that_raised_is_asked_about_at_once(world, as_agent, bob):
    called = []

    run = start(world, "go", agent=as_agent(raising_once(called)))

    (question,) = open_interrupts(run)
    assert (run.status, question.reason) == ("interrupted", "signoff:outcome_unknown")
    assert question.title == "The agent failed while pay was running. Did the call take effect?"
    steps.answer(question, bob, {"outcome": "happened", "result": "charged"})
    assert (steps.resumed_run(run).status, called) == ("succeeded", [1])
    assert_readable_by_the_official_client(run.thread_id)


def test_a_once_call_that_raises_again_is_asked_about_again(world, as_agent, bob):
    called = []
    run = start(world, "go", agent=as_agent(raising_once(called)))
    for _ in range(2):
        (question,) = open_interrupts(run)
        steps.answer(question, bob, {"outcome": "did_not_happen"})
        run = steps.resumed_run(run)

    assert (run.status, called) == ("succeeded", [1, 1, 1])
    assert_readable_by_the_official_client(run.thread_id)


@pytest.mark.parametrize("outcome", [None, {"outcome": "stop"}])
def test_who_stops_a_call_that_raised_stops_the_run(world, as_agent, bob, outcome):
    called = []
    run = start(world, "go", agent=as_agent(raising_once(called)))
    (question,) = open_interrupts(run)

    if outcome is None:
        steps.call_off(question, bob)
    else:
        steps.answer(question, bob, outcome)

    assert (steps.resumed_run(run).status, called) == ("cancelled", [1])


def test_a_once_call_of_an_agent_that_would_start_anew_is_no_question(world, as_agent):
    failed = start(world, "go", agent=as_agent(raising_once([]), restartable=False))

    assert (failed.status, failed.error_code) == ("failed", "AGENT_ERROR")
    assert ToolCall.objects.get().state == "in_doubt"


def test_an_agent_that_would_start_anew_does_not_repeat_a_call_of_its_own(world, as_agent, alice):
    async def play(run_input, ctx):
        for event in proposed():
            yield event
        await ctx.journal.begin("c1", args={"amount": 5}, effect=Effect.ONCE)
        await ctx.journal.settle("c1", result="charged")
        raise Broken

    broken = start(world, "go", agent=as_agent(play, restartable=False))

    with pytest.raises(errors.RetryRejected, match="must not be called twice"):
        engine.retry_run(broken.pk, alice)

    assert Run.objects.count() == 1


# -- what is refused, and what is the same again --------------------------------------------------


def test_a_run_is_retried_once_however_often_that_is_asked_for(failed, alice, bob):
    first = engine.retry_run(failed.pk, alice)
    again = engine.retry_run(failed.pk, bob)

    assert (again.run, first.replayed, again.replayed) == (first.run, False, True)
    assert AuditEntry.objects.filter(action="run.retried").count() == 1


def test_the_database_refuses_a_second_retry(failed, alice):
    retry(failed, alice)

    with pytest.raises(IntegrityError), transaction.atomic():
        Run(
            thread=failed.thread,
            external_id="again",
            retries=failed,
            status="cancelled",
            first_seq=1,
            queued_at=failed.queued_at,
        ).save(force_insert=True)


@pytest.mark.parametrize("scenario", ["echo", "tool_call"])
def test_only_a_failed_run_is_tried_again(world, alice, scenario):
    run = start(world, f"rehearse:{scenario}")

    with pytest.raises(errors.RetryRejected):
        engine.retry_run(run.pk, alice)


def test_a_run_that_is_going_on_is_not_tried_again(world, alice):
    accepted = start_run(agent=world.agent, request=steps.request("rehearse:echo"), actor=alice)
    run_lease.claim_run(run_id=accepted.run.pk)

    with pytest.raises(errors.RetryRejected):
        engine.retry_run(accepted.run.pk, alice)


def test_a_thread_that_went_on_does_not_go_back(world, alice):
    broken = start(world, "rehearse:error")
    assert broken.status == "failed"
    start(world, "hello", thread_id=broken.thread.external_id)

    with pytest.raises(errors.RetryRejected, match="has continued"):
        engine.retry_run(broken.pk, alice)


def test_a_stranger_retries_nothing(failed, carol):
    with pytest.raises(errors.NotFound):
        engine.retry_run(failed.pk, carol)


def test_a_key_needs_the_scope_to_run(world, failed):
    from inbox.actions.people.api_keys import make_key
    from inbox.queries.people.api_keys import actor_of_key
    from inbox.rules.people.access import SEED, Permission

    scopes = {Permission.READ, Permission.DECIDE}
    _, token = make_key(team_id=world.team.pk, name="k", scopes=scopes, actor=SEED)

    with pytest.raises(errors.Forbidden):
        engine.retry_run(failed.pk, actor_of_key(token))


def test_a_run_that_is_nowhere_is_not_found(world, alice):
    from uuid import uuid4

    with pytest.raises(errors.NotFound):
        retry_run(run_id=uuid4(), actor=alice, restartable=True)


def test_a_client_that_sends_its_answers_again_is_led_to_the_retry(failed, world, bob, alice):
    again = engine.retry_run(failed.pk, alice).run
    question = failed.resumes.interrupts.get()
    request = steps.request(
        thread_id=failed.thread.external_id, entries=(steps.entry(question, APPROVE),)
    )

    accepted = start_run(agent=failed.thread.agent, request=request, actor=bob)

    assert (accepted.run, accepted.replayed) == (again, True)


def test_a_retry_is_in_the_audit_trail(failed, alice):
    again = engine.retry_run(failed.pk, alice).run

    entry = AuditEntry.objects.get(action="run.retried")
    assert (entry.run, entry.content["actor"]) == (again, "Alice")
    assert str(failed.pk) in entry.payload.text


def test_a_killed_worker_leaves_a_run_that_can_be_tried_again(
    world, as_agent, alice, monkeypatch, later
):
    async def play(run_input, ctx):
        for event in message_events("one"):
            yield event
        yield finished(run_input)

    agent = as_agent(play, restartable=False)
    accepted = start_run(agent=agent, request=steps.request("go"), actor=alice)
    lost = kill_while_driving(accepted.run, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()
    assert steps.reread(lost).error_code == "WORKER_LOST"

    assert retry(lost, alice).status == "succeeded"
