"""
Clients that speak an older dialect: what they send to answer, and how they are told of a question.

One dialect a request, never mixed: a client of 1.0 refuses an older answer once it has seen a
canonical outcome, and an older client sees no question in one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy.dialects import Dialect, Json, is_same_json, parse_embedded_json

#: What a client may ask for; Mastra's own client speaks LangGraph's dialect here.
CLIENT_DIALECTS = (Dialect.CANONICAL, Dialect.DRAFT, Dialect.LANGGRAPH)


@dataclass(frozen=True)
class ClientAnswer:
    """An answer as an older client sent it."""

    payload: Any
    interrupt_id: str = ""  #: "" stands for what it was asked last


def extract_answer(dialect: Dialect, value: Any) -> tuple[Any, ClientAnswer | None]:
    """The input without its answer, and the answer; None if it is none, or an entry of 1.0."""
    if dialect is Dialect.CANONICAL or not isinstance(value, dict):
        return value, None
    if dialect is Dialect.DRAFT:
        rest = {name: member for name, member in value.items() if name != "resume"}
        resume = value.get("resume")
        if not isinstance(resume, dict):
            return value, None
        return rest, ClientAnswer(resume.get("payload"), str(resume.get("interruptId") or ""))
    props = value.get("forwardedProps")
    command = props.get("command") if isinstance(props, dict) else None
    if not isinstance(props, dict) or not isinstance(command, dict) or "resume" not in command:
        return value, None
    kept = {name: member for name, member in props.items() if name != "command"}
    name = _named(parse_embedded_json(command.get("interruptEvent")))
    return {**value, "forwardedProps": kept}, ClientAnswer(
        parse_embedded_json(command["resume"]), name
    )


def _named(event: Any) -> str:
    """The id of the question that CopilotKit sends back with its answer."""
    name = event.get("id") if isinstance(event, dict) else None
    return name if isinstance(name, str) else ""


def resume_entry_fields(given: Any, *, is_approval: bool) -> tuple[str, Any]:
    """
    Status and payload of a resume entry; what runs is what is stored, not what an answer repeats.

    A boolean alone approves or denies a call.
    """
    if isinstance(given, dict) and given.get("cancelled") is True and not given.get("approved"):
        return "cancelled", None
    if is_approval and isinstance(given, bool):
        return "resolved", {"approved": given}
    if not (is_approval and isinstance(given, dict)):
        return "resolved", given
    payload = {name: member for name, member in given.items() if name != "toolCall"}
    if "approved" not in payload and isinstance(payload.get("accepted"), bool):
        payload["approved"] = payload.pop("accepted")
    return "resolved", payload


def merge_edits(payload: Json, given: Any, proposed: Any, flat: Collection[str] = ()) -> Json:
    """
    Return an approval with each edit that its client sent as `editedArgs`.

    Edits are the call that a .NET client repeats, the draft's `modifications` of what is to run,
    and members of the payload that are named in `flat`. Modifications that are no object stay an
    edit, and are refused as one.
    """
    call = given.get("toolCall") if isinstance(given, dict) else None
    wanted = parse_embedded_json(call.get("arguments")) if isinstance(call, dict) else None
    if wanted is None:
        wanted = payload.get("editedArgs", proposed)
    rest = {name: value for name, value in payload.items() if name != "modifications"}
    changes = payload.get("modifications")
    if isinstance(wanted, dict) and isinstance(changes, dict):
        wanted = wanted | changes
    elif changes is not None:
        wanted = changes
    if isinstance(wanted, dict):
        wanted = wanted | {name: rest[name] for name in flat if name in rest}
        rest = {name: value for name, value in rest.items() if name not in flat}
    return rest if is_same_json(wanted, proposed) else {**rest, "editedArgs": wanted}


class DialectWriter:
    """Retells the events of one stream in an older dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._calls: dict[str, Json] = {}

    def write(self, event: Json) -> list[Json]:
        """The events that say the same; calls are known from the snapshot before an outcome."""
        if event.get("type") == "MESSAGES_SNAPSHOT":
            self.add_tool_calls(event.get("messages", ()))
        if event.get("type") != "RUN_FINISHED" or self._dialect is Dialect.CANONICAL:
            return [event]
        outcome = event.get("outcome") or {"type": "success"}
        rest = {name: value for name, value in event.items() if name != "outcome"}
        interrupts: list[Json] = outcome.get("interrupts") or []
        if self._dialect is Dialect.LANGGRAPH:
            return [*self.interrupt_events(interrupts), rest]
        if outcome["type"] == "interrupt":
            return [rest | {"outcome": "interrupt", "interrupt": self._draft(interrupts[0])}]
        # The draft has no word for a run that was called off.
        return [rest | ({"outcome": "success"} if outcome["type"] == "success" else {})]

    def add_tool_calls(self, messages: Sequence[Json]) -> None:
        """Note the tool calls of a conversation, which interrupts name."""
        self._calls |= {
            call["id"]: call["function"]
            for message in messages
            for call in message.get("toolCalls") or ()
        }

    def interrupt_events(self, interrupts: Sequence[Json]) -> list[Json]:
        """The events that LangGraph's bridge asks with."""
        return [self._on_interrupt(one) for one in interrupts]

    def _draft(self, interrupt: Json) -> Json:
        payload = _told(interrupt)
        call = self._call(interrupt)
        if call is None and (spoken := _spoken_in_the_draft(interrupt)) is not None:
            return {"id": interrupt["id"], **spoken, **_ours(interrupt)}
        if call is not None and interrupt["reason"] == "tool_call":
            payload |= {
                "functionName": call["name"],
                "functionArguments": parse_embedded_json(call["arguments"]),
                "callId": interrupt["toolCallId"],
            }
        return {"id": interrupt["id"], "reason": interrupt["reason"], "payload": payload}

    def _on_interrupt(self, interrupt: Json) -> Json:
        """Without `toolCallId`, by which CopilotKit would take it for the call's own card."""
        reason = interrupt["reason"]
        own = _spoken_by_langgraph(interrupt)
        value = {"kind": reason, "reason": reason, **_told(interrupt), **own, "id": interrupt["id"]}
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


