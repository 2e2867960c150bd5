"""
Deviations of framework bridges that otherwise speak AG-UI 1.0.

Google's bridge interrupts with a tool call that represents the call to confirm. Microsoft's takes
each argument of a call as an edit. Pydantic AI's run succeeds with calls that have no result. The
bridge of the Claude Agent SDK takes a behavior instead of an approval.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from agents.agui import strict_json
from agents.agui.interrupts import NO_REASON, approval_schema

Json = dict[str, Any]

CONFIRMATION = "adk_request_confirmation"
#: The default hint of Google's bridge, which is written for programs.
_STOCK_HINT = "Please approve or reject the tool call"
_CALLED_OFF = "Nobody answered: the request was cancelled."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def tool_call_id_of(value: Any) -> str:
    """Return the tool call id of an event or an interrupt."""
    return str(as_object(value).get("toolCallId"))


class GoogleConfirmations:
    """
    Google's confirmation calls, held until the end of the run.

    The calls to confirm get placeholder results meanwhile, which are held as well.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[Json]] = {}
        self._results: list[Json] = []

    def hold(self, event: Json) -> bool:
        """Hold an event that may belong to a confirmation; return True if it was held."""
        kind, name = event.get("type"), tool_call_id_of(event)
        if kind == "TOOL_CALL_START" and event.get("toolCallName") == CONFIRMATION:
            self._calls[name] = [event]
        elif kind in ("TOOL_CALL_ARGS", "TOOL_CALL_END") and name in self._calls:
            self._calls[name].append(event)
        elif kind == "TOOL_CALL_RESULT" and self._calls:
            self._results.append(event)
        else:
            return False
        return True

    def __bool__(self) -> bool:
        return bool(self._calls)

    def interrupts(
        self, outcome_interrupts: Iterable[Any], calls: Collection[str]
    ) -> dict[str, Json]:
        """
        Return the interrupts about the calls to confirm, by confirmation id.

        `outcome_interrupts` may be empty: the bridge adds an outcome only if configured so.
        Confirmations of calls that are not among `calls` are ignored.
        """
        by_call = {tool_call_id_of(item): as_object(item) for item in outcome_interrupts}
        confirmations = (
            (name, _parse_confirmation(events)) for name, events in self._calls.items()
        )
        return {
            name: _confirmation({"id": name, **by_call.get(name, {})}, *confirmation)
            for name, confirmation in confirmations
            if str(confirmation[0].get("id")) in calls
        }

    def remaining_events(self, interrupts_by_id: Mapping[str, Json]) -> list[Json]:
        """Return the held events that belong to no interrupt."""
        interrupted_calls = {item["toolCallId"] for item in interrupts_by_id.values()}
        others = [events for name, events in self._calls.items() if name not in interrupts_by_id]
        results = [item for item in self._results if tool_call_id_of(item) not in interrupted_calls]
        return [*(event for events in others for event in events), *results]


def _parse_confirmation(events: list[Json]) -> tuple[Json, Json]:
    """Return the call to confirm, and the confirmation."""
    text = "".join(str(item.get("delta", "")) for item in events)
    try:
        args = strict_json.loads_arguments(text)
    except strict_json.JsonRejected:
        args = None
    fields = as_object(args)
    return as_object(fields.get("originalFunctionCall")), as_object(fields.get("toolConfirmation"))


def _confirmation(interrupt: Json, original: Json, confirmation: Json) -> Json:
    hint, example = str(confirmation.get("hint") or ""), confirmation.get("payload")
    schema = approval_schema()
    if example is None:
        schema["properties"]["reason"]["description"] = NO_REASON
    else:
        schema = approval_schema(payload=infer_schema(example))
        approved = {"properties": {"approved": {"const": True}}}
        schema |= {"if": approved, "then": {"required": ["payload"]}}
    has_hint = hint and not hint.startswith(_STOCK_HINT)
    return {
        **interrupt,
        "reason": "tool_call",
        "toolCallId": str(original.get("id")),
        "message": hint if has_hint else f"Call {original.get('name')}?",
        "responseSchema": schema,
    }


