"""
Reviews of calls by LangGraph's agents: one interrupt about several calls, answered at once.

The value of LangChain's `HumanInTheLoopMiddleware` is `{"action_requests": [{name, args,
description}], "review_configs": [{action_name, allowed_decisions}]}`. Its answer is `{"decisions":
[...]}`: one for each call, in the same order.

The value of the older agent inbox is `{"action_request": {action, args}, "config": {allow_accept,
allow_edit, allow_respond, allow_ignore}, "description"}`, or a list of them. Its answer is
`{"type": "accept" | "edit" | "response" | "ignore", "args"}`, or a list of them.

`copilotkit_interrupt` wraps a text, or an action that is a question: its answer is any value.
"""

from collections.abc import Collection, Sequence
from typing import Any

Json = dict[str, Any]

APPROVE, EDIT, REJECT, RESPOND = "approve", "edit", "reject", "respond"
_DECISIONS = (APPROVE, EDIT, REJECT, RESPOND)
#: Allowed where the configuration of an action is missing: no edits.
_DEFAULT_DECISIONS = [APPROVE, REJECT]
_RESPONSE: Json = {
    "type": "string",
    "title": "Result instead",
    "description": "What the model is told in the tool's place: the call is not made then.",
}
_ALLOWED_BY_INBOX = {
    "allow_accept": APPROVE,
    "allow_edit": EDIT,
    "allow_respond": RESPOND,
    "allow_ignore": REJECT,
}
_WRAPPED = "__copilotkit_interrupt_value__"
_DENIED = "A reviewer denied this call: it was not made."
CALLED_OFF = "Nobody decided about this call: the request was cancelled or has expired."


class CancellationUnsupported(Exception):
    """The agent accepts no decision that means a cancellation."""


def parse_actions(value: Any) -> list[Json]:
    """
    Return the actions of a value in order, as {"name", "args", "description", "allowed"}.

    Those of the older inbox have a "form", which `build_answer` needs. Empty if it is no request of
    either, or malformed.
    """
    if inbox_actions := _inbox_actions(value):
        return inbox_actions
    fields = value if isinstance(value, dict) else {}
    requests, configs = fields.get("action_requests"), fields.get("review_configs")
    if not isinstance(requests, list) or not all(map(_is_action, requests)):
        return []
    allowed_by_name = {
        config["action_name"]: config.get("allowed_decisions")
        for config in (configs if isinstance(configs, list) else ())
        if isinstance(config, dict) and isinstance(config.get("action_name"), str)
    }
    return [
        {
            "name": action["name"],
            "args": action["args"],
            "description": action.get("description"),
            "allowed": _allowed_decisions(
                action.get("allowed_decisions", allowed_by_name.get(action["name"]))
            ),
        }
        for action in requests
    ]


def _inbox_actions(value: Any) -> list[Json]:
    """Return the actions of the older agent inbox; empty if one of them is not one."""
    form = "list" if isinstance(value, list) else "object"
    actions = []
    for request in value if isinstance(value, list) else [value]:
        action = request.get("action_request") if isinstance(request, dict) else None
        fields = {"args": {}, **action} if isinstance(action, dict) else {}
        name, config = fields.get("action"), request.get("config") if fields else None
        if not (isinstance(name, str) and isinstance(fields["args"], dict)):
            return []
        allowed = list(_DEFAULT_DECISIONS)
        if isinstance(config, dict):
            chosen = [name for key, name in _ALLOWED_BY_INBOX.items() if config.get(key) is True]
            allowed = chosen or [REJECT]
        description = request.get("description")
        actions.append(
            {
                "name": name,
                "args": fields["args"],
                "description": description if isinstance(description, str) else None,
                "allowed": allowed,
                "form": form,
            }
        )
    return actions


def build_answer(decisions: Sequence[Json], form: str = "") -> Any:
    """Return the agent's answer of the decisions on all actions, in their order."""
    if not form:
        return {"decisions": list(decisions)}
    answers = list(map(_inbox_answer, decisions))
    return answers if form == "list" else answers[0]


