"""
What bridges of agent frameworks do in their own way, though what they speak is AG-UI 1.0.

Google's asks by a call that stands for the one that it asks about. Microsoft's takes each argument
of a call as an edit, whatever the edited arguments are. Pydantic AI leaves calls to whoever drives
it, and succeeds.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from agents.agui import interrupts, strict_json

Json = dict[str, Any]

_CONFIRMATION = "adk_request_confirmation"
#: What Google's bridge says by itself is written for programs.
_STOCK_HINT = "Please approve or reject the tool call"
_UNTOLD = "Kept with the decision. The agent hears only that the call was denied."
_CALLED_OFF = "Nobody answered: the question was called off."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def closed_approval_schema(*, edited_args: Json | None = None, **more: Json) -> Json:
    """The answer to whether a call may be made, with what else may be in it, and no more."""
    schema = interrupts.approval_schema(edited_args=edited_args, **more)
    return {**schema, "additionalProperties": False}


def tool_call_id_of(value: Any) -> str:
    """The id of the call that an event or an interrupt is about."""
    return str(as_object(value).get("toolCallId"))


class GoogleConfirmations:
    """
    Google's: the calls that stand for others, kept until the run's end.

    The calls that they stand for get results meanwhile, which say that somebody has to confirm.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[Json]] = {}
        self._results: list[Json] = []

    def hold(self, event: Json) -> bool:
        """Keep an event that belongs to a confirmation, or may: whether it was one."""
        kind, name = event.get("type"), tool_call_id_of(event)
        if kind == "TOOL_CALL_START" and event.get("toolCallName") == _CONFIRMATION:
            self._calls[name] = [event]
        elif kind in ("TOOL_CALL_ARGS", "TOOL_CALL_END") and name in self._calls:
            self._calls[name].append(event)
        elif kind == "TOOL_CALL_RESULT" and self._calls:
            self._results.append(event)
        else:
            return False
        return True

    def interrupts(self, asked: Iterable[Any], calls: Collection[str]) -> dict[str, Json]:
        """
        The interrupts that ask about the calls themselves, by the id of the confirmation.

        `asked` are the interrupts of the outcome, which the bridge leaves out unless it is told to
        have one. A confirmation of a call that is not among `calls` is none.
        """
        known = {tool_call_id_of(one): as_object(one) for one in asked}
        told = ((name, _told(events)) for name, events in self._calls.items())
        return {
            name: _confirmation({"id": name, **known.get(name, {})}, *about)
            for name, about in told
            if str(about[0].get("id")) in calls
        }

    def remaining_events(self, questions: Mapping[str, Json]) -> list[Json]:
        """The events that nobody was asked about."""
        asked_about = {one["toolCallId"] for one in questions.values()}
        others = [events for name, events in self._calls.items() if name not in questions]
        results = [one for one in self._results if tool_call_id_of(one) not in asked_about]
        return [*(event for events in others for event in events), *results]


def _told(events: list[Json]) -> tuple[Json, Json]:
    """The call that a confirmation stands for, and what is to be confirmed."""
    text = "".join(str(one.get("delta", "")) for one in events)
    try:
        args = strict_json.loads(text)
    except strict_json.JsonRejected:
        args = None
    fields = as_object(args)
    return as_object(fields.get("originalFunctionCall")), as_object(fields.get("toolConfirmation"))


def _confirmation(interrupt: Json, original: Json, confirmation: Json) -> Json:
    hint, wanted = str(confirmation.get("hint") or ""), confirmation.get("payload")
    schema = closed_approval_schema()
    if wanted is None:
        schema["properties"]["reason"]["description"] = _UNTOLD
    else:
        schema = closed_approval_schema(payload=infer_schema(wanted))
        approved = {"properties": {"approved": {"const": True}}}
        schema |= {"if": approved, "then": {"required": ["payload"]}}
    return {
        **interrupt,
        "reason": "tool_call",
        "toolCallId": str(original.get("id")),
        "message": hint if hint and not hint.startswith(_STOCK_HINT) else _about(original),
        "responseSchema": schema,
    }


def _about(call: Json) -> str:
    return f"Call {call.get('name')}?"


def infer_schema(value: Any) -> Json:
    """Return a schema of what an example shows."""
    if isinstance(value, dict):
        fields = {str(name): infer_schema(one) for name, one in value.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    return {"type": _TYPES[type(value)]} if type(value) in _TYPES else {}


def google_answer(payload: Any) -> Json:
    """An answer as Google's bridge takes it: nothing of it but what was asked for."""
    answer = payload if isinstance(payload, dict) else {}
    reason = {"reason": answer["reason"]} if "reason" in answer else None
    return {"confirmed": answer.get("approved") is True, "payload": answer.get("payload", reason)}


def confirmation_message(names: Iterable[str]) -> Json:
    """
    The calls that were kept, as the message of a conversation: the one that they were said in.

    The bridge looks for answers behind the message that asks. Where it finds none it makes one for
    each answer, and hears the last of them only.
    """
    calls = [
        {"id": name, "type": "function", "function": {"name": _CONFIRMATION, "arguments": "{}"}}
        for name in names
    ]
    return {"id": f"{calls[0]['id']}-asked", "role": "assistant", "toolCalls": calls}


APPROVAL = "function_approval_request"  #: the other kind is the input of a workflow


def microsoft_kind(interrupt: Any) -> str:
    """What Microsoft's bridge asks for; empty for interrupts of others."""
    told = as_object(as_object(as_object(interrupt).get("metadata")).get("agent_framework"))
    return str(told.get("type") or "")


def microsoft_interrupt(interrupt: Json) -> Json:
    """A question with one way to change the arguments: the one that is recorded here."""
    if microsoft_kind(interrupt) != APPROVAL:
        return interrupt
    properties = as_object(as_object(interrupt.get("responseSchema")).get("properties"))
    edited = properties.get("editedArgs")
    schema = closed_approval_schema(edited_args=edited if isinstance(edited, dict) else None)
    schema["properties"]["reason"]["description"] = _UNTOLD
    return {**interrupt, "responseSchema": schema}


def microsoft_answer(payload: Any) -> Json:
    """An approval as Microsoft's bridge takes it: it refuses what it did not ask for."""
    answer = payload if isinstance(payload, dict) else {}
    approved = answer.get("approved") is True
    edits = {"editedArgs": answer["editedArgs"]} if approved and "editedArgs" in answer else {}
    return {"approved": approved, **edits}


def is_pydantic_ai(interrupt: Any) -> bool:
    """Whether it is an approval of Pydantic AI, whose outcomes do not name the calls it left."""
    return bool(as_object(interrupt).get("id") == f"int-{tool_call_id_of(interrupt)}")


def tool_result_interrupt(name: str, call: str, tool: str) -> Json:
    """The question what a call gives that the agent has left to others."""
    return {
        "id": name,
        "reason": "input_required",
        "toolCallId": call,
        "message": f"What is the result of {tool}?",
        "responseSchema": {"type": "string"},
    }


def result_text(status: str, payload: Any) -> str:
    """What the agent is told of such a call."""
    if status == "cancelled":
        return _CALLED_OFF
    return payload if isinstance(payload, str) else strict_json.dumps(payload)


def as_object(value: Any) -> Json:
    """A value that should be an object, or an empty one."""
    return value if isinstance(value, dict) else {}
