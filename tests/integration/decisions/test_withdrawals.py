"""Taking an answer back, as long as the agent has not got it."""

import contextlib
import json
from datetime import timedelta

import ag_ui.core as agui
import pytest

from agents.port import Effect, ToolRefused
from inbox import sweeper
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.members import change_team, make_team
from inbox.actions.runs.resume import resume_if_due
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Decision, Run, ToolCall
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules import errors
from inbox.rules.decisions.teamwork.collaboration import withdrawable_until
from inbox.rules.people.access import SEED
from tests.integration.decisions.test_decide import ask_twice_about_one_call
from tests.support import steps
from tests.support.agents.agent_events import about, asking, finished, proposed
from tests.support.steps import (
    APPROVE,
    DENY,
    approve,
    call_off,
    deny,
    open_interrupts,
    start,
)

EDITED = {**APPROVE, "editedArgs": {"amount": 9}}


@pytest.fixture
def three(world):
    """The three questions of a run."""
    return open_interrupts(start(world, "rehearse:parallel3"))


@pytest.fixture
def grace(world):
    """A minute in which a complete set can be taken apart again."""
    change_team(team_id=world.team.pk, grace_seconds=60, actor=SEED)


def withdraw(interrupt, actor):
    return withdraw_decision(interrupt_id=interrupt.pk, actor=actor)


def resumes(interrupt):
    return list(Run.objects.filter(resumes=interrupt.run))


# -- while the set is incomplete ------------------------------------------------------------------


def test_an_answer_taken_back_leaves_the_question_open_and_stays_as_a_row(three, bob):
    first, *_ = three
    decision = approve(first, bob)

    withdrawn = withdraw(first, bob)

    assert withdrawn == decision
    assert withdrawn.withdrawn_at is not None
    again = steps.reread(first)
    assert (again.status, again.closed_at) == ("open", None)


def test_another_answer_can_be_given_instead_and_is_what_the_agent_gets(three, bob, dora):
    first, second, third = three
    approve(first, bob)
    withdraw(first, bob)
    deny(first, dora)
    for interrupt in (second, third):
        approve(interrupt, bob)

    resumed = steps.resumed_run(first.run)

    assert [result["ok"] for result in steps.results(resumed)] == [False, True, True]
    assert Decision.objects.filter(interrupt=first).count() == 2


def test_taking_back_twice_is_taking_back_once(three, bob):
    first, *_ = three
    approve(first, bob)
    once = withdraw(first, bob)

    again = withdraw(first, bob)

    assert again.withdrawn_at == once.withdrawn_at
    assert AuditEntry.objects.filter(action="decision.withdrawn").count() == 1


def test_only_the_author_takes_an_answer_back(three, bob, dora, robot, alice, carol):
    first, *_ = three
    approve(first, bob)

    for nobody in (dora, robot, alice):
        with pytest.raises(errors.Forbidden):
            withdraw(first, nobody)
    with pytest.raises(errors.NotFound):
        withdraw(first, carol)

    assert steps.reread(first).status == "resolved"


def test_an_answer_that_another_gave_later_is_not_mine_to_take_back(three, bob, dora):
    first, *_ = three
    approve(first, bob)
    withdraw(first, bob)
    approve(first, dora)

    with pytest.raises(errors.Forbidden):
        withdraw(first, bob)

    assert steps.reread(first).status == "resolved"


def test_where_nobody_answered_there_is_nothing_to_take_back(three, bob):
    with pytest.raises(errors.Forbidden):
        withdraw(three[0], bob)


def test_a_key_takes_back_what_it_answered(three, robot):
    first, *_ = three
    approve(first, robot)

    withdraw(first, robot)

    assert steps.reread(first).status == "open"


def test_who_may_not_decide_any_more_takes_nothing_back(three, world, bob):
    first, *_ = three
    approve(first, bob)
    world.bob.memberships.update(role="viewer")

    with pytest.raises(errors.Forbidden):
        withdraw(first, bob)


@pytest.mark.parametrize("answer", [approve, call_off], ids=["answered", "called off"])
def test_what_expired_meanwhile_is_not_opened_again(three, bob, later, answer):
    first, *_ = three
    answer(first, bob)
    later(hours=2)

    with pytest.raises(errors.InterruptExpired):
        withdraw(first, bob)

    assert steps.reread(first).status != "open"


