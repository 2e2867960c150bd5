"""
The rules for the outcome of a run, beyond those that the official SDK checks.

Also the response schema of approvals.
"""

import re
from collections.abc import Container, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ag_ui.core import Interrupt, RunFinishedEvent, RunFinishedInterruptOutcome

from agents.agui.errors import ProtocolViolation

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)
#: Times beyond count as these: the ends of the calendar do not exist in every zone of a reader, nor
#: after a delay.
_FIRST, _LAST = datetime(2, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)

#: Describes the reason of a denial where the agent has no place for it.
NO_REASON = "Stored with the decision. The agent learns only that the call was denied."


def approval_schema(
    *, edited_args: dict[str, Any] | None = None, **properties: dict[str, Any]
) -> dict[str, Any]:
    """
    Return the response schema of an approval, with further properties and no others.

    An open schema would take edits in a misspelt member and run the call as proposed.
    """
    edits = {"editedArgs": edited_args} if edited_args is not None else {}
    return {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            **edits,
            "reason": {"type": "string"},
            **properties,
        },
        "required": ["approved"],
        "additionalProperties": False,
    }


def takes_approval(schema: Any) -> bool:
    """Return True if `approved` is a member of the answers that a response schema describes."""
    members = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(members, dict) and "approved" in members


def check_outcome(event: RunFinishedEvent, known_tool_calls: Container[str]) -> None:
    """Raise unless a 1.0 consumer reads the outcome as we do; no outcome means success."""
    for legacy in ("interrupt", "interrupts"):
        if legacy in (event.model_extra or {}):
            raise ProtocolViolation(
                f"RUN_FINISHED carries '{legacy}', which 1.0 reads as success; "
                "send outcome {type: 'interrupt', interrupts: [...]}."
            )
    if isinstance(event.outcome, RunFinishedInterruptOutcome):
        check_interrupts(event.outcome.interrupts, known_tool_calls)
    elif event.outcome is not None and "interrupts" in (event.outcome.model_extra or {}):
        raise ProtocolViolation(
            f"A {event.outcome.type} outcome carries interrupts, which clients ignore; "
            "send outcome type 'interrupt'."
        )


def check_interrupts(interrupts: Iterable[Interrupt], known_tool_calls: Container[str]) -> None:
    """Raise unless there is an interrupt and each can be answered."""
    seen: set[str] = set()
    for interrupt in interrupts:
        if interrupt.id in seen:
            raise ProtocolViolation(
                f"Two interrupts have the id '{interrupt.id}'; an id is unique within its run."
            )
        seen.add(interrupt.id)
        _check_reason(interrupt, known_tool_calls)
        if interrupt.expires_at is not None:
            parse_expiry(interrupt.expires_at)
    if not seen:
        raise ProtocolViolation("An interrupt outcome has no interrupts; it needs at least one.")


def parse_expiry(text: str) -> datetime:
    """
    Read `expiresAt`: RFC 3339 with a zone, such as 2026-01-31T12:00:00.000Z.

    Raises:
        ProtocolViolation: another format, no zone, or a date that does not exist.
    """
    if _RFC3339.fullmatch(text):
        # The format also matches February 30 and times that fall before year 1 in UTC.
        with suppress(ValueError, OverflowError):
            return min(max(_FIRST, datetime.fromisoformat(text).astimezone(UTC)), _LAST)
    raise ProtocolViolation(
        f"expiresAt '{text[:64]}' is not an RFC 3339 time with a zone; "
        "send one such as 2026-01-31T12:00:00.000Z."
    )


def _check_reason(interrupt: Interrupt, known_tool_calls: Container[str]) -> None:
    if interrupt.reason.startswith("core:"):
        raise ProtocolViolation(
            f"The reason '{interrupt.reason}' is reserved; use '<framework>:<name>'."
        )
    if interrupt.reason != "tool_call":
        return
    if interrupt.tool_call_id is None:
        raise ProtocolViolation(
            f"Interrupt '{interrupt.id}' has the reason tool_call and no toolCallId; name the call."
        )
    if interrupt.tool_call_id not in known_tool_calls:
        raise ProtocolViolation(
            f"Interrupt '{interrupt.id}' asks about tool call '{interrupt.tool_call_id}', which "
            "was not proposed in this thread; send its TOOL_CALL_START, ARGS and END first."
        )
