"""
What agents in the field say instead of an interrupt outcome.

Read from the events of a run: the *draft* of 2025 (a string outcome and one `interrupt`),
LangGraph's `on_interrupt` events, with or without a canonical outcome beside them, Mastra's, which
names the suspended tool call, and what is particular to single bridges (`vendor_quirks`).
Interrupts come out as AG-UI 1.0 has them.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy import human_in_the_loop, vendor_quirks
from agents.agui.legacy.vendor_quirks import as_object

Json = dict[str, Any]

#: What LangGraph names its interrupts with: the map from id to answer is told by it.
_LANGGRAPH_ID = re.compile(r"[0-9a-f]{32}")
_REASON = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_CORE = ("tool_call", "input_required", "confirmation")
#: Kinds whose values are approved or rejected, whatever else they ask.
_APPROVING = re.compile(r"approv|authori[sz]|confirm", re.IGNORECASE)
_LARGEST_SHAPES = 16 * 1024  #: characters
_MESSAGES = ("message", "question", "prompt", "description")
_SCHEMAS = ("responseSchema", "response_schema", "inputSchema")
_EXPIRIES = ("expiresAt", "expires_at")
_ABOUT_THE_QUESTION = {
    *("kind", "type", "id", "toolCallId", "inputType"),
    *_MESSAGES,
    *_SCHEMAS,
    *_EXPIRIES,
}
#: What a value may be whose type nobody has told.
_ANY_VALUE = [
    {"type": "string", "title": "Text"},
    {"type": "number", "title": "Number"},
    {"type": "boolean", "title": "Yes or no"},
    {"title": "JSON"},
]


class Dialect(StrEnum):
    CANONICAL = "canonical"
    DRAFT = "draft"
    LANGGRAPH = "langgraph"
    MASTRA = "mastra"
    GOOGLE = "google"
    MICROSOFT = "microsoft"
    RESULTS = "results"  #: calls without a result, which is what the answer is, beside others


@dataclass(frozen=True)
class DialectInfo:
    """How a run was interrupted: what `legacy_answers` has to know to answer likewise."""

    dialect: Dialect = Dialect.CANONICAL
    #: by interrupt id: what the answer has to say again
    notes: Mapping[str, Json] = field(default_factory=dict)

    def agent_interrupt_id(self, interrupt_id: str) -> str:
        """What the agent calls an interrupt, if that is not what it is called here."""
        return str(self.notes.get(interrupt_id, {}).get("id", interrupt_id))

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "DialectInfo":
        """Read what `to_json` wrote; canonical if there is nothing."""
        return cls(Dialect(value["dialect"]), value["notes"]) if value else cls()


@dataclass(frozen=True)
class AgentAnswer:
    """A decision on one interrupt, and the stored tool call that it was about."""

    interrupt_id: str
    status: str  #: "resolved" or "cancelled"
    payload: Any = None
    tool_call_id: str | None = None
    tool_name: str = ""
    args: Mapping[str, Any] | None = None  #: what may be executed: as edited, if it was
    metadata: Mapping[str, Any] | None = None  #: of the resume entry, for agents that speak 1.0


class DialectReader:
    """Turns the events of one run into canonical ones, as JSON."""

    def __init__(
        self,
        run_key: str,
        *,
        before: DialectInfo | None = None,
        replies: Sequence[AgentAnswer] = (),
        client_tools: Collection[str] = (),
    ) -> None:
        """Read a run; one that resumes another knows how that was asked, and what was answered."""
        self._run_key = run_key
        self._held: list[tuple[str, Any]] = []  # (id, value) of interrupt events
        #: the names of the calls, by id
        self._calls = {one.tool_call_id: one.tool_name for one in replies if one.tool_call_id}
        self._open: dict[str, None] = {}  # calls of this run without a result, in order
        self._proposed: list[Json] = []  # events of calls that were told of in a question only
        self._written: dict[str, str] = {}  # the arguments of its calls, as JSON text
        self._confirmations = vendor_quirks.GoogleConfirmations()
        self._client_tools = client_tools
        self._edited = {one.tool_call_id for one in replies if _has_edits(one)}
        asked = before or DialectInfo()
        self._answered = {asked.agent_interrupt_id(one.interrupt_id) for one in replies}
        self.dialect_info = DialectInfo()

    def read(self, event: Json) -> list[Json]:
        """The canonical events that say the same; interrupt events wait for the run's end."""
        if self._confirmations.hold(event) or self._is_echo(event):
            return []
        match event.get("type"):
            case "TOOL_CALL_START":
                self._calls[vendor_quirks.tool_call_id_of(event)] = str(event.get("toolCallName"))
                self._open[vendor_quirks.tool_call_id_of(event)] = None
            case "TOOL_CALL_ARGS":
                call = vendor_quirks.tool_call_id_of(event)
                self._written[call] = self._written.get(call, "") + str(event.get("delta", ""))
            case "TOOL_CALL_RESULT":
                self._open.pop(vendor_quirks.tool_call_id_of(event), None)
            case "CUSTOM" if event.get("name") == "on_interrupt":
                name = as_object(event.get("rawEvent")).get("id")
                given = name if isinstance(name, str) else ""
                self._held.append((given, parse_embedded_json(event.get("value"))))
                return []
            case "RUN_FINISHED":
                return self._finished(event)
        return [event]

    def _is_echo(self, event: Json) -> bool:
        """
        Whether LangGraph's bridge repeats what an edited tool was entered with, once it is done.

        The tool paused behind that, and took its edits from the answer.
        """
        is_of_call = event.get("type") in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")
        ended = as_object(event.get("rawEvent")).get("event") == "on_tool_end"
        return is_of_call and ended and vendor_quirks.tool_call_id_of(event) in self._edited

    def _finished(self, event: Json) -> list[Json]:
        outcome, legacy = event.get("outcome"), event.get("interrupt")
        if isinstance(outcome, dict):
            return self._concluded(event, self._of_outcome(outcome))
        rest = {key: value for key, value in event.items() if key not in ("outcome", "interrupt")}
        before: list[Json] = []
        if outcome == "interrupt" or (isinstance(legacy, dict) and outcome != "success"):
            before, interrupt = self._of_draft(legacy if isinstance(legacy, dict) else {})
            result: Json = {"type": "interrupt", "interrupts": [interrupt]}
        elif self._held:
            result = self._of_events()
        else:
            result = {"type": "cancelled" if outcome == "cancelled" else "success"}
        return self._concluded(rest, result, before)

    def _concluded(self, event: Json, outcome: Json, before: Sequence[Json] = ()) -> list[Json]:
        """The end of the run; a confirmation that nobody asks about stays a call."""
        asked = outcome.get("interrupts") or []
        proposed, self._proposed = self._proposed, []
        questions: Mapping[str, Json] = {}
        if outcome.get("type") in ("interrupt", "success") and isinstance(asked, list):
            questions = self._confirmations.interrupts(asked, self._calls)
        if questions:
            self.dialect_info = DialectInfo(Dialect.GOOGLE, {name: {} for name in questions})
            others = [one for one in asked if vendor_quirks.tool_call_id_of(one) not in questions]
            outcome = {"type": "interrupt", "interrupts": [*others, *questions.values()]}
        left = self._confirmations.remaining_events(questions)
        return [*left, *before, *proposed, {**event, "outcome": outcome}]

    def _of_outcome(self, outcome: Json) -> Json:
        """An outcome that needs no translation, but for what its bridge does in its own way."""
        interrupts, pending = outcome.get("interrupts"), outcome.get("pendingToolCallIds")
        if outcome.get("type") == "success" and isinstance(pending, list):
            questions = self._results_wanted(map(str, pending))
            return {"type": "interrupt", "interrupts": questions} if questions else outcome
        if outcome.get("type") != "interrupt" or not isinstance(interrupts, list):
            return outcome
        if self._is_langgraph(interrupts):
            interrupts = [question for one in interrupts for question in self._of_langgraph(one)]
        elif interrupts and all(map(vendor_quirks.microsoft_kind, interrupts)):
            kinds = {str(one.get("id")): vendor_quirks.microsoft_kind(one) for one in interrupts}
            notes = {name: {"kind": kind} for name, kind in kinds.items()}
            self.dialect_info = DialectInfo(Dialect.MICROSOFT, notes)
            interrupts = [vendor_quirks.microsoft_interrupt(one) for one in interrupts]
        elif interrupts and all(map(vendor_quirks.is_pydantic_ai, interrupts)):
            asked = {vendor_quirks.tool_call_id_of(one) for one in interrupts}
            left = [name for name in self._open if name not in asked]
            interrupts = [*interrupts, *self._results_wanted(left)]
        return {**outcome, "interrupts": interrupts}

    def _is_langgraph(self, interrupts: list[Any]) -> bool:
        """LangGraph's bridge says it canonically, and hears several answers by its map only."""
        asked = [one for one in interrupts if isinstance(one, dict)]
        told = any("langgraph" in as_object(one.get("metadata")) for one in asked)
        named = len(asked) == len(interrupts) and all(
            is_langgraph_id(one.get("id")) for one in asked
        )
        return (told or bool(self._held)) and named

    def _of_langgraph(self, interrupt: Json) -> list[Json]:
        """Return the questions of an interrupt: one, or one for each call of a review."""
        name = self._langgraph_id(interrupt["id"])
        value = as_object(as_object(interrupt.get("metadata")).get("langgraph")).get("raw")
        return self._reviews(name, value) or [{**_told_by_langgraph(interrupt), "id": name}]

    def _reviews(self, name: str, value: Any) -> list[Json]:
        """The questions of LangChain's middleware, one for each call that it asks about."""
        actions = human_in_the_loop.parse_actions(value)
        if not actions:
            return []
        own_id = self.dialect_info.agent_interrupt_id(name)
        notes = {one: note for one, note in self.dialect_info.notes.items() if one != name}
        questions = []
        for number, action in enumerate(actions, start=1):
            question = f"{name}.{number}"
            call = self._call_for(action) or f"{question}-call"
            if call not in self._calls:
                self._proposed += _proposal(call, action["name"], action["args"])
                self._calls[call] = action["name"]
            self._open.pop(call, None)
            notes[question] = {"id": own_id, "place": number, "allowed": action["allowed"]}
            questions.append(_review(question, call, action))
        self.dialect_info = DialectInfo(Dialect.LANGGRAPH, notes)
        return questions

    def _call_for(self, action: Json) -> str:
        """The model's call that the middleware means, which it tells by name and arguments only."""
        for call in self._open:
            is_it = self._calls.get(call) == action["name"]
            if is_it and is_same_json(
                parse_embedded_json(self._written.get(call, "")), action["args"]
            ):
                return call
        return ""

    def _langgraph_id(self, given: str) -> str:
        """A name that is new on the thread: a node that asks twice uses the same one for both."""
        name = f"{given}-{self._run_key}" if given in self._answered else given
        notes = {**self.dialect_info.notes, name: {"id": given} if name != given else {}}
        self.dialect_info = DialectInfo(Dialect.LANGGRAPH, notes)
        return name

    def _results_wanted(self, pending: Iterable[str]) -> list[Json]:
        """Ask for what calls give that the run has left, unless the client has their tools."""
        left = [
            name
            for name in dict.fromkeys(pending)
            if name in self._calls and self._calls[name] not in self._client_tools
        ]
        questions = [
            vendor_quirks.tool_result_interrupt(
                f"{self._run_key}-{number}", name, self._calls[name]
            )
            for number, name in enumerate(left, start=1)
        ]
        if questions:
            notes = {one["id"]: {"toolCallId": one["toolCallId"]} for one in questions}
            self.dialect_info = DialectInfo(Dialect.RESULTS, notes)
        return questions

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
                "responseSchema": vendor_quirks.closed_approval_schema(
                    edited_args={"type": "object"}
                ),
            }
        else:
            fields = as_object(payload)
            interrupt |= {"message": payload} if isinstance(payload, str) else _asked(fields)
            if _draft_proposes(legacy.get("reason"), fields):
                interrupt.setdefault("responseSchema", _draft_schema(fields))
        self.dialect_info = DialectInfo(Dialect.DRAFT, {name: note})
        return before, interrupt

    def _of_events(self) -> Json:
        is_mastra = len(self._held) == 1 and _is_mastra(self._held[0][1])
        notes: dict[str, Json] = {}
        interrupts = []
        for number, (given, value) in enumerate(self._held, start=1):
            if is_mastra or not given:
                name = given or f"{self._run_key}-i{number}"
                notes[name] = _mastra_note(value) if is_mastra else {}
            else:
                name = self._langgraph_id(given)
            self.dialect_info = DialectInfo(Dialect.LANGGRAPH, {**self.dialect_info.notes, **notes})
            interrupts += self._reviews(name, value) or [
                self._of_event(name, value, is_mastra=is_mastra)
            ]
        notes = {**notes, **self.dialect_info.notes}
        self.dialect_info = DialectInfo(Dialect.MASTRA if is_mastra else Dialect.LANGGRAPH, notes)
        return {"type": "interrupt", "interrupts": interrupts}

    def _of_event(self, name: str, value: Any, *, is_mastra: bool) -> Json:
        fields = value if isinstance(value, dict) else {}
        interrupt = {"id": name, **interrupt_fields(value, "mastra" if is_mastra else "langgraph")}
        if is_mastra and "responseSchema" not in interrupt:
            schema = parse_embedded_json(fields.get("resumeSchema"))
            interrupt |= {"responseSchema": schema} if isinstance(schema, dict) else {}
        call = fields.get("toolCallId")
        if isinstance(call, str) and call in self._calls:
            interrupt["toolCallId"] = call
        elif interrupt["reason"] == "tool_call":
            interrupt["reason"] = "confirmation"
            interrupt.setdefault("responseSchema", _open_approval())
        return interrupt