def test_an_answer_that_has_resumed_the_run_stays(world, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)

    with pytest.raises(errors.AlreadyResumed):
        withdraw(interrupt, bob)

    assert steps.reread(interrupt).status == "resolved"
    assert resumes(interrupt)


def test_the_page_knows_who_may_take_back_and_until_when(three, bob, dora):
    first, second, third = three
    approve(first, bob)

    mine, other = (detail_for(actor, first.pk) for actor in (bob, dora))
    assert (mine.may_withdraw, mine.withdraw_until) == (True, first.expires_at)
    assert not other.may_withdraw
    assert not detail_for(bob, second.pk).may_withdraw
    approve(second, bob)
    approve(third, bob)
    assert not detail_for(bob, first.pk).may_withdraw


def test_it_leaves_an_entry_in_the_audit_trail(three, bob):
    first, *_ = three
    decision = approve(first, bob)
    withdraw(first, bob)

    entry = AuditEntry.objects.filter(interrupt=first).order_by("pk").last()
    assert (entry.action, entry.content["actor"]) == ("decision.withdrawn", "Bob")
    assert entry.content["detail"] == {"decision": str(decision.pk)}


# -- what it means for the tool call --------------------------------------------------------------


def test_edits_that_were_taken_back_do_not_run(three, bob):
    first, *others = three
    approve(first, bob, editedArgs={"to": "wrong@example.com"})
    withdraw(first, bob)
    for interrupt in (first, *others):
        approve(interrupt, bob)

    result, *_ = steps.results(steps.resumed_run(first.run))

    assert result["args"]["to"] == "dana@example.com"


@pytest.mark.parametrize("answer", [deny, call_off], ids=["denied", "called off"])
def test_a_denial_that_was_taken_back_keeps_nothing_from_running(three, bob, answer):
    first, *others = three
    answer(first, bob)
    assert ToolCall.objects.get(pk=first.tool_call_id).state == "not_run"

    withdraw(first, bob)

    assert ToolCall.objects.get(pk=first.tool_call_id).state == "proposed"
    for interrupt in (first, *others):
        approve(interrupt, bob)
    assert steps.results(steps.resumed_run(first.run))[0]["ok"] is True


@pytest.fixture
def twice(world, as_agent):
    """Two questions about one call, and a third one about nothing; with what was executed."""
    ran = []

    async def play(run_input, ctx):
        if not ctx.answers:
            *before, last = ask_twice_about_one_call(run_input)
            for event in before:
                yield event
            more = agui.Interrupt(id="third", reason="confirmation")
            yield asking(run_input, *last.outcome.interrupts, more)
            return
        for args in ({"amount": 9}, {"amount": 5}):
            with contextlib.suppress(ToolRefused):
                await ctx.journal.begin("c1", args=args, effect=Effect.ONCE)
                ran.append(args)
                break
        yield finished(run_input)

    run = start(world, "go", agent=as_agent(play))
    return open_interrupts(run), ran


@pytest.mark.parametrize(
    ("answers", "taken_back", "expected"),
    [
        ([DENY, EDITED], 0, {"amount": 9}),
        ([DENY, APPROVE], 0, {"amount": 5}),
        ([EDITED, DENY], 1, {"amount": 9}),
        ([EDITED, DENY], 0, None),
        ([DENY, DENY], 0, None),
        ([EDITED, APPROVE], 0, {"amount": 5}),
        ([APPROVE, EDITED], 1, {"amount": 5}),
    ],
)
def test_of_two_questions_about_one_call_the_answer_that_stands_counts(
    twice, bob, answers, taken_back, expected
):
    (*pair, _), _ = twice
    for interrupt, payload in zip(pair, answers, strict=True):
        steps.answer(interrupt, bob, payload)

    withdraw(pair[taken_back], bob)

    call = ToolCall.objects.get()
    if expected is None:
        assert call.state == "not_run"
    else:
        assert (call.state, json.loads(call.approved_args)) == ("proposed", expected)


