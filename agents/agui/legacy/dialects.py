"""
Translation of agents' older interrupt dialects into AG-UI 1.0 interrupts.

The dialects: the *draft* of 2025 (a string outcome and one `interrupt`), LangGraph's `on_interrupt`
events, with or without a canonical outcome, Mastra's, which names the suspended tool call, and
deviations of single bridges (`vendor_quirks`).
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ag_ui.core import Interrupt

from agents.agui import strict_json
from agents.agui.interrupts import approval_schema, takes_approval
from agents.agui.legacy import human_in_the_loop, servers, vendor_quirks
from agents.agui.legacy.reported_calls import ReportedCalls, parse_embedded_json
from agents.agui.legacy.vendor_quirks import as_object

Json = dict[str, Any]

#: LangGraph's interrupt ids; they distinguish a map of answers from a single answer.
_LANGGRAPH_ID = re.compile(r"[0-9a-f]{32}")
_REASON = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_CORE = ("tool_call", "input_required", "confirmation")
#: Kinds of interrupts that are approvals.
_APPROVAL_KIND = re.compile(r"approv|authori[sz]|confirm", re.IGNORECASE)
_MAX_SCHEMA_CHARACTERS = 16 * 1024
_MESSAGES = ("message", "question", "prompt", "description")
_SCHEMAS = ("responseSchema", "response_schema", "inputSchema")
_EXPIRIES = ("expiresAt", "expires_at")
#: Fields about the interrupt itself, not about its subject.
_INTERRUPT_FIELDS = {
    *("kind", "type", "id", "toolCallId", "inputType"),
    *_MESSAGES,
    *_SCHEMAS,
    *_EXPIRIES,
}
#: The types of a value without a schema.
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
    RESULTS = "results"  #: the answers are results of deferred calls; there may be other interrupts


@dataclass
class DialectInfo:
    """The dialect of a run's interrupts, which `legacy_answers` needs for the answers."""

    dialect: Dialect = Dialect.CANONICAL
    #: interrupt id -> what the answer must repeat
    notes: dict[str, Json] = field(default_factory=dict)
    #: the interrupts whose agent reads `approved` of the answer, so that it can be told of an end
    #: that nobody decided
    declinable: list[str] = field(default_factory=list)
    #: digest of a question -> how often it came back unchanged after its answer
    repeats: dict[str, int] = field(default_factory=dict)

    def agent_interrupt_id(self, interrupt_id: str) -> str:
        """Return the agent's id of an interrupt, which may differ from ours."""
        return str(self.notes.get(interrupt_id, {}).get("id", interrupt_id))

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "DialectInfo":
        """Parse the result of `to_json`; canonical if there is none."""
        if not value:
            return cls()
        return cls(
            Dialect(value["dialect"]),
            value["notes"],
            value.get("declinable", []),
            value.get("repeats", {}),
        )


@dataclass(frozen=True)
class AgentAnswer:
    """A decision on one interrupt, with its stored tool call."""

    interrupt_id: str
    status: str  #: "resolved" or "cancelled"
    payload: Any = None
    tool_call_id: str | None = None
    tool_name: str = ""
    args: Mapping[str, Any] | None = None  #: the approved arguments
    metadata: Mapping[str, Any] | None = None  #: of the resume entry, for agents that speak 1.0