def infer_schema(value: Any) -> Json:
    """Return a schema for values like the example."""
    if isinstance(value, dict):
        fields = {str(name): infer_schema(item) for name, item in value.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    return {"type": _TYPES[type(value)]} if type(value) in _TYPES else {}


def google_answer(payload: Any) -> Json:
    """Return an answer in the form of Google's bridge, without other fields."""
    answer = payload if isinstance(payload, dict) else {}
    reason = {"reason": answer["reason"]} if "reason" in answer else None
    return {"confirmed": answer.get("approved") is True, "payload": answer.get("payload", reason)}


def confirmation_message(names: Iterable[str]) -> Json:
    """
    Return the message with the confirmation calls.

    The bridge looks for answers after this message. Without it, it uses only the last answer.
    """
    calls = [
        {"id": name, "type": "function", "function": {"name": CONFIRMATION, "arguments": "{}"}}
        for name in names
    ]
    return {"id": f"{calls[0]['id']}-asked", "role": "assistant", "toolCalls": calls}


APPROVAL = "function_approval_request"  #: the other kind is workflow input


def microsoft_kind(interrupt: Any) -> str:
    """Return the request type of Microsoft's bridge, "" for other interrupts."""
    metadata = as_object(as_object(as_object(interrupt).get("metadata")).get("agent_framework"))
    return str(metadata.get("type") or "")


def microsoft_interrupt(interrupt: Json) -> Json:
    """Return an interrupt whose arguments can be changed through `editedArgs` only."""
    if microsoft_kind(interrupt) != APPROVAL:
        return interrupt
    properties = as_object(as_object(interrupt.get("responseSchema")).get("properties"))
    edited = properties.get("editedArgs")
    schema = approval_schema(edited_args=edited if isinstance(edited, dict) else None)
    schema["properties"]["reason"]["description"] = NO_REASON
    return {**interrupt, "responseSchema": schema}


def microsoft_answer(payload: Any) -> Json:
    """Return an approval in the form of Microsoft's bridge, which rejects other fields."""
    answer = payload if isinstance(payload, dict) else {}
    approved = answer.get("approved") is True
    edits = {"editedArgs": answer["editedArgs"]} if approved and "editedArgs" in answer else {}
    return {"approved": approved, **edits}


BEHAVIOR = "behavior"  #: the kind of an interrupt that is answered by one


def takes_behavior(interrupt: Any) -> bool:
    """Return True for an approval of the Claude Agent SDK (ag-ui-claude-sdk 0.2)."""
    fields = as_object(interrupt)
    schema = fields.get("responseSchema")
    names_behavior = schema is None or BEHAVIOR in as_object(as_object(schema).get("properties"))
    has_call = isinstance(fields.get("toolCallId"), str)
    return fields.get("reason") == "tool_approval" and has_call and names_behavior


def behavior_interrupt(interrupt: Json) -> Json:
    """Return an approval of the Claude Agent SDK as one of AG-UI."""
    schema = approval_schema(edited_args={"type": "object"})
    return {**interrupt, "reason": "tool_call", "responseSchema": schema}


def behavior_answer(payload: Any) -> Json:
    """Return an answer in the form of the Claude Agent SDK."""
    answer = as_object(payload)
    if answer.get("approved") is True:
        edits = {"updatedInput": answer["editedArgs"]} if "editedArgs" in answer else {}
        return {BEHAVIOR: "allow", **edits}
    return {BEHAVIOR: "deny", "message": answer.get("reason") or "Denied by a person."}


def proof_of(interrupt: Any) -> Json:
    """
    Return the metadata that a resume of AG2's server has to bring, {} for other interrupts.

    With it anybody could answer there, so neither people nor clients get it.
    """
    proof = as_object(as_object(as_object(interrupt).get("metadata")).get("ag2")).get("proof")
    return {"ag2": {"proof": proof}} if isinstance(proof, str) else {}


def without_proof(interrupt: Json) -> Json:
    """Return an interrupt without the proof of AG2's server."""
    if not proof_of(interrupt):
        return interrupt
    metadata = dict(interrupt["metadata"])
    metadata["ag2"] = {name: value for name, value in metadata["ag2"].items() if name != "proof"}
    remaining = {name: value for name, value in metadata.items() if value != {}}
    others = {name: value for name, value in interrupt.items() if name != "metadata"}
    return {**others, "metadata": remaining} if remaining else others


def is_mastra(value: Any) -> bool:
    """Return True for the value of an event with which Mastra's bridge suspends a tool call."""
    return isinstance(value, dict) and (
        value.get("type") == "mastra_suspend"
        or (isinstance(value.get("toolCallId"), str) and "suspendPayload" in value)
    )


def mastra_value(interrupt: Any) -> Json:
    """Return the event in an interrupt of Mastra's bridge, {} for other interrupts."""
    value = as_object(as_object(interrupt).get("metadata")).get("mastra")
    return value if is_mastra(value) and isinstance(value, dict) else {}


def mastra_id(value: Any) -> str:
    """Return the id that Mastra's bridge gives to the interrupt of an event."""
    return f"{as_object(value).get('runId')}::{tool_call_id_of(value)}"


def is_pydantic_ai(interrupt: Any) -> bool:
    """Return True for an approval of Pydantic AI, whose outcomes omit deferred calls."""
    return bool(as_object(interrupt).get("id") == f"int-{tool_call_id_of(interrupt)}")


def tool_result_interrupt(name: str, call: str, tool: str) -> Json:
    """Return an interrupt that asks for the result of a deferred call."""
    return {
        "id": name,
        "reason": "input_required",
        "toolCallId": call,
        "message": f"What is the result of {tool}?",
        "responseSchema": {"type": "string"},
    }


def result_text(status: str, payload: Any) -> str:
    """Return the result of a deferred call."""
    if status == "cancelled":
        return _CALLED_OFF
    return payload if isinstance(payload, str) else strict_json.dumps(payload)


def as_object(value: Any) -> Json:
    """Return the value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}
