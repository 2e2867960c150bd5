"""Asking back: an answer that sends a tool call back to its agent with a question or correction."""

from collections.abc import Mapping
from typing import Any

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schemas import member_schema, named_members
from inbox.rules.text.messages import TranslatableMessage

FEEDBACK = "feedback"
NOT_OFFERED = TranslatableMessage(
    "The agent takes no questions: the response schema has no `feedback`. Reject it with a reason."
)


def offers_feedback(schema: Mapping[str, Any] | None) -> bool:
    """
    Return whether an agent reads `feedback` beside a denial.

    Its response schema says so with a text member of this name beside `approved`.
    """
    names = named_members(schema)
    member = member_schema(schema, FEEDBACK) if {"approved", FEEDBACK} <= names else None
    kind = (member or {}).get("type")
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def feedback_of(payload: Any) -> str:
    """Return the question or correction of an answer, "" for any other answer."""
    if not (isinstance(payload, Mapping) and payload.get("approved") is False):
        return ""
    text = payload.get(FEEDBACK)
    return text if isinstance(text, str) and text.strip() else ""


def check_feedback(*, schema: Mapping[str, Any] | None, payload: Any) -> None:
    """Raise InvalidPayload for a question that the agent would not read."""
    if feedback_of(payload) and FEEDBACK not in named_members(schema):
        raise InvalidPayload(
            NOT_OFFERED, problems=[{"pointer": f"/{FEEDBACK}", "message": NOT_OFFERED}]
        )
