"""
What agents in the field say instead of an interrupt outcome, and how each wants to be resumed.

Read from the events of a run: the *draft* of 2025 (a string outcome and one `interrupt`),
LangGraph's `on_interrupt` events, with or without a canonical outcome beside them, and Mastra's,
which names the suspended tool call. Interrupts come out as AG-UI 1.0 has them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from agents.agui import strict_json

Json = dict[str, Any]

#: What LangGraph names its interrupts with: the map from id to answer is told by it.
_LANGGRAPH_ID = re.compile(r"[0-9a-f]{32}")
#: Google's bridge asks by a call of this name, which stands for the one that is asked about.
_CONFIRMATION = "adk_request_confirmation"
_REASON = re.compile(r"[A-Za-z0-9_.:-]{1,80}")


class Dialect(StrEnum):
    CANONICAL = "canonical"
    DRAFT = "draft"
    LANGGRAPH = "langgraph"
    MASTRA = "mastra"


@dataclass(frozen=True)
class Spoken:
    """How a run was interrupted: what has to be known to answer in the same dialect."""

    dialect: Dialect = Dialect.CANONICAL
    #: by interrupt id: what the answer has to say again
    notes: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "Spoken":
        """Read what `to_json` wrote; canonical if there is nothing."""
        return cls(Dialect(value["dialect"]), value["notes"]) if value else cls()


@dataclass(frozen=True)
class Reply:
    """A decision on one interrupt, and the stored tool call that it was about."""

    interrupt_id: str
    status: str  #: "resolved" or "cancelled"
    payload: Any = None
    tool_call_id: str | None = None
    tool_name: str = ""
    args: Mapping[str, Any] | None = None  #: what may be executed: as edited, if it was


class Reader:
    """Turns the events of one run into canonical ones, as JSON."""

    def __init__(self, run_key: str) -> None:
        self._run_key = run_key
        self._held: list[tuple[str, Any]] = []  # (id, value) of interrupt events
        self._calls: set[str] = set()
        self._confirmations: dict[str, list[Json]] = {}  # calls that stand for another one
        self.spoken = Spoken()

    def read(self, event: Json) -> list[Json]:
        """The canonical events that say the same; interrupt events wait for the run's end."""
        match event.get("type"):
            case "TOOL_CALL_START" if event.get("toolCallName") == _CONFIRMATION:
                self._confirmations[str(event.get("toolCallId"))] = [event]
                return []
            case "TOOL_CALL_START":
                self._calls.add(str(event.get("toolCallId")))
            case "TOOL_CALL_ARGS" | "TOOL_CALL_END" if held := self._confirmations.get(
                str(event.get("toolCallId"))
            ):
                held.append(event)
                return []
            case "CUSTOM" if event.get("name") == "on_interrupt":
                raw = event.get("rawEvent")
                name = raw.get("id") if isinstance(raw, dict) else None
                self._held.append((name or "", unpacked(event.get("value"))))
                return []
            case "RUN_FINISHED":
                return self._finished(event)
        return [event]

    def _finished(self, event: Json) -> list[Json]:
        outcome, legacy = event.get("outcome"), event.get("interrupt")
        if isinstance(outcome, dict):
            self._note_langgraph(outcome)
            return self._confirmed(event, outcome)
        rest = {key: value for key, value in event.items() if key not in ("outcome", "interrupt")}
        before: list[Json] = []
        if outcome == "interrupt" or (isinstance(legacy, dict) and outcome != "success"):
            before, interrupt = self._of_draft(legacy if isinstance(legacy, dict) else {})
            result: Json = {"type": "interrupt", "interrupts": [interrupt]}
        elif self._held:
            result = self._of_events()
        else:
            result = {"type": "cancelled" if outcome == "cancelled" else "success"}
        return self._confirmed({**rest, "outcome": result}, result, before)

    def _confirmed(self, event: Json, outcome: Json, before: Sequence[Json] = ()) -> list[Json]:
        """Ask about the call that a confirmation stands for; one that nobody asks about stays."""
        asked = outcome.get("interrupts") if outcome.get("type") == "interrupt" else None
        if isinstance(asked, list):
            outcome = {**outcome, "interrupts": [self._original(one) for one in asked]}
        left = [held for events in self._confirmations.values() for held in events]
        return [*left, *before, {**event, "outcome": outcome}]

    def _original(self, interrupt: Any) -> Any:
        call = interrupt.get("toolCallId") if isinstance(interrupt, dict) else None
        if call not in self._confirmations:
            return interrupt
        told = (interrupt.get("metadata") or {}).get("adk") or {}
        original = told.get("originalFunctionCall") or {}
        if original.get("id") not in self._calls:
            return interrupt
        del self._confirmations[call]
        hint = str((told.get("toolConfirmation") or {}).get("hint") or "")
        # What it says by itself is written for programs.
        is_own = hint and not hint.startswith("Please approve or reject the tool call")
        return {
            "responseSchema": _approval_schema(may_edit=False),
            **interrupt,
            "reason": "tool_call",
            "toolCallId": original["id"],
            "message": hint if is_own else f"Call {original.get('name')}?",
        }

    def _note_langgraph(self, outcome: Json) -> None:
        """LangGraph's bridge says it canonically, and hears several answers by its map only."""
        interrupts = outcome.get("interrupts")
        if outcome.get("type") != "interrupt" or not isinstance(interrupts, list):
            return
        asked = [one for one in interrupts if isinstance(one, dict)]
        told = any("langgraph" in (one.get("metadata") or {}) for one in asked)
        ids = [one.get("id") for one in asked]
        if (told or self._held) and all(map(_is_langgraph_id, ids)):
            self.spoken = Spoken(Dialect.LANGGRAPH, {str(name): {} for name in ids})

    def _of_draft(self, legacy: Json) -> tuple[list[Json], Json]:
        """The interrupt, and the tool call that it is about, if no events told of that."""
        name = str(legacy.get("id") or f"{self._run_key}-i1")
        payload = legacy.get("payload")
        note = {"has_id": bool(legacy.get("id")), "is_approval": False}
        interrupt: Json = {
            "id": name,
            "reason": _reason(legacy.get("reason"), "draft"),
            "metadata": {"draft": legacy},
        }
        before: list[Json] = []
        if isinstance(payload, dict) and isinstance(payload.get("functionName"), str):
            note["is_approval"] = True
            call = str(payload.get("callId") or payload.get("toolCallId") or f"{name}-call")
            if call not in self._calls:
                before = _proposal(call, payload["functionName"], payload.get("functionArguments"))
            interrupt |= {
                "reason": "tool_call",
                "toolCallId": call,
                "message": f"Call {payload['functionName']}?",
                "responseSchema": _approval_schema(may_edit=True),
            }
        elif isinstance(payload, dict):
            interrupt |= _asked(payload)
        self.spoken = Spoken(Dialect.DRAFT, {name: note})
        return before, interrupt

    def _of_events(self) -> Json:
        is_mastra = len(self._held) == 1 and _is_mastra(self._held[0][1])
        notes: dict[str, Json] = {}
        interrupts = []
        for number, (given, value) in enumerate(self._held, start=1):
            name = given or f"{self._run_key}-i{number}"
            notes[name] = _mastra_note(value) if is_mastra else {}
            interrupts.append(self._of_event(name, value, is_mastra=is_mastra))
        self.spoken = Spoken(Dialect.MASTRA if is_mastra else Dialect.LANGGRAPH, notes)
        return {"type": "interrupt", "interrupts": interrupts}

    def _of_event(self, name: str, value: Any, *, is_mastra: bool) -> Json:
        framework = "mastra" if is_mastra else "langgraph"
        fields = value if isinstance(value, dict) else {}
        interrupt: Json = {
            "id": name,
            "reason": _reason(fields.get("reason") or fields.get("kind"), framework),
            "metadata": {framework: {"value": value}},
        }
        if isinstance(value, str):
            interrupt["message"] = value
        interrupt |= _asked(fields)
        if is_mastra and "responseSchema" not in interrupt:
            schema = unpacked(fields.get("resumeSchema"))
            interrupt |= {"responseSchema": schema} if isinstance(schema, dict) else {}
        call = fields.get("toolCallId")
        if isinstance(call, str) and call in self._calls:
            interrupt["toolCallId"] = call
        elif interrupt["reason"] == "tool_call":
            interrupt["reason"] = "confirmation"
        return interrupt