def is_same_json(one: Any, other: Any) -> bool:
    """Return whether two JSON values are the same; in Python, `True == 1`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def parse_embedded_json(value: Any) -> Any:
    """What a field carries: JSON inside a string, or as it is."""
    if not isinstance(value, str):
        return value
    try:
        return strict_json.loads(value)
    except strict_json.JsonRejected:
        return value


def interrupt_fields(value: Any, framework: str) -> Json:
    """What an interrupt asks whose value this is: reason, metadata, and the message and schema."""
    fields = value if isinstance(value, dict) else {}
    reason, kind = fields.get("reason"), fields.get("kind")
    # A business reason ("Duplicate charge") stands beside the kind, which routes.
    routing = reason if reason in _CORE or not _is_name(kind) else kind
    asked: Json = {
        "reason": _reason(routing, framework),
        "metadata": {framework: {"value": value}},
    }
    if isinstance(value, str):
        asked["message"] = value
    asked |= _asked(fields)
    if framework == "langgraph" and routing is kind and "responseSchema" not in asked:
        proposed = proposed_fields(fields)
        if _APPROVING.search(str(kind)) or (proposed and "message" not in asked):
            asked["responseSchema"] = _open_approval(**_shapes_of(proposed))
    return asked


def proposed_fields(value: Mapping[str, Any]) -> Json:
    """The fields of a value that are neither its question nor there for routing."""
    return {name: one for name, one in value.items() if name not in _ABOUT_THE_QUESTION}


def _told_by_langgraph(interrupt: Json) -> Json:
    """An interrupt of LangGraph's bridge, which takes a business reason for the reason."""
    raw = as_object(as_object(interrupt.get("metadata")).get("langgraph")).get("raw")
    if not isinstance(raw, dict) or interrupt.get("responseSchema") or raw.get("reason") in _CORE:
        return interrupt
    told = interrupt_fields(raw, "langgraph")
    return {**interrupt, **{name: told[name] for name in told if name != "metadata"}}