def _spoken_in_the_draft(interrupt: Json) -> Json | None:
    """What an agent asked that speaks the draft too, in its own words; calls are told of by us."""
    legacy = (interrupt.get("metadata") or {}).get("draft")
    if not isinstance(legacy, dict) or interrupt["reason"] == "tool_call":
        return None
    payload = legacy.get("payload")
    if isinstance(payload, dict) and "functionName" in payload:
        return None
    return {name: legacy[name] for name in ("reason", "payload") if name in legacy}


def _ours(interrupt: Json) -> Json:
    """Return the server's part of the metadata, with the view digest."""
    ours = (interrupt.get("metadata") or {}).get("signoff")
    return {"metadata": {"signoff": ours}} if ours else {}


def _spoken_by_langgraph(interrupt: Json) -> Json:
    """Return the own words of a LangGraph agent, which its client's cards match."""
    told = (interrupt.get("metadata") or {}).get("langgraph")
    value = told.get("value") if isinstance(told, dict) else None
    if not isinstance(value, dict) or interrupt["reason"] == "tool_call":
        return {}
    return {name: one for name, one in value.items() if name not in ("toolCallId", "metadata")}


def _told(interrupt: Json) -> Json:
    """What an interrupt says of itself, whatever it is about."""
    names = ("message", "responseSchema", "expiresAt", "metadata")
    return {name: interrupt[name] for name in names if name in interrupt}


def answers_by_interrupt(given: Any, ids: Sequence[str]) -> Mapping[str, Any] | None:
    """LangGraph's map from interrupt to answer; None if it is an answer to one of them."""
    if isinstance(given, dict) and given and set(given) <= set(ids):
        return given
    return None