def resume_fields(spoken: Spoken, replies: Sequence[Reply], forwarded_props: Any) -> Json:
    """The fields of a RunAgentInput that resume a run in the dialect that it was interrupted in."""
    if spoken.dialect is Dialect.CANONICAL:
        return {"resume": [_entry(reply) for reply in replies]}
    props = dict(forwarded_props) if isinstance(forwarded_props, dict) else {}
    first = replies[0]
    note = spoken.notes.get(first.interrupt_id, {})
    if spoken.dialect is Dialect.DRAFT:
        name = {"interruptId": first.interrupt_id} if note.get("has_id") else {}
        return {"resume": {**name, "payload": _draft_payload(first, note)}}
    if spoken.dialect is Dialect.MASTRA:
        command = {"resume": _plain(first), "interruptEvent": note}
        return {"forwardedProps": {**props, "command": command}}
    if all(_is_langgraph_id(reply.interrupt_id) for reply in replies):
        resume: Any = {reply.interrupt_id: _plain(reply) for reply in replies}
    else:
        resume = _plain(first)
    return {"forwardedProps": {**props, "command": {"resume": resume}}}


def can_answer(spoken: Spoken) -> bool:
    """Whether all interrupts of the run can be answered: without ids only one can."""
    return (
        spoken.dialect is not Dialect.LANGGRAPH
        or len(spoken.notes) == 1
        or all(_is_langgraph_id(name) for name in spoken.notes)
    )


