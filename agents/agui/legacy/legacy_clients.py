"""
Clients of older dialects: parsing of their answers, and events in their dialect.

A request uses one dialect: a 1.0 client rejects older events after a canonical outcome, and an
older client sees no interrupt in one.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy.dialects import Dialect, Json
from agents.agui.legacy.reported_calls import is_same_json, parse_embedded_json
from agents.agui.legacy.vendor_quirks import as_object

#: The dialects for clients; Mastra's client uses LangGraph's.
CLIENT_DIALECTS = (Dialect.CANONICAL, Dialect.DRAFT, Dialect.LANGGRAPH)


@dataclass(frozen=True)
class ClientAnswer:
    """An answer of an older client."""

    payload: Any
    interrupt_id: str = ""  #: "" means the last interrupt delivered


def extract_answer(dialect: Dialect, value: Any) -> tuple[Any, ClientAnswer | None]:
    """Return the input without its answer, and the answer; None for 1.0 entries or no answer."""
    if dialect is Dialect.CANONICAL or not isinstance(value, dict):
        return value, None
    if dialect is Dialect.DRAFT:
        remaining = {name: member for name, member in value.items() if name != "resume"}
        resume = value.get("resume")
        if not isinstance(resume, dict):
            return value, None
        return remaining, ClientAnswer(resume.get("payload"), str(resume.get("interruptId") or ""))
    props = as_object(value.get("forwardedProps"))
    command = as_object(props.get("command"))
    if "resume" not in command:
        return value, None
    remaining_props = {name: member for name, member in props.items() if name != "command"}
    # CopilotKit sends back the event that it answers.
    interrupt_id = as_object(parse_embedded_json(command.get("interruptEvent"))).get("id")
    answer = ClientAnswer(
        parse_embedded_json(command["resume"]),
        interrupt_id if isinstance(interrupt_id, str) else "",
    )
    return {**value, "forwardedProps": remaining_props}, answer


def with_message_ids(dialect: Dialect, value: Any) -> Any:
    """
    Return an input whose messages have ids, which .NET clients of the draft do not send.

    The same text at the same place has the same id in each input of a conversation. An assistant's
    message without an id is a copy of one that the thread has.
    """
    messages = value.get("messages") if isinstance(value, dict) else None
    if dialect is not Dialect.DRAFT or not isinstance(messages, list):
        return value
    seen: Counter[str] = Counter()
    results = []
    for message in messages:
        role = as_object(message).get("role")
        if not isinstance(message, dict) or message.get("id"):
            results.append(message)
        elif role not in ("assistant", "tool"):
            text = strict_json.dumps([role, message.get("content")])
            seen[text] += 1
            digest = hashlib.sha256(f"{seen[text]} {text}".encode()).hexdigest()
            results.append({**message, "id": f"message-{digest[:24]}"})
    return {**value, "messages": results}


def resume_entry_fields(answer: Any, *, is_approval: bool) -> tuple[str, Any]:
    """
    Return status and payload of a resume entry, without the call that the answer repeats.

    A boolean approves or denies a call.
    """
    if isinstance(answer, dict) and answer.get("cancelled") is True and not answer.get("approved"):
        return "cancelled", None
    if is_approval and isinstance(answer, bool):
        return "resolved", {"approved": answer}
    if not (is_approval and isinstance(answer, dict)):
        return "resolved", answer
    payload = {name: member for name, member in answer.items() if name != "toolCall"}
    if "approved" not in payload and isinstance(payload.get("accepted"), bool):
        payload["approved"] = payload.pop("accepted")
    return "resolved", payload


def merge_edits(payload: Json, answer: Any, proposed: Any, flat: Collection[str] = ()) -> Json:
    """
    Return an approval payload with the client's edits as `editedArgs`.

    Edits are the call that a .NET client repeats, the draft's `modifications` of the arguments,
    and members of the payload that `flat` names. Modifications that are not an object become
    `editedArgs` as they are, and fail validation later.
    """
    call = as_object(as_object(answer).get("toolCall"))
    edits = parse_embedded_json(call.get("arguments"))
    if edits is None:
        edits = payload.get("editedArgs", proposed)
    remaining = {name: value for name, value in payload.items() if name != "modifications"}
    changes = payload.get("modifications")
    if isinstance(edits, dict) and isinstance(changes, dict):
        edits = edits | changes
    elif changes is not None:
        edits = changes
    if isinstance(edits, dict):
        edits = edits | {name: remaining[name] for name in flat if name in remaining}
        remaining = {name: value for name, value in remaining.items() if name not in flat}
    return remaining if is_same_json(edits, proposed) else {**remaining, "editedArgs": edits}


class DialectWriter:
    """Translates the events of one stream into an older dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._calls: dict[str, Json] = {}

    def write(self, event: Json) -> list[Json]:
        """Return the translated events; calls come from the snapshot before an outcome."""
        if event.get("type") == "MESSAGES_SNAPSHOT":
            self.add_tool_calls(event.get("messages", ()))
        if event.get("type") != "RUN_FINISHED" or self._dialect is Dialect.CANONICAL:
            return [event]
        outcome = event.get("outcome") or {"type": "success"}
        end = {name: value for name, value in event.items() if name != "outcome"}
        interrupts: list[Json] = outcome.get("interrupts") or []
        if self._dialect is Dialect.LANGGRAPH:
            return [*self.interrupt_events(interrupts), end]
        if outcome["type"] == "interrupt":
            return [end | {"outcome": "interrupt", "interrupt": self._draft(interrupts[0])}]
        # The draft has no outcome for a cancelled run.
        return [end | ({"outcome": "success"} if outcome["type"] == "success" else {})]

    def add_tool_calls(self, messages: Sequence[Json]) -> None:
        """Record the tool calls of a conversation, which interrupts refer to."""
        self._calls |= {
            call["id"]: call["function"]
            for message in messages
            for call in message.get("toolCalls") or ()
        }

    def interrupt_events(self, interrupts: Sequence[Json]) -> list[Json]:
        """Return the interrupts as `on_interrupt` events of LangGraph."""
        return [self._on_interrupt(interrupt) for interrupt in interrupts]

    def _draft(self, interrupt: Json) -> Json:
        payload = _common_fields(interrupt)
        call = self._call(interrupt)
        if call is None and (fields := _draft_fields(interrupt)) is not None:
            return {"id": interrupt["id"], **fields, **_signoff_metadata(interrupt)}
        if call is not None and interrupt["reason"] == "tool_call":
            payload |= {
                "functionName": call["name"],
                "functionArguments": parse_embedded_json(call["arguments"]),
                "callId": interrupt["toolCallId"],
            }
        return {"id": interrupt["id"], "reason": interrupt["reason"], "payload": payload}

    def _on_interrupt(self, interrupt: Json) -> Json:
        """Build an event without `toolCallId`, which CopilotKit would show as the call itself."""
        reason = interrupt["reason"]
        agent_value = _langgraph_value(interrupt)
        value = {
            "kind": reason,
            "reason": reason,
            **_common_fields(interrupt),
            **agent_value,
            "id": interrupt["id"],
        }
        if (call := self._call(interrupt)) is not None:
            value |= {"toolName": call["name"], "args": parse_embedded_json(call["arguments"])}
        return {
            "type": "CUSTOM",
            "name": "on_interrupt",
            "value": strict_json.dumps(value),
            "rawEvent": {"id": interrupt["id"], "value": value},
        }

    def _call(self, interrupt: Json) -> Json | None:
        return self._calls.get(interrupt.get("toolCallId", ""))