class DialectReader:
    """Translates the events of one run (as JSON) into AG-UI 1.0."""

    def __init__(
        self,
        run_key: str,
        *,
        answers: Sequence[AgentAnswer] = (),
        client_tools: Collection[str] = (),
    ) -> None:
        """Start a run; `answers` are those to the run that it resumes."""
        self._run_key = run_key
        self._held: list[tuple[str, Any]] = []  # (id, value) of interrupt events
        self._calls = ReportedCalls(
            {answer.tool_call_id: answer.tool_name for answer in answers if answer.tool_call_id}
        )
        self._proposed: list[Json] = []  # events of calls that only an interrupt has
        self._confirmations = vendor_quirks.GoogleConfirmations()
        self._client_tools = client_tools
        self._edited = {
            answer.tool_call_id for answer in answers if "editedArgs" in as_object(answer.payload)
        }
        self.dialect_info = DialectInfo()

    def read(self, event: Json) -> list[Json]:
        """Return the translated events; interrupt events are held until the end of the run."""
        if self._confirmations.hold(event) or self._is_echo(event):
            return []
        match event.get("type"):
            case "CUSTOM" if event.get("name") == "on_interrupt":
                raw_id = as_object(event.get("rawEvent")).get("id")
                interrupt_id = raw_id if isinstance(raw_id, str) else ""
                self._held.append((interrupt_id, parse_embedded_json(event.get("value"))))
                return []
            case "RUN_FINISHED":
                return self._translate_end(event)
        return self._calls.read(event)

    def has_call_of(self, interrupt: Interrupt) -> bool:
        """Return True if this run has sent the call that an interrupt is about."""
        return interrupt.tool_call_id in self._calls.open

    @property
    def has_results(self) -> bool:
        """Return whether a tool call got its result in this run."""
        return self._calls.has_results

    def digest_of(self, interrupt: Interrupt) -> str:
        """Return a digest of a question, without its ids."""
        call = interrupt.tool_call_id or ""
        parts = [
            *(interrupt.reason, interrupt.message, interrupt.response_schema),
            *(self._calls.names.get(call), self._calls.arguments.get(call)),
            None if interrupt.message or call else interrupt.metadata,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _is_echo(self, event: Json) -> bool:
        """
        Return True if LangGraph's bridge repeats the original arguments of an edited call.

        It does so when the tool ends, although the tool ran with the edits of the answer.
        """
        is_of_call = event.get("type") in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")
        ended = as_object(event.get("rawEvent")).get("event") == "on_tool_end"
        return is_of_call and ended and vendor_quirks.tool_call_id_of(event) in self._edited

    def _translate_end(self, event: Json) -> list[Json]:
        outcome, legacy = event.get("outcome"), event.get("interrupt")
        if isinstance(outcome, dict):
            return self._run_end(event, self._translate_outcome(outcome))
        final_event = {
            key: value for key, value in event.items() if key not in ("outcome", "interrupt")
        }
        before: list[Json] = []
        if outcome == "interrupt" or (isinstance(legacy, dict) and outcome != "success"):
            before, interrupt = self._translate_draft(legacy if isinstance(legacy, dict) else {})
            result: Json = {"type": "interrupt", "interrupts": [interrupt]}
        elif self._held:
            result = self._translate_held_events()
        elif outcome == "cancelled":
            result = {"type": "cancelled"}
        else:
            waiting = None if self._confirmations else self._waiting_calls()
            result = waiting or {"type": "success"}
        return self._run_end(final_event, result, before)

    def _run_end(self, event: Json, outcome: Json, before: Sequence[Json] = ()) -> list[Json]:
        """Return the last events; confirmations without an interrupt stay tool calls."""
        interrupts = outcome.get("interrupts") or []
        proposed, self._proposed = self._proposed, []
        new_interrupts: Mapping[str, Json] = {}
        if outcome.get("type") in ("interrupt", "success") and isinstance(interrupts, list):
            new_interrupts = self._confirmations.interrupts(interrupts, self._calls.names)
        if new_interrupts:
            self.dialect_info = DialectInfo(Dialect.GOOGLE, {name: {} for name in new_interrupts})
            others = [
                interrupt
                for interrupt in interrupts
                if vendor_quirks.tool_call_id_of(interrupt) not in new_interrupts
            ]
            outcome = {"type": "interrupt", "interrupts": [*others, *new_interrupts.values()]}
        left = self._confirmations.remaining_events(new_interrupts)
        left += self._calls.remaining_events()
        return [*left, *before, *proposed, {**event, "outcome": outcome}]

    def _translate_outcome(self, outcome: Json) -> Json:
        """Translate an object outcome: only deviations of single bridges."""
        interrupts, pending = outcome.get("interrupts"), outcome.get("pendingToolCallIds")
        if outcome.get("type") == "success" and isinstance(pending, list):
            new_interrupts = self._deferred_results(map(str, pending))
            return (
                {"type": "interrupt", "interrupts": new_interrupts} if new_interrupts else outcome
            )
        if outcome.get("type") != "interrupt" or not isinstance(interrupts, list):
            return outcome
        if interrupts and all(map(vendor_quirks.mastra_value, interrupts)):
            self.dialect_info.dialect = Dialect.MASTRA
            interrupts = [self._translate_mastra(item["id"], item) for item in interrupts]
        elif self._is_langgraph(interrupts):
            self.dialect_info.dialect = Dialect.LANGGRAPH
            interrupts = [
                translation
                for interrupt in interrupts
                for translation in self._translate_langgraph(interrupt)
            ]
        elif interrupts and all(map(vendor_quirks.microsoft_kind, interrupts)):
            notes = {
                str(interrupt.get("id")): {"kind": vendor_quirks.microsoft_kind(interrupt)}
                for interrupt in interrupts
            }
            self.dialect_info = DialectInfo(Dialect.MICROSOFT, notes)
            interrupts = [vendor_quirks.microsoft_interrupt(interrupt) for interrupt in interrupts]
        else:
            left: list[str] = []
            if interrupts and all(map(vendor_quirks.is_pydantic_ai, interrupts)):
                call_ids = set(map(vendor_quirks.tool_call_id_of, interrupts))
                left = [name for name in self._calls.open if name not in call_ids]
            interrupts = [self._translate_quirks(as_object(item)) for item in interrupts]
            interrupts += self._deferred_results(left)
        return {**outcome, "interrupts": interrupts}

    def _translate_quirks(self, interrupt: Json) -> Json:
        """Return an interrupt of AG-UI 1.0 without the deviations of its server."""
        for server in servers.SERVERS:
            if server.recognises(interrupt):
                self.dialect_info.notes[str(interrupt.get("id"))] = server.note(interrupt)
                return server.translate(interrupt)
        return interrupt

    def _is_langgraph(self, interrupts: list[Any]) -> bool:
        """Return True for a canonical outcome of LangGraph's bridge, answered by a map."""
        objects = [as_object(interrupt) for interrupt in interrupts]
        has_metadata = any("langgraph" in as_object(item.get("metadata")) for item in objects)
        has_ids = all(is_langgraph_id(item.get("id")) for item in objects)
        return (has_metadata or bool(self._held)) and has_ids

    def _translate_langgraph(self, interrupt: Json) -> list[Json]:
        """Return the interrupts for one of LangGraph: one, or one per call of a review."""
        name = interrupt["id"]
        self.dialect_info.notes[name] = {}
        value = as_object(as_object(interrupt.get("metadata")).get("langgraph")).get("raw")
        self._note_schema(name, interrupt.get("responseSchema") or _schema_of(value))
        if wrapped := self._wrapped_fields(name, value):
            expiry = {key: interrupt[key] for key in ("expiresAt",) if key in interrupt}
            return [{"id": name, **expiry, **wrapped}]
        return self._review_interrupts(name, value, interrupt.get("expiresAt")) or [
            {**_correct_langgraph(interrupt), "id": name}
        ]

    def _wrapped_fields(self, name: str, value: Any) -> Json:
        """Return the fields of an interrupt whose value CopilotKit's wrapper holds."""
        action = human_in_the_loop.parse_wrapped_action(value)
        if action is None:
            inner = human_in_the_loop.unwrap(value)
            return {} if inner is value else interrupt_fields(inner, "langgraph")
        call = self._propose(action, f"{name}-call")
        return {"reason": "input_required", "toolCallId": call, "metadata": {"langgraph": action}}

    def _propose(self, action: Json, new_id: str) -> str:
        """Return the id of the call of an action, which is sent if the agent has not sent it."""
        parts = action["name"], action["args"]
        call = self._calls.find(*parts) or new_id
        self._proposed += self._calls.propose(call, *parts)
        self._calls.open.pop(call, None)
        return call

    def _review_interrupts(self, name: str, value: Any, expires_at: Any = None) -> list[Json]:
        """Return the interrupts of a review, one per call, with their expiry."""
        actions = human_in_the_loop.parse_actions(value)
        if not actions:
            return []
        expiry = {"expiresAt": expires_at} if expires_at else {}
        fields = common_fields(as_object(value))
        expiry |= {key: item for key, item in fields.items() if key == "expiresAt"}
        notes = self.dialect_info.notes
        notes.pop(name, None)
        new_interrupts = []
        for number, action in enumerate(actions, start=1):
            interrupt_id = f"{name}.{number}"
            call = self._propose(action, f"{interrupt_id}-call")
            note = {"id": name, "place": number, "allowed": action["allowed"]}
            notes[interrupt_id] = note | ({"form": action["form"]} if "form" in action else {})
            new_interrupts.append(_review_interrupt(interrupt_id, call, action) | expiry)
        return new_interrupts

    def _note_schema(self, name: str, schema: Any) -> None:
        """Note whether the schema that an agent sent takes `approved`."""
        if takes_approval(schema):
            self.dialect_info.declinable.append(name)

    def _deferred_results(self, pending: Iterable[str]) -> list[Json]:
        """Return interrupts for the results of deferred calls."""
        ids = self._note_results(dict.fromkeys(pending))
        return [
            vendor_quirks.tool_result_interrupt(name, call, self._calls.names[call])
            for name, call in ids.items()
        ]

    def _waiting_calls(self) -> Json:
        """
        Return the outcome of a run that ends with open calls after which it said nothing.

        Agno asks in this way, and is answered with a tool message; {} if no call is open.
        """
        ids = self._note_results(self._calls.silent_calls(), kind=servers.TOOL_MESSAGE)
        interrupts = [
            servers.tool_message_interrupt(name, call, self._calls.names[call])
            for name, call in ids.items()
        ]
        return {"type": "interrupt", "interrupts": interrupts} if interrupts else {}

    def _note_results(self, pending: Iterable[str], **note: str) -> dict[str, str]:
        """
        Note that the answers are results; return the calls by the ids of their interrupts.

        Calls of tools of the client are the client's.
        """
        calls = [
            call
            for call in pending
            if call in self._calls.names and self._calls.names[call] not in self._client_tools
        ]
        ids = {f"{self._run_key}-{number}": call for number, call in enumerate(calls, start=1)}
        if ids:
            notes: dict[str, Json] = {
                name: {"toolCallId": call, **note} for name, call in ids.items()
            }
            self.dialect_info = DialectInfo(Dialect.RESULTS, notes)
        return ids

    def _translate_draft(self, legacy: Json) -> tuple[list[Json], Json]:
        """Return the events of the interrupt's tool call, if it had none, and the interrupt."""
        name = str(legacy.get("id") or f"{self._run_key}-i1")
        payload = legacy.get("payload")
        note = {"has_id": bool(legacy.get("id")), "is_approval": False}
        interrupt: Json = {
            "id": name,
            "reason": _reason(legacy.get("reason"), "draft"),
            "metadata": {"draft": legacy},
        }
        before: list[Json] = []
        fields = as_object(payload)
        if isinstance(fields.get("functionName"), str):
            note["is_approval"] = True
            function, args = fields["functionName"], fields.get("functionArguments")
            named = fields.get("callId") or fields.get("toolCallId")
            call = str(named or self._calls.find(function, args) or f"{name}-call")
            before = self._calls.propose(call, function, args)
            interrupt |= {
                "reason": "tool_call",
                "toolCallId": call,
                "message": f"Call {function}?",
                "responseSchema": approval_schema(edited_args={"type": "object"}),
            }
        else:
            interrupt |= {"message": payload} if isinstance(payload, str) else common_fields(fields)
            if _draft_proposes(legacy.get("reason"), fields):
                interrupt.setdefault("responseSchema", _draft_schema(fields))
        self.dialect_info = DialectInfo(Dialect.DRAFT, {name: note})
        if note["is_approval"]:
            self.dialect_info.declinable.append(name)
        else:
            self._note_schema(name, _schema_of(payload))
        return before, interrupt

    def _translate_held_events(self) -> Json:
        if all(vendor_quirks.is_mastra(value) for _, value in self._held):
            self.dialect_info.dialect = Dialect.MASTRA
            interrupts = [
                self._translate_mastra(name or vendor_quirks.mastra_id(value), value)
                for name, value in self._held
            ]
            return {"type": "interrupt", "interrupts": interrupts}
        self.dialect_info.dialect = Dialect.LANGGRAPH
        interrupts = []
        for number, (interrupt_id, value) in enumerate(self._held, start=1):
            name = interrupt_id or servers.id_in(value) or f"{self._run_key}-i{number}"
            self.dialect_info.notes[name] = servers.note_of_event(value)
            self._note_schema(name, _schema_of(value))
            interrupts += self._review_interrupts(name, value) or [
                self._translate_event(name, value, "langgraph")
            ]
        return {"type": "interrupt", "interrupts": interrupts}

    def _translate_mastra(self, name: str, event: Json) -> Json:
        """
        Return the interrupt of a call that Mastra's bridge suspended.

        It does not stream that call; `event` is the old event or the interrupt of its outcome.
        """
        value = vendor_quirks.mastra_value(event) or event
        call = str(event.get("toolCallId"))
        run = value.get("runId")
        self.dialect_info.notes[name] = {"toolCallId": call, "runId": run}
        if isinstance(value.get("toolName"), str):
            self._proposed += self._calls.propose(call, value["toolName"], value.get("args"))
            self._calls.open.pop(call, None)
        interrupt = self._translate_event(name, {**value, "toolCallId": call}, "mastra")
        if "id" in event:
            interrupt |= {key: event[key] for key in event if key != "toolCallId"}
        question = common_fields(as_object(value.get("suspendPayload")))
        return {**{key: question[key] for key in ("message",) if key in question}, **interrupt}

    def _translate_event(self, name: str, value: Any, framework: str) -> Json:
        if wrapped := self._wrapped_fields(name, value):
            return {"id": name, **wrapped}
        fields = value if isinstance(value, dict) else {}
        interrupt = {"id": name, **interrupt_fields(value, framework)}
        if framework == "mastra" and "responseSchema" not in interrupt:
            schema = parse_embedded_json(fields.get("resumeSchema"))
            interrupt |= {"responseSchema": schema} if isinstance(schema, dict) else {}
        call = fields.get("toolCallId")
        if isinstance(call, str) and call in self._calls.names:
            interrupt["toolCallId"] = call
        elif interrupt["reason"] == "tool_call":
            interrupt["reason"] = "confirmation"
            interrupt.setdefault("responseSchema", _open_approval())
        return interrupt


def interrupt_fields(value: Any, framework: str) -> Json:
    """Return reason, metadata, message and schema of an interrupt with this value."""
    fields = value if isinstance(value, dict) else {}
    reason, kind = fields.get("reason"), _kind_of(fields)
    # `reason` may be a business reason ("Duplicate charge"); `kind` then routes.
    routing = reason if reason in _CORE or not _is_name(kind) else kind
    interrupt: Json = {
        "reason": _reason(routing, framework),
        "metadata": {framework: {"value": value}},
    }
    if isinstance(value, str):
        interrupt["message"] = value
    interrupt |= common_fields(fields)
    if framework == "langgraph" and routing is kind and "responseSchema" not in interrupt:
        proposed = proposed_fields(fields)
        if _APPROVAL_KIND.search(str(kind)) or (proposed and "message" not in interrupt):
            interrupt["responseSchema"] = _open_approval(**_infer_schemas(proposed))
    return interrupt


def _kind_of(fields: Mapping[str, Any]) -> Any:
    """Return the kind of an interrupt; some agents call that of an approval its `type`."""
    kind, type_ = fields.get("kind"), fields.get("type")
    is_type = isinstance(type_, str) and not _is_name(kind) and _APPROVAL_KIND.search(type_)
    return type_ if is_type else kind


def proposed_fields(value: Mapping[str, Any]) -> Json:
    """Return the fields of a value that are about its subject."""
    return {name: item for name, item in value.items() if name not in _INTERRUPT_FIELDS}


def _schema_of(value: Any) -> Any:
    """Return the schema that an interrupt's value brings, None if it has none."""
    fields = as_object(value)
    embedded = parse_embedded_json(fields.get("resumeSchema"))
    return common_fields(fields).get("responseSchema") or embedded


def _correct_langgraph(interrupt: Json) -> Json:
    """Correct an interrupt of LangGraph's bridge, which uses a business reason as its reason."""
    raw = as_object(as_object(interrupt.get("metadata")).get("langgraph")).get("raw")
    if not isinstance(raw, dict) or interrupt.get("responseSchema") or raw.get("reason") in _CORE:
        return interrupt
    fields = interrupt_fields(raw, "langgraph")
    return {**interrupt, **{name: fields[name] for name in fields if name != "metadata"}}


def _review_interrupt(name: str, call: str, action: Json) -> Json:
    """Return the interrupt about one call, restricted to the allowed decisions."""
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
    edited = {"type": "object", "properties": _infer_schemas(action["args"])}
    schema = human_in_the_loop.restrict_approval(approval_schema(edited_args=edited), allowed)
    return {**interrupt, "reason": "tool_call", "responseSchema": schema}


def _draft_proposes(reason: Any, payload: Mapping[str, Any]) -> bool:
    """Return True if a draft's interrupt is an approval, not a request for input."""
    if reason == "human_approval" or isinstance(payload.get("proposal"), dict):
        return True
    asks = "message" in common_fields(payload) and "action" not in payload
    return bool(payload) and not asks and not str(reason).endswith("_required")


def _draft_schema(payload: Mapping[str, Any]) -> Json:
    """Return the draft's approval schema, with `modifications`."""
    args = as_object(as_object(payload.get("proposal")).get("args"))
    if args:
        changes: Json = {"type": "object", "properties": _infer_schemas(args)}
    else:
        changes = {"type": "object", "additionalProperties": {"anyOf": _ANY_VALUE}}
    return _open_approval(modifications=changes)


def _open_approval(**more: Json) -> Json:
    """Return an approval schema that allows other properties."""
    return approval_schema(**more) | {"additionalProperties": True}


def _infer_schemas(fields: Mapping[str, Any]) -> Json:
    """Infer schemas of the fields from their values; {} if they are too large for a form."""
    schemas = {
        # 47 may become 35.5.
        name: vendor_quirks.infer_schema(0.0 if type(value) is int else value)
        for name, value in fields.items()
        if name != "approved"
    }
    return schemas if len(strict_json.dumps(schemas)) <= _MAX_SCHEMA_CHARACTERS else {}


_TEXT: Json = {"type": "string", "minLength": 1}
#: The schema for a draft's `inputType` (an HTML input type); text for any other.
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


def common_fields(fields: Mapping[str, Any]) -> Json:
    """Return message, schema and expiry of a value, under any of their usual names."""
    messages = [fields.get(name) for name in _MESSAGES]
    schemas = [fields.get(name) for name in _SCHEMAS]
    message = next((text for text in messages if isinstance(text, str) and text), None)
    schema = next((item for item in schemas if isinstance(item, dict)), None)
    input_type = fields.get("inputType")
    if schema is None and isinstance(input_type, str):
        schema = _INPUT_SCHEMAS.get(input_type, _TEXT)
    expiry = next((fields[name] for name in _EXPIRIES if fields.get(name)), None)
    values = {"message": message, "responseSchema": schema, "expiresAt": expiry}
    return {name: value for name, value in values.items() if value is not None}


def _reason(reason: Any, framework: str) -> str:
    """Return a 1.0 reason: a core reason, or one with the framework's prefix."""
    if reason in _CORE:
        return str(reason)
    if _is_name(reason):
        return (
            reason if ":" in reason and not reason.startswith("core:") else f"{framework}:{reason}"
        )
    return f"{framework}:interrupt"


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and _REASON.fullmatch(text) is not None


def is_langgraph_id(name: Any) -> bool:
    return isinstance(name, str) and _LANGGRAPH_ID.fullmatch(name) is not None
