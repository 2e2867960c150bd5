"""Agents of every framework that has an adapter, on the real engine: the same desk in each."""

import base64
import json
import re
from datetime import timedelta

import pytest

from agents.examples import desk
from agents.sdk.context import ToolError
from inbox import engine, sweeper
from inbox.actions.runs.start_run import start_run
from inbox.models import Memory, Run, ToolCall
from inbox.rules import errors
from tests.support import steps
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.steps import open_interrupts, resumed_run, start


def answers(run):
    """What the run said, all of its messages in one."""
    deltas = run.events.filter(type="TEXT_MESSAGE_CONTENT").order_by("seq")
    return "".join(json.loads(event.body)["delta"] for event in deltas)


def results(run):
    """The contents of the run's TOOL_CALL_RESULT events, as they are."""
    events = run.events.filter(type="TOOL_CALL_RESULT").order_by("seq")
    return [json.loads(event.body)["content"] for event in events]


def test_a_call_that_nobody_has_to_approve_is_made_at_once(world, refunds):
    run = start(world, "Refund A1 for 5.", agent=refunds.agent)

    assert run.status == "succeeded"
    assert refunds.paid == [("A1", 5)]
    assert results(run) == ["refunded $5.00 for A1"]
    assert answers(run) == "Let me see.Done: refunded $5.00 for A1."
    call = ToolCall.objects.get()
    assert (call.effect, call.state) == ("once", "settled")


