"""One example of each shape of the API: the story of a mail that waits for a yes."""

from typing import Any

_RUN_ID = "01934f5e-7c10-7e4b-9a52-0d6c6a1f0001"
_THREAD_ID = "01934f5e-7c10-7e4b-9a52-0d6c6a1f0002"
_INTERRUPT_ID = "01934f5e-7c10-7e4b-9a52-0d6c6a1f0003"
_DIGEST = "9f2c6ab51b3a4f0c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
_ASKED_AT, _DECIDED_AT = "2026-11-21T09:29:12.104213Z", "2026-11-21T09:30:00.125480Z"
_ARGUMENTS = {"to": "kim@example.com", "subject": "Your invoice"}

_AGUI_INTERRUPT = {
    "id": "int-1",
    "reason": "tool_call",
    "message": "Send an e-mail to kim@example.com: Your invoice",
    "toolCallId": "call-1",
}
_FINISHED = {
    "type": "RUN_FINISHED",
    "threadId": "order-17",
    "runId": "r-1",
    "outcome": {"type": "interrupt", "interrupts": [_AGUI_INTERRUPT]},
}
_RUN = {
    "id": _RUN_ID,
    "run_id": "r-1",
    "thread": _THREAD_ID,
    "thread_id": "order-17",
    "agent": "mailer",
    "status": "interrupted",
    "attempt": 1,
    "error_code": None,
    "resumes": None,
    "retries": None,
    "started_by": "key ci",
    "queued_at": "2026-11-21T09:29:10.002311Z",
    "started_at": "2026-11-21T09:29:10.031840Z",
    "finished_at": _ASKED_AT,
    "terminal_event": _FINISHED,
}
_QUEUED = {
    **_RUN,
    "status": "queued",
    "attempt": 0,
    "started_at": None,
    "finished_at": None,
    "terminal_event": None,
}
_THREAD = {
    "id": _THREAD_ID,
    "thread_id": "order-17",
    "agent": "mailer",
    "title": "Send Kim the invoice",
    "last_seq": 12,
    "created_at": "2026-11-21T09:29:10.002311Z",
    "updated_at": _ASKED_AT,
}
_MESSAGE = {
    "id": "m-1",
    "role": "user",
    "content": "Send Kim the invoice",
    "metadata": {"signoff": {"source": "client"}},
}
_DECISION = {
    "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0004",
    "status": "resolved",
    "payload": {"approved": True},
    "unseen": False,
    "by": "Robin",
    "at": _DECIDED_AT,
    "withdrawn_at": None,
}
_CALL = {
    "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0009",
    "tool_call_id": "call-1",
    "run": _RUN_ID,
    "tool": "write_to_customer",
    "state": "settled",
    "effect": "once",
    "proposed_args": _ARGUMENTS,
    "approved_args": _ARGUMENTS,
    "executed_args": _ARGUMENTS,
    "decisions": [_DECISION],
    "result": '{"sent":true}',
    "proposed_at": _ASKED_AT,
    "started_at": _DECIDED_AT,
    "settled_at": _DECIDED_AT,
}
_ENTRY = {
    "seq": 3,
    "hash": _DIGEST,
    "action": "interrupt.resolved",
    "actor": {"kind": "human", "id": "3", "name": "Robin"},
    "run": _RUN_ID,
    "interrupt": _INTERRUPT_ID,
    "tool_call": None,
    "detail": {},
    "at": _DECIDED_AT,
}
_INTERRUPT: dict[str, Any] = {
    "id": _INTERRUPT_ID,
    "interrupt_id": "int-1",
    "run": _RUN_ID,
    "thread": _THREAD_ID,
    "thread_id": "order-17",
    "agent": "mailer",
    "status": "open",
    "reason": "tool_call",
    "title": "Send an e-mail to kim@example.com: Your invoice",
    "tool": "write_to_customer",
    "args": _ARGUMENTS,
    "interrupt": _AGUI_INTERRUPT,
    "masked": [],
    "view_digest": _DIGEST,
    "expires_at": "2026-11-21T10:00:00Z",
    "created_at": _ASKED_AT,
    "closed_at": None,
    "decision": None,
}
_COMMENT = {
    "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0005",
    "text": "Kim has asked for it by phone.",
    "by": "Robin",
    "at": _DECIDED_AT,
}
_RESULTS = [{"id": _INTERRUPT_ID, "decision": _DECISION, "error": None}]
_LOCAL = {
    "id": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0006",
    "name": "mailer",
    "team": "ops",
    "description": "Answers customers by e-mail.",
    "url": "/agui/mailer/",
    "kind": "local",
    "remote": None,
}
_TEST = {
    "found": "agent",
    "message": "The agent answers.",
    "status": 200,
    "content_type": "text/event-stream",
    "detail": None,
    "protocol_version": "1.0",
    "dialect": "canonical",
    "events": ["RUN_STARTED", "RUN_ERROR"],
    "error": "UNKNOWN_INTERRUPT_ID",
    "refused": True,
    "began_to_work": False,
    "capabilities": None,
    "milliseconds": 41,
}
_REMOTE = {
    **_LOCAL,
    "kind": "remote",
    "remote": {
        "url": "https://agents.example.com/mailer",
        "headers": ["Authorization"],
        "test": {**_TEST, "at": _ASKED_AT},
    },
}


