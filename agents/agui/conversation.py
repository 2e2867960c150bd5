"""Reduction of a thread's events to messages and state, as the official client does it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, ClassVar

import ag_ui.core as agui
from ag_ui.core import AssistantMessage, BaseEvent, Message, ToolMessage
from pydantic import TypeAdapter

from agents.agui.bounds import check_bounds, copy_within_bounds
from agents.agui.patches import PatchBudget, apply_patch
from agents.agui.transcript import Transcript

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
_MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])


class Conversation:
    """The messages and the state of one thread, updated by `apply`."""

    def __init__(
        self,
        messages: Iterable[Message] = (),
        state: Any = None,
        client_messages: Mapping[str, str] | None = None,
    ) -> None:
        self._transcript = Transcript(message.model_copy(deep=True) for message in messages)
        self._budget = PatchBudget()
        self.state = state  #: after the last event applied; None if never set
        #: Message id -> fingerprint, for each message that a client sent.
        self.client_messages = dict(client_messages or {})

    @property
    def messages(self) -> list[Message]:
        """The messages in order, up to the last event applied; do not change them."""
        return self._transcript.messages()

    @property
    def tool_call_ids(self) -> set[str]:
        """The tool calls proposed in this thread."""
        return self._transcript.call_ids()

    def has_message(self, message_id: str) -> bool:
        return self.message(message_id) is not None

    def message(self, message_id: str) -> Message | None:
        """Return the message with this id; its text may lack the latest parts."""
        return self._transcript.message(message_id)

    def apply(self, event: BaseEvent) -> None:
        """
        Apply one event that has passed the sequence rules.

        Raises:
            ProtocolViolation: a patch does not apply, or a value is too large or too deep for
                later snapshots; nothing has changed then.
        """
        reducer = self._REDUCERS.get(type(event))
        if reducer is not None:
            if event.metadata is not None:
                check_bounds(event.metadata)
            reducer(self, event)

    def merge_input(
        self, messages: Iterable[Message], client_calls: Container[str] = ()
    ) -> list[Message]:
        """
        Add messages of a client that the thread lacks; return the added ones.

        Stored messages do not change. `client_calls` are the calls that clients have made, whose
        results are tool messages. Other messages about stored tool calls are dropped: an assistant
        message could carry other arguments, and a tool message is not a result (CopilotKit
        appends the decision in that form).
        """
        tool_call_ids = self._transcript.call_ids()
        added = []
        for message in messages:
            is_result = isinstance(message, ToolMessage) and message.tool_call_id in client_calls
            if self._transcript.message(message.id) is not None or (
                self._has_result(message) if is_result else _references(message, tool_call_ids)
            ):
                continue
            added.append(message)
            dumped = _MESSAGE.dump_python(message, mode="json", by_alias=True)
            self.client_messages[message.id] = fingerprint(dumped)
            copy = message.model_copy(deep=True)
            if isinstance(copy, ToolMessage) and is_result:
                self._transcript.insert_result(copy)
            else:
                self._transcript.append(copy)
        return added

    def _has_result(self, result: Any) -> bool:
        return any(
            isinstance(message, ToolMessage) and message.tool_call_id == result.tool_call_id
            for message in self.messages
        )

    @property
    def has_repeated_ids(self) -> bool:
        """True if two messages have the same id, as two results with one message id have."""
        return len({message.id for message in self.messages}) < len(self.messages)

    def copy_messages(self) -> list[Message]:
        """Return copies of the messages."""
        # Much faster than `model_copy(deep=True)`.
        return _MESSAGES.validate_json(_MESSAGES.dump_json(self.messages, by_alias=True))

    def messages_snapshot(self) -> agui.MessagesSnapshotEvent:
        return agui.MessagesSnapshotEvent(messages=self.copy_messages())

    def state_snapshot(self) -> agui.StateSnapshotEvent:
        """Build a STATE_SNAPSHOT; a state that was never set is {}."""
        return agui.StateSnapshotEvent(snapshot={} if self.state is None else self.state)

    def to_json(self) -> dict[str, Any]:
        """Return messages, state and client fingerprints as JSON values."""
        messages = _MESSAGES.dump_python(self.messages, mode="json", by_alias=True)
        return {
            "messages": messages,
            "state": self.state,
            "clientMessages": self.client_messages,
        }

    # Text and reasoning

    def _text_start(self, event: agui.TextMessageStartEvent) -> None:
        if self._transcript.message(event.message_id) is None:
            fields = {"id": event.message_id, "role": event.role or "assistant", "content": ""}
            message = _MESSAGE.validate_python(fields)
            message.subagent_run_id = event.subagent_run_id
            if event.name is not None:
                message.name = event.name  # type: ignore[union-attr] # no role here lacks a name
            self._transcript.append(message)
        self._add_metadata(event.message_id, event)

    def _reasoning_start(self, event: agui.ReasoningMessageStartEvent) -> None:
        if self._transcript.message(event.message_id) is None:
            self._transcript.append(
                agui.ReasoningMessage(
                    id=event.message_id, content="", subagent_run_id=event.subagent_run_id
                )
            )
        self._add_metadata(event.message_id, event)

    def _content(
        self, event: agui.TextMessageContentEvent | agui.ReasoningMessageContentEvent
    ) -> None:
        self._transcript.append_text(event.message_id, event.delta)
        if event.metadata is not None:
            self._add_metadata(event.message_id, event)

    def _end(self, event: agui.TextMessageEndEvent | agui.ReasoningMessageEndEvent) -> None:
        self._add_metadata(event.message_id, event)

    def _add_metadata(self, message_id: str, event: BaseEvent) -> None:
        message = self._transcript.message(message_id)
        # Text events never change an activity, and activity events never change a text.
        is_for_activity = isinstance(event, agui.ActivitySnapshotEvent)
        if isinstance(message, agui.ActivityMessage) is is_for_activity:
            _merge_metadata(message, event)

    def _encrypted_value(self, event: agui.ReasoningEncryptedValueEvent) -> None:
        if event.subtype == "tool-call":
            target: Any = self._transcript.call(event.entity_id)
        else:
            target = self._transcript.message(event.entity_id)
        if target is not None and not isinstance(target, agui.ActivityMessage):
            target.encrypted_value = event.encrypted_value

    # Tool calls

    def _tool_call_start(self, event: agui.ToolCallStartEvent) -> None:
        call = self._transcript.call(event.tool_call_id)
        if call is None:
            function = agui.FunctionCall(name=event.tool_call_name, arguments="")
            call = agui.ToolCall(id=event.tool_call_id, function=function)
            self._transcript.add_call(self._carrier(event), call)
        call.function.name = event.tool_call_name
        _merge_metadata(call, event)

    def _carrier(self, event: agui.ToolCallStartEvent) -> AssistantMessage:
        """Return the assistant message that a tool call belongs to; create one if needed."""
        parent_id = event.parent_message_id
        parent = self._transcript.message(parent_id) if parent_id else None
        if isinstance(parent, AssistantMessage):
            return parent
        carrier = AssistantMessage(
            id=parent_id if parent_id and parent is None else event.tool_call_id,
            subagent_run_id=event.subagent_run_id,
        )
        self._transcript.append(carrier)
        return carrier

    def _tool_call_args(self, event: agui.ToolCallArgsEvent) -> None:
        if self._transcript.call(event.tool_call_id) is not None:
            self._transcript.append_arguments(event.tool_call_id, event.delta)
            self._tool_call_end(event)

    def _tool_call_end(self, event: agui.ToolCallEndEvent | agui.ToolCallArgsEvent) -> None:
        _merge_metadata(self._transcript.call(event.tool_call_id), event)

    def _tool_call_result(self, event: agui.ToolCallResultEvent) -> None:
        if not isinstance(event.content, str):
            check_bounds([part.model_dump(mode="json") for part in event.content])
        self._transcript.insert_result(
            ToolMessage(
                id=event.message_id,
                tool_call_id=event.tool_call_id,
                content=event.content,
                subagent_run_id=event.subagent_run_id,
                metadata=event.metadata,
            )
        )

    # Snapshots and patches

    def _run_started(self, event: agui.RunStartedEvent) -> None:
        for message in event.input.messages if event.input else ():
            if self._transcript.message(message.id) is None:
                self._transcript.append(message.model_copy(deep=True))

    def _messages_snapshot(self, event: agui.MessagesSnapshotEvent) -> None:
        """Replace the messages; keep activities and reasoning if the snapshot has none."""
        new = {message.id: message.model_copy(deep=True) for message in event.messages}
        retained_roles = {"activity", "reasoning"} - {message.role for message in event.messages}
        messages = [
            new.pop(message.id, message)
            for message in self.messages
            if message.id in new or message.role in retained_roles
        ]
        self._transcript = Transcript([*messages, *new.values()])

    def _state_snapshot(self, event: agui.StateSnapshotEvent) -> None:
        self.state = copy_within_bounds(event.snapshot)

    def _state_delta(self, event: agui.StateDeltaEvent) -> None:
        self.state = apply_patch(
            {} if self.state is None else self.state, event.delta, self._budget
        )

    def _activity_snapshot(self, event: agui.ActivitySnapshotEvent) -> None:
        old = self._transcript.message(event.message_id)
        if old is None or event.replace is not False:
            new = agui.ActivityMessage(
                id=event.message_id,
                activity_type=event.activity_type,
                content=copy_within_bounds(event.content),
                subagent_run_id=event.subagent_run_id,
                metadata=old.metadata if isinstance(old, agui.ActivityMessage) else None,
            )
            if old is None:
                self._transcript.append(new)
            else:
                self._transcript.replace(old, new)
        self._add_metadata(event.message_id, event)

    def _activity_delta(self, event: agui.ActivityDeltaEvent) -> None:
        message = self._transcript.message(event.message_id)
        if isinstance(message, agui.ActivityMessage):
            message.content = apply_patch(message.content, event.patch, self._budget)
            message.activity_type = event.activity_type
            _merge_metadata(message, event)

    _REDUCERS: ClassVar[dict[type[BaseEvent], Callable[[Any, Any], None]]] = {
        agui.TextMessageStartEvent: _text_start,
        agui.TextMessageContentEvent: _content,
        agui.TextMessageEndEvent: _end,
        agui.ReasoningMessageStartEvent: _reasoning_start,
        agui.ReasoningMessageContentEvent: _content,
        agui.ReasoningMessageEndEvent: _end,
        agui.ReasoningEncryptedValueEvent: _encrypted_value,
        agui.ToolCallStartEvent: _tool_call_start,
        agui.ToolCallArgsEvent: _tool_call_args,
        agui.ToolCallEndEvent: _tool_call_end,
        agui.ToolCallResultEvent: _tool_call_result,
        agui.RunStartedEvent: _run_started,
        agui.MessagesSnapshotEvent: _messages_snapshot,
        agui.StateSnapshotEvent: _state_snapshot,
        agui.StateDeltaEvent: _state_delta,
        agui.ActivitySnapshotEvent: _activity_snapshot,
        agui.ActivityDeltaEvent: _activity_delta,
    }


def is_from_client(message: Mapping[str, Any], client_messages: Mapping[str, str]) -> bool:
    """
    Return True if a message (as JSON) is unchanged since a client sent it.

    All other messages came from the agent, whatever role it gave them.
    """
    return client_messages.get(message["id"]) == fingerprint(message)


def fingerprint(message: Mapping[str, Any]) -> str:
    """Return a digest of the role and content of a message (as JSON)."""
    text = json.dumps([message["role"], message.get("content")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _references(message: Message, tool_call_ids: set[str]) -> bool:
    if isinstance(message, ToolMessage):
        return message.tool_call_id in tool_call_ids
    if isinstance(message, AssistantMessage):
        return any(call.id in tool_call_ids for call in message.tool_calls or ())
    return False


def _merge_metadata(target: Message | agui.ToolCall | None, event: BaseEvent) -> None:
    if target is not None and event.metadata is not None:
        target.metadata = {**(target.metadata or {}), **event.metadata}