def _review(name: str, call: str, action: Json) -> Json:
    """The question about one call, whose answers are the decisions that its agent allows."""
    allowed = action["allowed"]
    interrupt: Json = {
        "id": name,
        "toolCallId": call,
        "metadata": {"langgraph": {"allowed_decisions": allowed}},
    }
    if action["description"]:
        interrupt["message"] = human_in_the_loop.build_message(action)
    if human_in_the_loop.takes_text_only(allowed):
        return {**interrupt, "reason": "input_required", "responseSchema": dict(_TEXT)}
    edited = {"type": "object", "properties": _shapes_of(action["args"])}
    schema = human_in_the_loop.restrict_approval(
        vendor_quirks.closed_approval_schema(edited_args=edited), allowed
    )
    return {**interrupt, "reason": "tool_call", "responseSchema": schema}


def _draft_proposes(reason: Any, payload: Mapping[str, Any]) -> bool:
    """Return whether a draft's interrupt asks for a yes or no, rather than for an answer."""
    if reason == "human_approval" or isinstance(payload.get("proposal"), dict):
        return True
    asks = "message" in _asked(payload) and "action" not in payload
    return bool(payload) and not asks and not str(reason).endswith("_required")


def _draft_schema(payload: Mapping[str, Any]) -> Json:
    """The draft's answer to a proposal: yes or no, with `modifications` and whatever else."""
    args = as_object(as_object(payload.get("proposal")).get("args"))
    if args:
        changes: Json = {"type": "object", "properties": _shapes_of(args)}
    else:
        changes = {"type": "object", "additionalProperties": {"anyOf": _ANY_VALUE}}
    return _open_approval(modifications=changes)


