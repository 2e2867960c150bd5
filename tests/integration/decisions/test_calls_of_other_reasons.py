"""A denied call does not run, whatever the reason of the interrupt that names it."""

import ag_ui.core as agui
import pytest

from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.members import change_team
from inbox.models import ToolCall
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules.people.access import SEED
from tests.support.steps import answer, call_off, open_interrupts, reread, start

APPROVAL = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}},
    "required": ["approved"],
}
BOOLEAN = {"type": "boolean"}
FORM = {"type": "object", "properties": {"quarter": {"type": "integer"}}}
REASONS = ["acme:approval", "database_modification", "tool_approval", "input_required"]


@pytest.fixture
def ask(world, as_agent):
    """Return a function that opens an interrupt of a reason about a call, with a schema."""

    def open_request(reason, schema):
        async def play(run_input, ctx):
            if ctx.answers:
                yield agui.RunFinishedEvent(thread_id="t", run_id="r")
                return
            yield agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="pay")
            yield agui.ToolCallArgsEvent(tool_call_id="c", delta='{"amount": 1}')
            yield agui.ToolCallEndEvent(tool_call_id="c")
            interrupt = agui.Interrupt(
                id="i",
                reason=reason,
                tool_call_id="c",
                message="Approve the payment?",
                response_schema=schema,
            )
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=agui.RunFinishedInterruptOutcome(interrupts=[interrupt]),
            )

        (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
        return interrupt

    return open_request


def state_of(interrupt):
    return ToolCall.objects.get(pk=interrupt.tool_call_id).state


@pytest.mark.parametrize("reason", REASONS)
def test_a_rejected_call_is_not_run(ask, bob, reason):
    row = ask(reason, APPROVAL)

    answer(row, bob, {"approved": False})

    assert state_of(row) == "not_run"


@pytest.mark.parametrize(
    ("reason", "schema", "payload"),
    [("confirmation", BOOLEAN, False), ("acme:question", None, False)],
)
def test_a_no_without_approved_is_a_denial_too(ask, bob, reason, schema, payload):
    row = ask(reason, schema)

    answer(row, bob, payload)

    assert state_of(row) == "not_run"


def test_a_cancelled_approval_of_another_reason_is_not_run(ask, bob):
    row = ask("acme:approval", APPROVAL)

    call_off(row, bob)

    assert state_of(row) == "not_run"


@pytest.mark.parametrize("reason", REASONS)
def test_an_approved_call_may_run_as_edited(ask, bob, reason):
    row = ask(reason, APPROVAL)

    answer(row, bob, {"approved": True, "editedArgs": {"amount": 2}})

    call = ToolCall.objects.get(pk=row.tool_call_id)
    assert (call.state, call.approved_args) == ("proposed", '{"amount":2}')


def test_an_answer_that_denies_nothing_leaves_the_call(ask, bob):
    row = ask("input_required", FORM)

    answer(row, bob, {"quarter": 3})

    assert state_of(row) == "proposed"


def test_a_question_that_is_called_off_denies_no_call(ask, bob):
    row = ask("input_required", FORM)

    call_off(row, bob)

    assert state_of(row) == "proposed"


def test_a_withdrawn_rejection_gives_the_call_back(world, ask, bob):
    change_team(team_id=world.team.pk, grace_seconds=60, actor=SEED)
    row = ask("acme:approval", APPROVAL)
    answer(row, bob, {"approved": False})

    withdraw_decision(interrupt_id=row.pk, actor=bob)

    assert (state_of(row), reread(row).status) == ("proposed", "open")


@pytest.mark.parametrize("reason", REASONS)
def test_the_page_takes_it_as_an_approval(ask, bob, reason):
    assert detail_for(bob, ask(reason, APPROVAL).pk).is_approval
    assert not detail_for(bob, ask("input_required", FORM).pk).is_approval