def test_taking_back_both_one_after_the_other_leaves_the_call_as_it_was(twice, bob):
    (first, second, _), _ = twice
    steps.answer(first, bob, DENY)
    steps.answer(second, bob, EDITED)
    withdraw(first, bob)
    steps.answer(first, bob, {**APPROVE, "editedArgs": {"amount": 7}})
    withdraw(second, bob)
    assert json.loads(ToolCall.objects.get().approved_args) == {"amount": 7}

    withdraw(first, bob)

    call = ToolCall.objects.get()
    assert (call.state, call.edited_args) == ("proposed", None)


def test_what_runs_is_what_stands_after_a_withdrawal(twice, bob):
    (first, second, third), ran = twice
    steps.answer(first, bob, DENY)
    steps.answer(second, bob, EDITED)
    withdraw(first, bob)
    steps.answer(first, bob, APPROVE)
    steps.answer(third, bob, APPROVE)

    steps.resumed_run(first.run)

    assert ran == [{"amount": 9}]


def test_edits_of_an_earlier_run_survive_a_withdrawal(world, as_agent, bob):
    async def play(run_input, ctx):
        if not ctx.answers:
            for event in proposed():
                yield event
            ctx.save_checkpoint("asked once")
            yield asking(run_input, about())
        elif ctx.checkpoint == "asked once":
            ctx.save_checkpoint("asked twice")
            more = agui.Interrupt(id="more", reason="confirmation")
            yield asking(run_input, about().model_copy(update={"id": "again"}), more)
        else:
            yield finished(run_input)

    run = start(world, "go", agent=as_agent(play))
    steps.answer(open_interrupts(run)[0], bob, EDITED)
    again, _ = open_interrupts(steps.resumed_run(run))
    steps.answer(again, bob, {**APPROVE, "editedArgs": {"amount": 1}})

    withdraw(again, bob)

    assert json.loads(ToolCall.objects.get().approved_args) == {"amount": 9}


# -- the grace period -----------------------------------------------------------------------------


def test_a_complete_set_waits_for_the_grace_period_and_resumes_once(world, bob, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    decision = approve(interrupt, bob)
    sweeper.handle_due_times()
    assert resumes(interrupt) == []
    assert steps.reread(interrupt.run).resume_at == decision.created_at + timedelta(seconds=60)

    later(seconds=60)
    sweeper.handle_due_times()
    sweeper.handle_due_times()

    (resume,) = resumes(interrupt)
    assert (resume.status, resume.started_by) == ("queued", "Bob")
    assert steps.reread(interrupt.run).resume_at is None
    assert steps.resumed_run(interrupt.run).status == "succeeded"


def test_answers_of_keys_do_not_wait_for_the_grace_period(world, robot, grace):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    approve(interrupt, robot)

    assert len(resumes(interrupt)) == 1


def test_a_new_team_has_ten_seconds_to_undo(world):
    assert make_team(slug="ops", name="Ops", actor=SEED).grace_seconds == 10


def test_within_the_grace_period_the_last_answer_is_taken_back(world, bob, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)
    assert detail_for(bob, interrupt.pk).may_withdraw
    assert detail_for(bob, interrupt.pk).withdraw_until == steps.reread(interrupt.run).resume_at

    withdraw(interrupt, bob)

    assert steps.reread(interrupt.run).resume_at is None
    later(seconds=60)
    sweeper.handle_due_times()
    assert resumes(interrupt) == []
    assert steps.reread(interrupt).status == "open"


def test_a_set_completed_anew_waits_anew(world, bob, dora, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)
    withdraw(interrupt, bob)
    later(seconds=40)
    deny(interrupt, dora)

    later(seconds=90)
    sweeper.handle_due_times()
    assert resumes(interrupt) == []
    later(seconds=101)
    sweeper.handle_due_times()

    assert steps.results(steps.resumed_run(interrupt.run))[0]["denied"] is True


def test_withdrawal_after_the_grace_period_fails_before_the_sweep_too(world, bob, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)
    later(seconds=60)

    with pytest.raises(errors.AlreadyResumed):
        withdraw(interrupt, bob)

    assert not detail_for(bob, interrupt.pk).may_withdraw


def test_a_thread_in_its_grace_period_takes_no_other_input(world, alice, bob, grace):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)

    with pytest.raises(errors.PendingInterrupts):
        start(world, "hello", thread_id=interrupt.thread.external_id)