def _inbox_answer(decision: Json) -> Json:
    match decision["type"]:
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            action = decision["edited_action"]
            edited = {"action": action["name"], "args": action["args"]}
            return {"type": "edit", "args": edited}
        case "respond":
            return {"type": "response", "args": decision["message"]}
        case _:
            return {"type": "ignore", "args": None}


def unwrap(value: Any) -> Any:
    """Return the value inside CopilotKit's wrapper, or the value itself."""
    return value[_WRAPPED] if isinstance(value, dict) and _WRAPPED in value else value


def parse_wrapped_action(value: Any) -> Json | None:
    """Return the action that CopilotKit's wrapper asks about, as {"name", "args"}."""
    action = unwrap(value)
    if action is value or not isinstance(action, dict) or not isinstance(action.get("action"), str):
        return None
    args = action.get("args")
    return {"name": action["action"], "args": args if isinstance(args, dict) else {}}


def build_message(action: Json) -> str:
    """Return an action's description without the call that the middleware appends."""
    name, args = action["name"], action["args"]
    description = str(action.get("description") or "")
    head = description.removesuffix(f"\n\nTool: {name}\nArgs: {args}")
    return description if head == description and head else f"{head or 'Approve'}: {name}"


def takes_text_only(allowed: Collection[str]) -> bool:
    """Return True if only a response or a rejection is allowed."""
    return RESPOND in allowed and set(allowed) <= {RESPOND, REJECT}


def restrict_approval(approval: Json, allowed: Collection[str]) -> Json:
    """Return an approval schema restricted to the allowed decisions."""
    properties = dict(approval["properties"])
    if REJECT not in allowed and RESPOND not in allowed:
        properties["approved"] = {"type": "boolean", "const": True}
        properties.pop("reason", None)
    elif set(allowed) == {REJECT}:
        properties["approved"] = {"type": "boolean", "const": False}
    if EDIT not in allowed:
        properties.pop("editedArgs", None)
    if RESPOND in allowed:
        properties["response"] = _RESPONSE
    return {**approval, "properties": properties, "additionalProperties": False}


def build_decision(
    *,
    name: str,
    args: Any,
    allowed: Sequence[str],
    payload: Any,
    is_cancelled: bool,
    form: str = "",
) -> Json:
    """
    Return the middleware's decision on one call.

    `args` are the approved arguments, edits included; `payload` is the answer.

    Raises:
        CancellationUnsupported: not approved, and neither a rejection nor a response is allowed.
            Graphs that the older inbox reads would take a response for the answer of a person.
    """
    if is_cancelled and form and REJECT not in allowed:
        raise CancellationUnsupported
    if is_cancelled:
        return _rejection(allowed, CALLED_OFF)
    if isinstance(payload, str):
        return {"type": RESPOND, "message": payload}
    answer = payload if isinstance(payload, dict) else {}
    if answer.get("response") and RESPOND in allowed:
        return {"type": RESPOND, "message": answer["response"]}
    if answer.get("approved") is not True:
        return _rejection(allowed, answer.get("reason"))
    if "editedArgs" in answer or APPROVE not in allowed:
        return {"type": EDIT, "edited_action": {"name": name, "args": args}}
    return {"type": APPROVE}


def _rejection(allowed: Sequence[str], reason: Any) -> Json:
    """Return a rejection; where none is allowed, a response that says so."""
    if REJECT in allowed:
        return {"type": REJECT, "message": reason} if reason else {"type": REJECT}
    if RESPOND not in allowed:
        raise CancellationUnsupported
    return {"type": RESPOND, "message": reason or _DENIED}


def _is_action(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("args"), dict)
    )


def _allowed_decisions(value: Any) -> list[str]:
    decisions = [name for name in value if name in _DECISIONS] if isinstance(value, list) else []
    return decisions or list(_DEFAULT_DECISIONS)
