"""Deciding interrupts: who may, who was first, and what it sets going."""

import contextlib
import json

import pytest
from django.db import IntegrityError, transaction

from agents.port import Effect, ToolRefused
from inbox.actions.decisions.decide import decide
from inbox.actions.runs.start_run import start_run
from inbox.models import Decision, Run
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.agents.agent_events import about, asking, finished, proposed
from tests.support.steps import (
    APPROVE,
    approve,
    call_off,
    deny,
    open_interrupts,
    start,
)


@pytest.fixture
def waiting(world):
    return start(world, "rehearse:tool_call")


def test_approved_tool_call_runs_once_and_answers_the_original_call(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    approve(interrupt, bob)
    resumed = steps.resumed_run(waiting)

    assert resumed.status == "succeeded"
    assert steps.results(resumed) == [
        {
            "ok": True,
            "args": {"to": "dana@example.com", "subject": "Your invoice"},
            "executionCount": 1,
        }
    ]
    result = next(e for e in steps.events(waiting.thread_id) if e["type"] == "TOOL_CALL_RESULT")
    assert result["toolCallId"] == interrupt.tool_call.tool_call_id
    assert steps.event_types(resumed).count("TOOL_CALL_START") == 0


def test_edited_arguments_replace_the_proposed_ones(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    approve(interrupt, bob, editedArgs={"to": "x@example.com"})

    (result,) = steps.results(steps.resumed_run(waiting))
    assert result["args"] == {"to": "x@example.com"}


def test_a_denied_tool_call_does_not_run_and_the_reason_reaches_the_agent(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    deny(interrupt, bob)

    (result,) = steps.results(steps.resumed_run(waiting))
    assert result == {"ok": False, "denied": True, "reason": "not today"}


def test_a_cancelled_tool_call_does_not_run(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    call_off(interrupt, bob)

    resumed = steps.resumed_run(waiting)
    assert resumed.status == "succeeded"
    assert not any(result.get("ok") for result in steps.results(resumed))


def test_the_run_is_resumed_by_the_last_decision_and_by_no_earlier_one(world, bob):
    run = start(world, "rehearse:parallel3")
    first, second, third = open_interrupts(run)

    approve(first, bob)
    deny(second, bob)
    assert not Run.objects.filter(resumes=run).exists()
    call_off(third, bob)

    resumed = steps.resumed_run(run)
    assert [result["ok"] for result in steps.results(resumed)] == [True, False, False]
    statuses = [entry["status"] for entry in json.loads(resumed.resume)]
    assert statuses == ["resolved", "resolved", "cancelled"]


def test_a_viewer_sees_but_may_not_decide(waiting, alice):
    (interrupt,) = open_interrupts(waiting)

    with pytest.raises(errors.Forbidden):
        approve(interrupt, alice)

    assert open_interrupts(waiting) == [interrupt]


def test_for_a_stranger_the_interrupt_does_not_exist(waiting, carol):
    (interrupt,) = open_interrupts(waiting)

    with pytest.raises(errors.NotFound):
        approve(interrupt, carol)


def test_an_ex_member_may_not_decide(waiting, world, bob):
    (interrupt,) = open_interrupts(waiting)
    world.bob.memberships.all().delete()

    with pytest.raises(errors.NotFound):
        approve(interrupt, bob)


def test_a_deactivated_member_may_not_decide(waiting, world, bob):
    (interrupt,) = open_interrupts(waiting)
    world.bob.is_active = False
    world.bob.save()

    with pytest.raises(errors.Unauthenticated):
        approve(interrupt, bob)


def test_the_slower_reviewer_is_told_who_was_faster_and_when(waiting, world, bob):
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    dora = add_member(
        team=world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    (interrupt,) = open_interrupts(waiting)
    decision = approve(interrupt, bob)

    with pytest.raises(errors.AlreadyDecided) as refused:
        approve(interrupt, world.actor(dora))

    assert refused.value.detail == {
        "by": "Bob",
        "at": decision.created_at.isoformat(),
        "closed_as": "resolved",
    }


def test_the_same_decision_again_is_the_decision_that_stands(waiting, bob):
    (interrupt,) = open_interrupts(waiting)
    first = approve(interrupt, bob)

    again = approve(interrupt, bob)

    assert again == first
    assert Decision.objects.count() == 1
    assert Run.objects.filter(resumes=waiting).count() == 1


def test_another_decision_by_the_same_person_is_refused(waiting, bob):
    (interrupt,) = open_interrupts(waiting)
    approve(interrupt, bob)

    with pytest.raises(errors.AlreadyDecided):
        deny(interrupt, bob)


def test_an_answer_that_does_not_fit_changes_nothing(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    with pytest.raises(errors.InvalidPayload):
        steps.answer(interrupt, bob, {"approved": "true"})

    assert open_interrupts(waiting) == [interrupt]
    assert not Decision.objects.exists()


def test_an_answer_keeps_all_digits_of_an_integer(world, bob):
    run = start(world, "rehearse:custom_reason")
    (interrupt,) = open_interrupts(run)

    steps.answer(interrupt, bob, {"amount": 2**60})

    assert json.loads(Decision.objects.get(interrupt=interrupt).payload) == {"amount": 2**60}


def test_a_decision_on_what_was_shown_before_it_changed_is_refused(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    with pytest.raises(errors.ViewChanged):
        decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload=APPROVE,
            actor=bob,
            view_digest="0" * 64,
            entrance=Entrance.REST,
        )

    assert open_interrupts(waiting) == [interrupt]


def test_what_another_answer_has_changed_was_not_shown(world, as_agent, bob):
    async def play(run_input, _context):
        for event in ask_twice_about_one_call(run_input):
            yield event

    first, second = open_interrupts(start(world, "go", agent=as_agent(play)))
    before = second.shown_digest
    approve(first, bob, editedArgs={"amount": 9})

    with pytest.raises(errors.ViewChanged):
        decide(
            interrupt_id=second.pk,
            status=EntryStatus.RESOLVED,
            payload=APPROVE,
            actor=bob,
            view_digest=before,
            entrance=Entrance.REST,
        )

    assert steps.reread(second).shown_digest != before


def test_a_decision_keeps_the_digest_of_what_was_shown(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    decision = decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=APPROVE,
        actor=bob,
        view_digest=interrupt.view_digest,
        entrance=Entrance.REST,
    )

    assert decision.view_digest == interrupt.view_digest


def test_every_step_leaves_its_audit_entry(waiting, bob):
    (interrupt,) = open_interrupts(waiting)

    approve(interrupt, bob)
    steps.resumed_run(waiting)

    assert steps.audit_actions(waiting.thread) == [
        "run.started",
        "interrupt.opened",
        "run.interrupted",
        "interrupt.resolved",
        "resume.queued",
        "tool.started",
        "tool.settled",
        "run.succeeded",
    ]


def test_the_database_refuses_a_second_standing_decision(waiting, bob):
    (interrupt,) = open_interrupts(waiting)
    decision = approve(interrupt, bob)
    decision.pk = None

    with pytest.raises(IntegrityError), transaction.atomic():
        Decision(
            interrupt=interrupt,
            status="resolved",
            actor_kind="human",
            actor_label="Bob",
            created_at=decision.created_at,
        ).save(force_insert=True)


def test_the_database_refuses_a_second_resume(waiting, bob):
    (interrupt,) = open_interrupts(waiting)
    approve(interrupt, bob)
    steps.resumed_run(waiting)

    with pytest.raises(IntegrityError), transaction.atomic():
        Run(
            thread=waiting.thread,
            external_id="again",
            resumes=waiting,
            status="cancelled",
            first_seq=1,
            queued_at=waiting.queued_at,
        ).save(force_insert=True)


def ask_twice_about_one_call(run_input):
    yield from proposed()
    yield asking(run_input, about(), about("c1").model_copy(update={"id": "second"}))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["denied last", "denied first"])
def test_a_denial_stands_whatever_else_is_approved_about_the_call(world, as_agent, bob, order):
    ran = []

    async def play(run_input, ctx):
        if not ctx.answers:
            for event in ask_twice_about_one_call(run_input):
                yield event
            return
        with contextlib.suppress(ToolRefused):
            await ctx.journal.begin("c1", args={"amount": 9}, effect=Effect.ONCE)
            ran.append(1)
        yield finished(run_input)

    agent = as_agent(play)
    run = start(world, "go", agent=agent, thread_id="t1")
    questions = open_interrupts(run)
    payloads = [{**APPROVE, "editedArgs": {"amount": 9}}, steps.DENY]
    entries = tuple(steps.entry(questions[i], payloads[i]) for i in order)

    accepted = start_run(
        agent=agent, request=steps.request(thread_id="t1", entries=entries), actor=bob
    )
    steps.drive(accepted)

    assert ran == []


def test_a_second_question_about_a_call_shows_the_arguments_that_will_run(world, as_agent, bob):
    async def play(run_input, ctx):
        if not ctx.answers:
            for event in proposed(args='{"amount": 1}'):
                yield event
        if len(ctx.answers) == 0 or ctx.checkpoint is None:
            ctx.save_checkpoint("asked once")
            yield asking(run_input, about())
        elif ctx.checkpoint == "asked once":
            ctx.save_checkpoint("asked twice")
            yield asking(run_input, about().model_copy(update={"id": "again"}))
        else:
            yield finished(run_input)

    run = start(world, "go", agent=as_agent(play))
    (first,) = open_interrupts(run)
    assert detail_for(bob, first.pk).args == {"amount": 1}
    approve(first, bob, editedArgs={"amount": 1_000_000})

    (second,) = open_interrupts(steps.resumed_run(run))

    assert detail_for(bob, second.pk).args == {"amount": 1_000_000}


def test_a_large_set_is_decided_one_by_one_without_loading_it_every_time(
    world, bob, django_assert_max_num_queries
):
    run = start(world, "rehearse:parallel:50")
    first, *_ = open_interrupts(run)

    with django_assert_max_num_queries(18):
        approve(first, bob)


def test_a_payload_beside_a_cancellation_is_dropped(waiting, world, bob):
    (interrupt,) = open_interrupts(waiting)

    decision = decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.CANCELLED,
        payload={"approved": True},
        view_digest=interrupt.shown_digest,
        actor=bob,
        entrance=Entrance.REST,
    )

    assert decision.payload is None
    assert json.loads(Run.objects.get(resumes=waiting).resume)[0].keys() == {
        "interruptId",
        "status",
    }
