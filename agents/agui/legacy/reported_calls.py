"""
The tool calls of one run, each once, however its bridge tells of it.

Bridges stream a call, repeat it in a snapshot of the messages, or do only one of both. LangGraph's
streams only the first of several calls that come in one chunk, and never the first piece of the
arguments, which is all of them for many models.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy.vendor_quirks import CONFIRMATION, as_object, tool_call_id_of

Json = dict[str, Any]

_TEXT_EVENTS = ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK")
_CALL_EVENTS = ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")


class ReportedCalls:
    """Adds to the stream of calls what only snapshots and interrupts have of them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Start with the names of the calls of the resumed run, by id."""
        self.names = dict(names)
        self.open: dict[str, str] = {}  #: calls without a result -> arguments, as JSON text
        #: calls whose arguments lack their beginning -> their held events
        self._incomplete: dict[str, list[Json]] = {}
        self._added: set[str] = set()  # calls of snapshots that were not streamed
        self._result_messages: dict[str, str] = {}  # calls -> the message of their result
        self.arguments: dict[str, str] = {}  #: of all calls of this run, as JSON text
        self._silent: dict[str, None] = {}  #: streamed calls that no text has followed, in order
        self._chunked = ""  # the call that chunks without an id belong to

    def read(self, event: Json) -> list[Json]:
        """Return the event with what it lacks; events of incomplete calls are held."""
        call = tool_call_id_of(event)
        kind = event.get("type")
        if call in self._added and kind in _CALL_EVENTS:
            return []  # LangGraph's bridge: the tool has ended
        if kind in _TEXT_EVENTS:
            self._silent.clear()
        match kind:
            case "TOOL_CALL_START":
                self._silent |= {} if call in self.names else {call: None}
                self.names[call] = str(event.get("toolCallName"))
                self.open[call] = ""
            case "TOOL_CALL_ARGS" | "TOOL_CALL_END" if call in self.open:
                self.open[call] += str(event.get("delta", ""))
                self.arguments[call] = self.open[call]
                return self._hold(call, event)
            case "TOOL_CALL_CHUNK":
                self._read_chunk(event)
            case "TOOL_CALL_RESULT":
                self.open.pop(call, None)
                self._silent.pop(call, None)
                self._result_messages[call] = str(event.get("messageId"))
                return [*self._incomplete.pop(call, []), event]
            case "MESSAGES_SNAPSHOT":
                return self._read_snapshot(event)
            case "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" | "RUN_ERROR":
                return [*self.remaining_events(), event]
        return [event]

    @property
    def has_results(self) -> bool:
        """Return whether a call got its result in this run."""
        return bool(self._result_messages)

    def silent_calls(self) -> list[str]:
        """Return the open calls of this run that were streamed, and that no text has followed."""
        return [call for call in self._silent if call in self.open]

    def find(self, name: str, args: Any) -> str:
        """Return the id of the open call with this name and arguments, "" if there is none."""
        args = parse_embedded_json(args)
        calls = [call for call in self.open if self.names[call] == name]
        for call in calls:
            if is_same_json(parse_embedded_json(self.open[call]), args):
                return call
        return next((call for call in calls if call in self._incomplete), "")

    def propose(self, call: str, name: str, args: Any) -> list[Json]:
        """Return the events of a call that an interrupt is about, as far as they are missing."""
        if call in self.names:
            return self._complete(call, args)
        self.names[call] = name
        return _call_events(call, name, args)

    def remaining_events(self) -> list[Json]:
        """Return the events that are still held."""
        held, self._incomplete = self._incomplete, {}
        return [event for events in held.values() for event in events]

    def _hold(self, call: str, event: Json) -> list[Json]:
        """Hold an event of LangGraph's bridge whose arguments lack their beginning."""
        source = str(as_object(event.get("rawEvent")).get("event"))
        if not source.startswith("on_chat_model") or self.open[call].lstrip().startswith("{"):
            return [event]
        self._incomplete.setdefault(call, []).append(event)
        return []

    def _complete(self, call: str, args: Any) -> list[Json]:
        """Return the events with which an incomplete call that has ended gets its arguments."""
        held = self._incomplete.get(call)
        if not held or held[-1]["type"] != "TOOL_CALL_END":
            return []
        del self._incomplete[call]
        events = _call_events(call, self.names[call], args)[1:]
        self.open[call] = events[0]["delta"]
        return events

    def _read_chunk(self, event: Json) -> None:
        call, name = event.get("toolCallId"), event.get("toolCallName")
        if isinstance(call, str):
            self._chunked = call
        if isinstance(name, str) and self._chunked not in self.open:
            self.names[self._chunked], self.open[self._chunked] = name, ""
        if self._chunked in self.open:
            self.open[self._chunked] += str(event.get("delta") or "")

    def _read_snapshot(self, event: Json) -> list[Json]:
        """Return the snapshot after the events of the calls that were not streamed."""
        value = event.get("messages")
        messages = list(map(as_object, value if isinstance(value, list) else ()))
        settled = {tool_call_id_of(message) for message in messages if _role(message) == "tool"}
        events = []
        for message in _messages_of_turn(messages):
            calls = message.get("toolCalls")
            for call in calls if isinstance(calls, list) else ():
                events += self._call_of_message(as_object(call), message, settled)
        return [*events, *self._split_snapshot(event, messages)]

    def _call_of_message(self, call: Json, message: Json, settled: Collection[str]) -> list[Json]:
        call_id, function = call.get("id"), as_object(call.get("function"))
        name, args = function.get("name"), parse_embedded_json(function.get("arguments"))
        if not (isinstance(call_id, str) and isinstance(name, str) and isinstance(args, dict)):
            return []
        if call_id in self.names:
            return self._complete(call_id, args)
        if call_id in settled or name == CONFIRMATION:
            return []
        self.names[call_id], self.open[call_id] = name, strict_json.dumps_arguments(args)
        self._added.add(call_id)
        start, *others = _call_events(call_id, name, args)
        return [{**start, "parentMessageId": message.get("id")}, *others]

    def _split_snapshot(self, event: Json, messages: list[Json]) -> list[Json]:
        """
        Return two snapshots if a result has another message id than its event had.

        Clients put messages with new ids last: the result would follow the final text.
        """
        for place, message in enumerate(messages):
            streamed_id = self._result_messages.get(tool_call_id_of(message))
            if _role(message) == "tool" and streamed_id not in (None, message.get("id")):
                return [{**event, "messages": messages[:place]}, event]
        return [event]


def is_same_json(left: Any, right: Any) -> bool:
    """Return whether two JSON values are the same; in Python, `True == 1`."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def parse_embedded_json(value: Any) -> Any:
    """Parse JSON inside a string; return other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return strict_json.loads_arguments(value)
    except strict_json.JsonRejected:
        return value


def _call_events(call: str, name: str, arguments: Any) -> list[Json]:
    """Return the events of a call whose arguments came outside of the stream."""
    args = parse_embedded_json(arguments)
    delta = strict_json.dumps_arguments(args if isinstance(args, dict) else {})
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def _messages_of_turn(messages: list[Json]) -> list[Json]:
    """Return the messages after the last one of the user: calls before it are of other turns."""
    last = max((at for at, item in enumerate(messages) if _role(item) == "user"), default=-1)
    return messages[last + 1 :]


def _role(message: Json) -> Any:
    return message.get("role")
