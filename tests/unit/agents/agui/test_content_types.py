"""Interrupts as the content types of Microsoft.Extensions.AI, and back without a loss."""

import pytest
from ag_ui.core import FunctionCall, Interrupt, ResumeEntry, ToolCall

from agents.agui.legacy.content_types import (
    FunctionApprovalRequest,
    UserInputRequest,
    to_content,
    to_entry,
    to_interrupt,
    to_response,
)

APPROVAL = Interrupt(
    id="i1",
    reason="tool_call",
    message="Refund?",
    tool_call_id="c1",
    response_schema={"type": "object"},
    expires_at="2026-11-20T12:00:00.000Z",
    metadata={"risk": "high"},
)
INPUT = Interrupt(
    id="i2", reason="input_required", message="Which?", response_schema={"enum": [0, 1]}
)
CALL = ToolCall(id="c1", function=FunctionCall(name="refund", arguments='{"amount": 5}'))


def test_approval_keeps_its_call_and_fields_without_a_content_type():
    request = to_content(APPROVAL, CALL)

    assert isinstance(request, FunctionApprovalRequest)
    assert (request.function_call.name, request.function_call.arguments) == (
        "refund",
        {"amount": 5},
    )
    assert to_interrupt(request) == APPROVAL


def test_anything_else_is_a_request_for_input():
    request = to_content(INPUT)

    assert isinstance(request, UserInputRequest)
    assert to_interrupt(request) == INPUT


@pytest.mark.parametrize(
    ("answer", "payload"),
    [
        ({"approved": True}, {"approved": True}),
        ({"approved": False, "reason": "no"}, {"approved": False, "reason": "no"}),
        ({"approved": True, "arguments": {"amount": 5}}, {"approved": True}),
        (
            {"approved": True, "arguments": {"amount": 4}},
            {"approved": True, "editedArgs": {"amount": 4}},
        ),
    ],
)
def test_an_approval_goes_there_and_back(answer, payload):
    request = to_content(APPROVAL, CALL)

    entry = to_entry(request.create_response(**answer))

    assert (entry.interrupt_id, entry.status, entry.payload) == ("i1", "resolved", payload)
    assert to_entry(to_response(request, entry)) == entry


@pytest.mark.parametrize("value", ["blue", 0, False, "", None, {"a": [1]}])
def test_an_input_goes_there_and_back_whatever_it_is(value):
    request = to_content(INPUT)

    entry = to_entry(request.create_response(value))

    assert entry.payload == value
    assert to_entry(to_response(request, entry)) == entry


def test_what_was_called_off_is_no_answer():
    entry = ResumeEntry(interrupt_id="i1", status="cancelled")

    assert to_response(to_content(APPROVAL, CALL), entry) is None
    assert to_entry(None, "i1") == entry


@pytest.mark.parametrize("payload", [True, "yes", {"approved": 1}, {"approved": "true"}, {}, None])
def test_only_a_true_spelled_so_approves(payload):
    entry = ResumeEntry(interrupt_id="i1", status="resolved", payload=payload)

    assert to_response(to_content(APPROVAL, CALL), entry).approved is False


def test_what_does_not_belong_together_is_refused():
    other = ToolCall(id="c2", function=FunctionCall(name="pay", arguments="{}"))
    odd = ToolCall(id="c1", function=FunctionCall(name="refund", arguments="[1]"))
    for call in (None, other, odd):
        with pytest.raises(ValueError, match=r"c1|arguments"):
            to_content(APPROVAL, call)
    with pytest.raises(ValueError, match="i2"):
        to_response(to_content(APPROVAL, CALL), ResumeEntry(interrupt_id="i2", status="cancelled"))