#: By the name that a shape has in the schema.
EXAMPLES: dict[str, Any] = {
    # requests
    "StartRunInput": {"agent": "mailer", "message": "Send Kim the invoice"},
    "RemoteAgentInput": {
        "url": "https://agents.example.com/mailer",
        "headers": {"Authorization": "Bearer of-the-agent"},
    },
    "DecisionInput": {
        "status": "resolved",
        "payload": {"approved": True},
        "view_digest": _DIGEST,
    },
    "BulkDecisionInput": {
        "status": "resolved",
        "payload": {"approved": True},
        "items": [{"id": _INTERRUPT_ID, "view_digest": _DIGEST}],
    },
    "BulkWithdrawalInput": {"ids": [_INTERRUPT_ID]},
    "ClaimInput": {"take_over": True},
    "CommentInput": {"text": "Kim has asked for it by phone."},
    "ExportInput": {"format": "jsonl", "team": "ops", "since": "2026-11-01"},
    "RunAgentInput": {
        "threadId": "order-17",
        "runId": "r-1",
        "messages": [{"id": "m-1", "role": "user", "content": "Send Kim the invoice"}],
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    },
    "ConnectInput": {"threadId": "order-17"},
    # answers
    "AgentPage": {"results": [_LOCAL], "next_after": None},
    "Agent": _REMOTE,
    "AgentWithCapabilities": {**_LOCAL, "capabilities": {"humanInTheLoop": {"interrupts": True}}},
    "Capabilities": {"capabilities": {"humanInTheLoop": {"interrupts": True}}},
    "InputSchema": {
        "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}
    },
    "ConnectionTest": _TEST,
    "AgentCapabilities": {"humanInTheLoop": {"interrupts": True}},
    "RunPage": {"results": [{**_RUN, "terminal_event": None}], "next_after": None},
    "Run": _RUN,
    "AcceptedRun": {**_QUEUED, "replayed": False},
    "ThreadPage": {"results": [_THREAD], "next_after": None},
    "ThreadWithMessages": {
        **_THREAD,
        "messages": [_MESSAGE],
        "state": {},
        "active_run": None,
    },
    "MessagePage": {
        "results": [_MESSAGE],
        "next_after": None,
    },
    "ThreadState": {"state": {}},
    "ToolCallPage": {"results": [_CALL], "next_after": None},
    "AuditEntryPage": {"results": [_ENTRY], "next_after": None},
    "TrailEntryPage": {
        "results": [{"id": 128, "team": "ops", "thread": _THREAD_ID, **_ENTRY}],
        "next_after": "128",
    },
    "TrailCallPage": {
        "results": [
            {
                **_CALL,
                "agent": "mailer",
                "thread": _THREAD_ID,
                "thread_id": "order-17",
                "decision": "approved",
                "decided_by": "3",
            }
        ],
        "next_after": None,
    },
    "EventPage": {
        "results": [{"seq": 12, "run": _RUN_ID, "event": _FINISHED}],
        "next_after": None,
    },
    "InterruptPage": {"results": [_INTERRUPT], "next_after": None},
    "InterruptWithSiblings": {**_INTERRUPT, "siblings": []},
    "Decision": _DECISION,
    "ResultListed": {"results": _RESULTS},
    "Claim": {"by": "Robin", "at": _ASKED_AT, "until": "2026-11-21T09:39:12.104213Z"},
    "CommentPage": {"results": [_COMMENT], "next_after": None},
    "Comment": _COMMENT,
    "Description": {"openapi": "3.1.0"},
}