def _entry(reply: Reply) -> Json:
    entry: Json = {"interruptId": reply.interrupt_id, "status": reply.status}
    if reply.status == "resolved" and reply.payload is not None:
        entry["payload"] = reply.payload
    return entry


def _plain(reply: Reply) -> Any:
    """An answer where there is no word for calling off: a denial that says so."""
    if reply.status == "cancelled":
        return {"approved": False, "cancelled": True}
    return reply.payload


def _draft_payload(reply: Reply, note: Mapping[str, Any]) -> Any:
    """The .NET server runs what the answer says: it gets the call from our own store."""
    payload = _plain(reply)
    if not (note.get("is_approval") and isinstance(payload, dict)):
        return payload
    if reply.tool_call_id is None or reply.args is None:
        return payload
    call = {
        "callId": reply.tool_call_id,
        "name": reply.tool_name,
        "arguments": dict(reply.args),
    }
    return {**payload, "toolCall": call}


def unpacked(value: Any) -> Any:
    """What a field carries: JSON inside a string, or as it is."""
    if not isinstance(value, str):
        return value
    try:
        return strict_json.loads(value)
    except strict_json.JsonRejected:
        return value


def _approval_schema(*, may_edit: bool) -> Json:
    edits = {"editedArgs": {"type": "object"}} if may_edit else {}
    return {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, **edits, "reason": {"type": "string"}},
        "required": ["approved"],
    }


def _asked(fields: Mapping[str, Any]) -> Json:
    """The question and its schema, under the names that are in use for them."""
    messages = [fields.get(one) for one in ("message", "question", "prompt", "description")]
    schemas = [fields.get(one) for one in ("responseSchema", "response_schema", "inputSchema")]
    message = next((one for one in messages if isinstance(one, str) and one), None)
    schema = next((one for one in schemas if isinstance(one, dict)), None)
    asked = {"message": message, "responseSchema": schema}
    return {name: value for name, value in asked.items() if value is not None}


def _reason(given: Any, framework: str) -> str:
    """A reason of 1.0: ours as they are, any other under the framework's name."""
    if given in ("tool_call", "input_required", "confirmation"):
        return str(given)
    if isinstance(given, str) and _REASON.fullmatch(given):
        return given if ":" in given and not given.startswith("core:") else f"{framework}:{given}"
    return f"{framework}:interrupt"


def _is_mastra(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("type") == "mastra_suspend"
        or (isinstance(value.get("toolCallId"), str) and "suspendPayload" in value)
    )


def _mastra_note(value: Json) -> Json:
    names = ("toolCallId", "runId")
    return {name: value[name] for name in names if isinstance(value.get(name), str)}


def _proposal(call: str, name: str, arguments: Any) -> list[Json]:
    """A tool call that was told of in an interrupt only, as events."""
    args = unpacked(arguments)
    delta = strict_json.dumps(args if isinstance(args, dict) else {})
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def _is_langgraph_id(name: Any) -> bool:
    return isinstance(name, str) and _LANGGRAPH_ID.fullmatch(name) is not None