def _draft_fields(interrupt: Json) -> Json | None:
    """Return reason and payload of an agent that uses the draft too, unless about a call."""
    legacy = as_object(interrupt.get("metadata")).get("draft")
    if not isinstance(legacy, dict) or interrupt["reason"] == "tool_call":
        return None
    if "functionName" in as_object(legacy.get("payload")):
        return None
    return {name: legacy[name] for name in ("reason", "payload") if name in legacy}


def _signoff_metadata(interrupt: Json) -> Json:
    """Return the server's part of the metadata, with the view digest."""
    signoff = (interrupt.get("metadata") or {}).get("signoff")
    return {"metadata": {"signoff": signoff}} if signoff else {}


def _langgraph_value(interrupt: Json) -> Json:
    """Return the interrupt value of a LangGraph agent, which its clients match."""
    if interrupt["reason"] == "tool_call":
        return {}
    details = as_object(as_object(interrupt.get("metadata")).get("langgraph"))
    value = as_object(details.get("value"))
    return {name: field for name, field in value.items() if name not in ("toolCallId", "metadata")}


def _common_fields(interrupt: Json) -> Json:
    """Return the fields that all interrupts share."""
    names = ("message", "responseSchema", "expiresAt", "metadata")
    return {name: interrupt[name] for name in names if name in interrupt}
