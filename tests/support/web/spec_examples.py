"""The interrupts of the specifications' examples, as agents of each dialect send them."""

import json
from typing import Any

from tests.support.agents.vendor_servers import (
    call,
    finished,
    on_interrupt,
    started,
)

EMAIL = {"to": "a@b.com", "subject": "Hi", "body": "Hello"}
APPROVED = {"type": "boolean"}
#: AG-UI interrupts: "Minimal tool approval"
MINIMAL = {
    "id": "int-abc123",
    "reason": "tool_call",
    "message": "Send email to a@b.com with subject 'Hi'?",
    "toolCallId": "tc-001",
    "responseSchema": {
        "type": "object",
        "properties": {"approved": APPROVED},
        "required": ["approved"],
    },
}
#: "Approve with edits (full audit)"
WITH_EDITS = {
    "id": "int-email-edit",
    "reason": "tool_call",
    "message": "Send email to a@b.com? You can edit the body before approving.",
    "toolCallId": "tc-42",
    "responseSchema": {
        "type": "object",
        "properties": {
            "approved": APPROVED,
            "editedArgs": {
                "type": "object",
                "properties": {
                    "to": {"type": "string", "format": "email"},
                    "subject": {"type": "string"},
                    "body": {"type": "string"},
                },
            },
        },
        "required": ["approved"],
    },
    "metadata": {"langgraph": {"checkpointId": "ckpt-xyz", "nodeId": "tool_executor"}},
}
#: "Parallel interrupts"
PARALLEL = [
    {
        "id": f"i-{number}",
        "reason": "tool_call",
        "toolCallId": f"tc-{letter}",
        "message": f"Approve sendEmail to {address}?",
    }
    for number, letter, address in ((1, "a", "x@y.com"), (2, "b", "y@z.com"), (3, "c", "z@w.com"))
]
#: "Non-tool input request"
FILING = {
    "id": "int-form",
    "reason": "input_required",
    "message": "Please provide the quarterly filing details.",
    "responseSchema": {
        "type": "object",
        "properties": {
            "quarter": {"type": "string", "enum": ["Q1", "Q2", "Q3", "Q4"]},
            "year": {"type": "integer", "minimum": 2000},
            "revenue": {"type": "number"},
        },
        "required": ["quarter", "year", "revenue"],
    },
}
#: The reasons without a schema
CONFIRMATION = {"id": "c-1", "reason": "confirmation", "message": "Close the quarter?"}
CUSTOM = {"id": "c-2", "reason": "mastra:workflow_suspend", "message": "What should I tell them?"}
#: The draft of 2025: "Minimal Interrupt/Resume" and "Complex Approval Flow"
PROPOSAL = {
    "id": "int-abc123",
    "reason": "human_approval",
    "payload": {
        "proposal": {
            "tool": "sendEmail",
            "args": {"to": "a@b.com", "subject": "Hi", "body": "…"},
        }
    },
}
DATABASE = {
    "id": "approval-001",
    "reason": "database_modification",
    "payload": {
        "action": "DELETE",
        "table": "users",
        "affectedRows": 42,
        "query": "DELETE FROM users WHERE last_login < '2023-01-01'",
        "rollbackPlan": "Restore from backup snapshot-2025-01-23",
        "riskLevel": "high",
    },
}
#: LangGraph's bridge: the refund of "The Wire Format"
REFUND = {
    "kind": "refund_approval",
    "amount": 47.50,
    "customer_id": "cus_a8x2k",
    "reason": "Duplicate charge",
}

#: LangChain's HumanInTheLoopMiddleware (its `HITLRequest`)
REVIEW_ID = "744b8b5aafca25b2629f2cc592e8bc9b"
REVIEW = {
    "action_requests": [
        {"name": "send_email", "args": EMAIL, "description": "Tool execution requires approval"},
        {"name": "delete_rows", "args": {"table": "users", "rows": 42}},
        {"name": "ask_person", "args": {"question": "Which quarter?"}},
    ],
    "review_configs": [
        {"action_name": "send_email", "allowed_decisions": ["approve", "edit", "reject"]},
        {"action_name": "delete_rows", "allowed_decisions": ["approve"]},
        {"action_name": "ask_person", "allowed_decisions": ["respond"]},
    ],
}


def canonical(*interrupts: dict[str, Any]) -> list[dict[str, Any]]:
    """A run of AG-UI 1.0 that ends with these interrupts, after the calls that they are about."""
    about = [interrupt["toolCallId"] for interrupt in interrupts if "toolCallId" in interrupt]
    calls = [event for name in about for event in call("sendEmail", name, EMAIL)]
    return [
        started(),
        *calls,
        finished(outcome={"type": "interrupt", "interrupts": list(interrupts)}),
    ]


def draft(interrupt: dict[str, Any]) -> list[dict[str, Any]]:
    return [started(), finished(outcome="interrupt", interrupt=interrupt)]


def langgraph(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The event as the specification has it: its value is a JSON string."""
    assert json.loads(on_interrupt(value)["value"]) == value
    return [started(), on_interrupt(value), finished()]


def review() -> list[dict[str, Any]]:
    """A graph that pauses once for all the calls of one message."""
    actions = REVIEW["action_requests"]
    calls = [
        call(action["name"], f"tc-{number}", action["args"])
        for number, action in enumerate(actions)
    ]
    events = [event for events in calls for event in events]
    return [started(), *events, on_interrupt(REVIEW, REVIEW_ID), finished()]


def ended() -> list[dict[str, Any]]:
    return [started(), finished(outcome={"type": "success"})]