def _open_approval(**more: Json) -> Json:
    """The schema of an approval whose answer may hold more than is known of it."""
    return vendor_quirks.closed_approval_schema(**more) | {"additionalProperties": True}


def _shapes_of(fields: Mapping[str, Any]) -> Json:
    """Schemas of the fields by their values, none for more than a form should have."""
    shapes = {
        name: vendor_quirks.infer_schema(value)
        for name, value in fields.items()
        if name != "approved"
    }
    for shape in shapes.values():
        if shape.get("type") == "integer":  # 47 may become 35.5
            shape["type"] = "number"
    return shapes if len(strict_json.dumps(shapes)) <= _LARGEST_SHAPES else {}


_TEXT: Json = {"type": "string", "minLength": 1}
#: What a draft's `inputType` (the types of HTML inputs) asks for; any other one is a text.
_INPUT_SCHEMAS: Mapping[str, Json] = {
    "checkbox": {"type": "boolean"},
    "boolean": {"type": "boolean"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "email": {**_TEXT, "format": "email"},
    "url": {**_TEXT, "format": "uri"},
    "date": {**_TEXT, "format": "date"},
    "time": {**_TEXT, "format": "time"},
    "password": {**_TEXT, "format": "password"},
}


def _asked(fields: Mapping[str, Any]) -> Json:
    """The question and its schema, under the names that are in use for them."""
    messages = [fields.get(one) for one in _MESSAGES]
    schemas = [fields.get(one) for one in _SCHEMAS]
    message = next((one for one in messages if isinstance(one, str) and one), None)
    schema = next((one for one in schemas if isinstance(one, dict)), None)
    input_type = fields.get("inputType")
    if schema is None and isinstance(input_type, str):
        schema = _INPUT_SCHEMAS.get(input_type, _TEXT)
    expiry = next((fields[one] for one in _EXPIRIES if fields.get(one)), None)
    asked = {"message": message, "responseSchema": schema, "expiresAt": expiry}
    return {name: value for name, value in asked.items() if value is not None}


def _reason(given: Any, framework: str) -> str:
    """A reason of 1.0: ours as they are, any other under the framework's name."""
    if given in _CORE:
        return str(given)
    if _is_name(given):
        return given if ":" in given and not given.startswith("core:") else f"{framework}:{given}"
    return f"{framework}:interrupt"


def _is_name(given: Any) -> bool:
    return isinstance(given, str) and _REASON.fullmatch(given) is not None


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
    args = parse_embedded_json(arguments)
    delta = strict_json.dumps(args if isinstance(args, dict) else {})
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def _has_edits(reply: AgentAnswer) -> bool:
    return isinstance(reply.payload, dict) and "editedArgs" in reply.payload


def is_langgraph_id(name: Any) -> bool:
    return isinstance(name, str) and _LANGGRAPH_ID.fullmatch(name) is not None