def test_the_doors_own_resume_waits_for_nothing(world, bob, grace):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    start_run(agent=world.agent, request=_answers([interrupt]), actor=bob)

    assert len(resumes(interrupt)) == 1
    assert steps.reread(interrupt.run).resume_at is None


def test_the_door_ends_the_grace_period_by_sending_every_answer_again(world, bob, grace, later):
    questions = open_interrupts(start(world, "rehearse:parallel3"))
    for interrupt in questions:
        approve(interrupt, bob)
    with pytest.raises(errors.PartialResume):
        start_run(agent=world.agent, request=_answers(questions[:1]), actor=bob)
    assert resumes(questions[0]) == []

    start_run(agent=world.agent, request=_answers(questions), actor=bob)

    (resume,) = resumes(questions[0])
    assert steps.reread(questions[0].run).resume_at is None
    later(seconds=60)
    sweeper.handle_due_times()
    assert resumes(questions[0]) == [resume]
    with pytest.raises(errors.AlreadyResumed):
        withdraw(questions[0], bob)


def _answers(questions):
    return steps.request(
        thread_id=questions[0].thread.external_id,
        entries=tuple(steps.entry(interrupt, APPROVE) for interrupt in questions),
    )


def test_what_nobody_answered_waits_for_nobody(world, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:expires_soon"))
    later(seconds=5)

    sweeper.handle_due_times()

    assert len(resumes(interrupt)) == 1


def test_an_answer_beside_an_expired_one_can_still_be_taken_back(
    world, as_agent, bob, grace, later
):
    async def play(run_input, ctx):
        if ctx.answers:
            yield finished(run_input)
            return
        for call_id in ("c1", "c2"):
            for event in proposed(call_id=call_id):
                yield event
        yield asking(run_input, about("c1", expires_at="2020-01-01T00:00:00Z"), about("c2"))

    late, patient = open_interrupts(start(world, "go", agent=as_agent(play)))
    approve(patient, bob)
    sweeper.handle_due_times()
    assert resumes(late) == []

    withdraw(patient, bob)

    assert (steps.reread(late).status, steps.reread(patient).status) == ("expired", "open")


def test_only_what_is_due_is_resumed(world, bob, grace, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    assert resume_if_due(run_id=interrupt.run_id) is None
    approve(interrupt, bob)
    assert resume_if_due(run_id=interrupt.run_id) is None
    later(seconds=60)

    assert resume_if_due(run_id=interrupt.run_id) is not None
    assert resume_if_due(run_id=interrupt.run_id) is None


def test_until_when_an_answer_can_be_taken_back_is_a_rule(three):
    soon, late = (three[0].created_at + timedelta(minutes=minutes) for minutes in (1, 2))

    assert withdrawable_until(is_resumed=False, resume_at=None, expires_at=None) is None
    assert withdrawable_until(is_resumed=False, resume_at=late, expires_at=soon) == soon
    assert withdrawable_until(is_resumed=False, resume_at=soon, expires_at=late) == soon
    with pytest.raises(errors.AlreadyResumed):
        withdrawable_until(is_resumed=True, resume_at=soon, expires_at=late)


# -- setting it -----------------------------------------------------------------------------------


def test_only_admins_set_the_grace_period(world, alice, bob, carol):
    for nobody, refusal in (
        (alice, errors.Forbidden),
        (bob, errors.Forbidden),
        (carol, errors.NotFound),
    ):
        with pytest.raises(refusal):
            change_team(team_id=world.team.pk, grace_seconds=5, actor=nobody)

    assert steps.reread(world.team).grace_seconds == 0


def test_setting_the_grace_period_is_in_the_audit_trail_once(world):
    world.bob.memberships.update(role="admin")
    for _ in range(2):
        change_team(team_id=world.team.pk, grace_seconds=5, actor=world.actor(world.bob))

    entry = AuditEntry.objects.get(action="team.grace_set")
    assert (entry.content["actor"], entry.content["detail"]) == (
        "Bob",
        {"seconds": 5},
    )
    assert steps.reread(world.team).grace_seconds == 5


@pytest.mark.parametrize("seconds", [-1, 3601])
def test_a_grace_period_has_bounds(world, seconds):
    with pytest.raises(errors.InvalidValue):
        change_team(team_id=world.team.pk, grace_seconds=seconds, actor=SEED)