def test_an_approved_call_is_made_once_and_its_result_goes_to_the_call(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    (interrupt,) = open_interrupts(run)
    body = json.loads(interrupt.body)
    assert (run.status, refunds.paid) == ("interrupted", [])
    assert body["message"] == "Refund $30.00 for order A1"
    assert json.loads(interrupt.tool_call.args) == {"order": "A1", "amount": 30}
    steps.approve(interrupt, bob)

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert refunds.paid == [("A1", 30)]
    assert answers(resumed) == "Done: refunded $30.00 for A1."
    assert "TOOL_CALL_START" not in steps.event_types(resumed)
    assert ToolCall.objects.get().result == "refunded $30.00 for A1"


def test_the_edited_arguments_are_what_runs(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob, editedArgs={"order": "A1", "amount": 25})

    resumed = resumed_run(run)

    assert refunds.paid == [("A1", 25)]
    assert answers(resumed) == "Done: refunded $25.00 for A1."


def test_edited_arguments_that_the_tool_rejects_are_refused(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)

    with pytest.raises(errors.InvalidPayload):
        steps.approve(open_interrupts(run)[0], bob, editedArgs={"order": "A1", "amount": -1})

    assert refunds.paid == []


def test_a_denied_call_is_not_made_and_the_model_hears_why(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.deny(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert refunds.paid == []
    assert steps.results(resumed) == [{"ok": False, "denied": True, "reason": "not today"}]
    assert "not today" in answers(resumed)


def test_a_call_that_is_called_off_is_not_made(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.call_off(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert (resumed.status, refunds.paid) == ("succeeded", [])
    assert steps.results(resumed) == [{"ok": False, "cancelled": True}]


def test_a_question_is_answered_and_the_model_hears_the_answer(world, refunds, bob):
    run = start(world, "Ask why.", agent=refunds.agent)
    (interrupt,) = open_interrupts(run)
    body = json.loads(interrupt.body)
    assert (body["reason"], body["message"]) == ("input_required", "Why is it refunded?")
    with pytest.raises(errors.InvalidPayload):
        steps.answer(interrupt, bob, "x")
    steps.answer(interrupt, bob, "It broke.")

    resumed = resumed_run(run)

    assert results(resumed) == ["It broke."]
    assert answers(resumed) == "Done: It broke.."


def test_a_question_that_is_called_off_goes_on_without_an_answer(world, refunds, bob):
    run = start(world, "Ask why.", agent=refunds.agent)
    steps.call_off(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert steps.results(resumed) == [{"ok": False, "cancelled": True}]


def test_calls_in_parallel_wait_for_two_people_and_go_on_once(world, refunds, bob, dora):
    text = "Refund A1 for 30, A2 for 5 and A3 for 40. Ask why."
    run = start(world, text, agent=refunds.agent)
    assert refunds.paid == ([("A2", 5)] if refunds.goes_ahead else [])
    first, second, question = open_interrupts(run)
    steps.approve(first, bob)
    steps.deny(second, dora)
    assert not Run.objects.filter(resumes=run).exists()
    steps.answer(question, bob, "It broke.")

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert sorted(refunds.paid) == [("A1", 30), ("A2", 5)]
    for tool_message in ("refunded $30.00 for A1", "not today", "It broke."):
        assert tool_message in answers(resumed)


def test_what_is_said_beside_the_answers_is_heard_then_or_in_the_next_run(
    world, refunds, bob, robot
):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent, thread_id="t1")
    (interrupt,) = open_interrupts(run)
    request = steps.request(
        "Refund B7 for 6.", thread_id="t1", entries=(steps.entry(interrupt, steps.APPROVE),)
    )

    resumed = steps.drive(start_run(agent=refunds.agent, request=request, actor=robot))

    assert resumed.status == "succeeded"
    if len(refunds.paid) == 1:
        # Nothing may stand between a call and its result: some hear it behind the answer only.
        start(world, "", agent=refunds.agent, thread_id="t1")
    assert refunds.paid == [("A1", 30), ("B7", 6)]


def test_the_conversation_goes_on_behind_an_approval(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent, thread_id="t1")
    steps.approve(open_interrupts(run)[0], bob)
    resumed_run(run)

    again = start(world, "Refund B7 for 6.", agent=refunds.agent, thread_id="t1")

    assert again.status == "succeeded"
    assert refunds.paid == [("A1", 30), ("B7", 6)]
    assert answers(again) == "Let me see.Done: refunded $6.00 for B7."


def remembered():
    """All that a framework keeps for its thread, as text."""
    body = Memory.objects.get().body
    packed = re.findall(r"[A-Za-z0-9+/=]{60,}", body)
    return body + "".join(str(base64.b64decode(part + "==", validate=False)) for part in packed)


def test_a_model_hears_of_the_calls_that_a_failed_run_has_made(world, refunds, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(desk, "report", broken_pay)
        failed = start(world, "Refund A1 for 5.", agent=refunds.agent, thread_id="t1")
    assert (failed.status, refunds.paid) == ("failed", [("A1", 5)])

    again = start(world, "Well?", agent=refunds.agent, thread_id="t1")

    assert again.status == "succeeded"
    assert "I called refund" in remembered()
    assert refunds.paid == [("A1", 5)]


def test_a_thread_whose_resume_failed_takes_a_new_message(world, refunds, bob, monkeypatch):
    run = start(world, "Refund A1 for 30. Ask why.", agent=refunds.agent, thread_id="t1")
    approval, question = open_interrupts(run)
    steps.approve(approval, bob)
    steps.answer(question, bob, "It broke.")
    with monkeypatch.context() as broken:
        broken.setattr(desk, "pay", broken_pay)
        failed = resumed_run(run)
    assert failed.status == "failed"

    again = start(world, "Refund B7 for 6.", agent=refunds.agent, thread_id="t1")

    assert again.status == "succeeded"
    assert refunds.paid == [("B7", 6)]


# -- what may go wrong ----------------------------------------------------------------------------


def broken_pay(*_):
    raise ConnectionResetError("the bank hung up")


def test_a_once_tool_that_raises_ends_the_run_and_is_in_doubt(world, refunds, monkeypatch):
    monkeypatch.setattr(desk, "pay", broken_pay)

    run = start(world, "Refund A1 for 5.", agent=refunds.agent)

    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")
    error = json.loads(run.events.get(type="RUN_ERROR").body)["message"]
    assert error.endswith(" failed, and its effect is not known.")
    assert ToolCall.objects.get().state == "in_doubt"


def test_a_tool_that_says_that_nothing_has_happened_tells_the_model_why(
    world, refunds, monkeypatch
):
    def closed(order, amount):
        raise ToolError("the bank is closed")

    monkeypatch.setattr(desk, "pay", closed)

    run = start(world, "Refund A1 for 5.", agent=refunds.agent)

    assert run.status == "succeeded"
    assert steps.results(run) == [{"ok": False, "error": "the bank is closed"}]
    assert "the bank is closed" in answers(run)


def test_a_result_that_no_database_can_keep_is_kept_as_far_as_it_can(world, refunds, monkeypatch):
    monkeypatch.setattr(desk, "pay", lambda order, amount: "paid\0")

    run = start(world, "Refund A1 for 5.", agent=refunds.agent)

    assert results(run) == ["paid\\u0000"]
    assert ToolCall.objects.get().state == "settled"


def test_a_result_without_end_is_left_out_of_the_thread(world, refunds, monkeypatch):
    monkeypatch.setattr(desk, "pay", lambda order, amount: "x" * 2_000_000)

    run = start(world, "Refund A1 for 5.", agent=refunds.agent)

    (result,) = steps.results(run)
    assert (result["error"], result["characters"]) == ("OutputTooLarge", 2_000_000)
    assert ToolCall.objects.get().state == "settled"


def lost_resume(world, refunds, bob, monkeypatch, later, *, at):
    """A resume run that lost its worker where it was about to commit `at`."""
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob)
    killed = kill_while_driving(Run.objects.get(resumes=run), monkeypatch=monkeypatch, at=at)
    later(seconds=60)
    sweeper.sweep()
    lost = steps.reread(killed)
    assert (lost.status, lost.error_code) == ("failed", "WORKER_LOST")
    return lost


def test_retry_after_a_lost_worker_does_not_repeat_settled_calls(
    world, refunds, alice, bob, monkeypatch, later
):
    lost = lost_resume(world, refunds, bob, monkeypatch, later, at="finish_run")
    assert refunds.paid == [("A1", 30)]

    retried = steps.drive(engine.retry_run(lost.pk, alice))

    assert retried.status == "succeeded"
    assert refunds.paid == [("A1", 30)]
    assert answers(retried) == "Done: refunded $30.00 for A1."


@pytest.mark.parametrize(
    ("message", "paid", "operator_note"),
    [
        ({"outcome": "happened", "result": "it was refunded"}, 1, "it was refunded"),
        ({"outcome": "did_not_happen"}, 2, "refunded $30.00 for A1"),
    ],
)
def test_retry_after_a_lost_worker_asks_about_calls_in_doubt(
    world, refunds, alice, bob, monkeypatch, later, message, paid, operator_note
):
    lost = lost_resume(world, refunds, bob, monkeypatch, later, at="settle_tool_calls")
    retried = steps.drive(engine.retry_run(lost.pk, alice))
    (doubt,) = open_interrupts(retried)
    assert doubt.reason == "signoff:outcome_unknown"
    steps.answer(doubt, bob, message)

    resumed = resumed_run(retried)

    assert resumed.status == "succeeded"
    assert len(refunds.paid) == paid
    assert operator_note in answers(resumed)


def test_what_a_framework_remembers_does_not_decide_what_runs(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob)
    memory = Memory.objects.get()
    forged = re.sub(r"(amount\W+)30", r"\g<1>3000", memory.body)
    assert forged != memory.body
    memory.body = forged
    memory.save()

    resumed_run(run)

    assert refunds.paid == [("A1", 30)]


def test_a_resume_that_is_said_again_runs_nothing(world, refunds, bob):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob)
    resumed_run(run)

    engine.execute_run(Run.objects.get(resumes=run).pk)

    assert refunds.paid == [("A1", 30)]


# -- what models get wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        desk.Call("refund", {"order": "A1", "amount": -1}, "c-1"),
        desk.Call("refund", {"order": "A1"}, "c-1"),
        desk.Call("refund", {}, "c-1"),
        desk.Call("no_such_tool", {"order": "A1"}, "c-1"),
    ],
    ids=["below its bounds", "missing", "none", "unknown tool"],
)
def test_a_call_that_cannot_be_made_does_nothing_and_is_no_doubt(world, refunds, monkeypatch, call):
    monkeypatch.setattr(
        desk, "requested_calls", lambda text, turn: [call] if text == "Refund 1." else []
    )

    run = start(world, "Refund 1.", agent=refunds.agent)

    assert refunds.paid == []
    # Whether an unknown tool is a mistake or the end of the run is the framework's affair.
    assert run.status == "succeeded" or call.name == "no_such_tool"
    assert not ToolCall.objects.filter(state="in_doubt").exists()


def test_a_model_may_use_the_same_name_for_call_after_call(world, refunds, monkeypatch, bob):
    monkeypatch.setattr(
        desk,
        "requested_calls",
        lambda text, turn: (
            [desk.Call("refund", {"order": text[7:9], "amount": 30.0}, "call_0")]
            if text.startswith("Refund")
            else []
        ),
    )
    for order in ("A1", "B2"):
        run = start(world, f"Refund {order}.", agent=refunds.agent, thread_id="t1")
        steps.approve(open_interrupts(run)[0], bob)
        assert resumed_run(run).status == "succeeded"

    assert refunds.paid == [("A1", 30), ("B2", 30)]


def counting_from_the_beginning(monkeypatch):
    """Have the model name its calls by their place in an answer, as some do."""
    requested_calls = desk.requested_calls
    monkeypatch.setattr(
        desk,
        "requested_calls",
        lambda text, turn: [
            call._replace(id=f"call_{place}")
            for place, call in enumerate(requested_calls(text, turn))
        ],
    )


def paying_and_wanting(monkeypatch, *more):
    """Have each payment's result bring the model to its next call."""
    pay, results = desk.pay, iter(more)
    monkeypatch.setattr(desk, "pay", lambda *args: pay(*args) + next(results, ""))


def test_the_id_of_an_approved_call_approves_no_other(world, refunds, bob, monkeypatch):
    counting_from_the_beginning(monkeypatch)
    paying_and_wanting(monkeypatch, ", then B2 for 40")
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    (interrupt,) = open_interrupts(resumed)
    assert refunds.paid == [("A1", 30)]
    assert json.loads(interrupt.body)["message"] == "Refund $40.00 for order B2"
    assert json.loads(interrupt.tool_call.args) == {"order": "B2", "amount": 40}
    steps.approve(interrupt, bob)
    assert resumed_run(resumed).status == "succeeded"
    assert refunds.paid == [("A1", 30), ("B2", 40)]


def test_a_call_with_the_id_of_an_approved_one_is_recorded_as_it_is_made(
    world, refunds, bob, monkeypatch
):
    counting_from_the_beginning(monkeypatch)
    paying_and_wanting(monkeypatch, ", then B2 for 5")
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)
    steps.approve(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "succeeded"

    assert refunds.paid == [("A1", 30), ("B2", 5)]
    tool_args = [json.loads(call.args) for call in ToolCall.objects.order_by("pk")]
    assert tool_args == [{"order": "A1", "amount": 30}, {"order": "B2", "amount": 5}]


def test_two_calls_of_one_answer_with_one_id_are_never_both_made(world, refunds, bob, monkeypatch):
    calls = [
        desk.Call("refund", {"order": "A1", "amount": 5.0}, "c-1"),
        desk.Call("refund", {"order": "B2", "amount": 40.0}, "c-1"),
    ]
    monkeypatch.setattr(desk, "requested_calls", lambda text, turn: calls if text == "Go." else [])
    run = start(world, "Go.", agent=refunds.agent)
    for interrupt in open_interrupts(run):
        steps.approve(interrupt, bob)
        run = resumed_run(run)

    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")
    assert refunds.paid in ([], [("A1", 5)])


def said_by(agent):
    """The metadata of the tool that asks for approval, as the framework of the agent keeps it."""
    match agent.implementation:
        case name if name.startswith("pydantic"):
            from agents.examples.pydantic_ai_desk import pydantic_refunds

            return pydantic_refunds._function_toolset.tools["refund"].metadata
        case name if name.startswith("maf"):
            from agents.examples.maf_desk import refund

            return refund.additional_properties
        case name if name.startswith("genkit"):
            from agents.examples.genkit_desk import refund

            return refund.action().metadata
        case _:
            from agents.examples.langgraph_desk import refund

            refund.metadata = refund.metadata or {}
            return refund.metadata


@pytest.mark.parametrize("expires_in", [3_600, None])
def test_tool_says_how_long_people_have_for_its_approval(world, refunds, monkeypatch, expires_in):
    monkeypatch.setitem(said_by(refunds.agent), "expires_in", expires_in)

    run = start(world, "Refund A1 for 30.", agent=refunds.agent)

    (interrupt,) = open_interrupts(run)
    if expires_in is None:
        assert interrupt.expires_at is None
    else:
        left = interrupt.expires_at - interrupt.created_at
        assert timedelta(minutes=59) < left <= timedelta(hours=1)


def test_tool_that_says_nothing_leaves_the_expiry_to_the_team(world, refunds):
    run = start(world, "Refund A1 for 30.", agent=refunds.agent)

    (interrupt,) = open_interrupts(run)
    assert timedelta(days=6) < interrupt.expires_at - interrupt.created_at <= timedelta(days=7)
