"""The messages of one thread in order, with lookup by id while text is streamed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ag_ui.core import AssistantMessage, Message, ToolCall, ToolMessage


class _LastResult(NamedTuple):
    """The result that was inserted last."""

    carrier: AssistantMessage
    message: ToolMessage
    position: int


class Transcript:
    """
    A list of messages with cheap appending of text.

    New text is stored in parts and joined when the messages are read.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._text_parts: dict[str, list[str]] = {}  # message id -> parts not yet in `content`
        self._argument_parts: dict[str, list[str]] = {}  # tool call id -> the same for arguments
        self._last_result: _LastResult | None = None
        self._set_messages(messages)

    def messages(self) -> list[Message]:
        """Return the complete messages in order; the objects themselves, not copies."""
        self._join_parts()
        return list(self._messages)

    def message(self, message_id: str) -> Message | None:
        """Return the message with this id; its content may lack the latest parts."""
        return self._by_id.get(message_id)

    def call(self, tool_call_id: str) -> ToolCall | None:
        """Return the tool call with this id; its arguments may lack the latest parts."""
        return self._calls[tool_call_id][1] if tool_call_id in self._calls else None

    def call_ids(self) -> set[str]:
        return set(self._calls)

    def append(self, message: Message) -> None:
        self._messages.append(message)
        self._by_id.setdefault(message.id, message)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls or ():
                self._calls.setdefault(call.id, (message, call))

    def append_text(self, message_id: str, delta: str) -> None:
        """Append text to a message; ignored for an activity, whose content is not text."""
        parts = self._text_parts.get(message_id)
        if parts is not None:
            parts.append(delta)
        elif message_id in self._by_id and self._by_id[message_id].role != "activity":
            self._text_parts[message_id] = [delta]

    def append_arguments(self, tool_call_id: str, delta: str) -> None:
        self._argument_parts.setdefault(tool_call_id, []).append(delta)

    def add_call(self, carrier: AssistantMessage, call: ToolCall) -> None:
        """Add a tool call to an assistant message of the transcript."""
        if carrier.tool_calls is None:
            carrier.tool_calls = []
        carrier.tool_calls.append(call)
        self._calls[call.id] = (carrier, call)

    def insert_result(self, message: ToolMessage) -> None:
        """Insert a result after its call and the results there, as model providers require."""
        if message.tool_call_id not in self._calls:
            self.append(message)
            return
        index = self._index_after(self._calls[message.tool_call_id][0])
        while index < len(self._messages) and self._messages[index].role == "tool":
            index += 1
        self._messages.insert(index, message)
        self._by_id.setdefault(message.id, message)
        self._last_result = _LastResult(self._calls[message.tool_call_id][0], message, index)

    def replace(self, old: Message, message: Message) -> None:
        """Replace a message by another one with the same id."""
        if isinstance(old, AssistantMessage) and old.tool_calls:
            messages = self.messages()
            messages[self._index(old)] = message
            self._set_messages(messages)  # rebuild the lookup: its tool calls are gone with it
            return
        self._messages[self._index(old)] = message
        self._by_id[message.id] = message
        self._text_parts.pop(message.id, None)
        self._last_result = None  # the old message may have been that result

    def _set_messages(self, messages: Iterable[Message]) -> None:
        self._messages: list[Message] = []
        self._by_id: dict[str, Message] = {}
        self._calls: dict[str, tuple[AssistantMessage, ToolCall]] = {}
        self._last_result = None
        for message in messages:
            self.append(message)

    def _index_after(self, carrier: AssistantMessage) -> int:
        """Return the index after a message, or after its last result where that is known."""
        last = self._last_result  # the results of one message often come in a row
        if (
            last is not None
            and last.carrier is carrier
            and self._messages[last.position] is last.message
        ):
            return last.position + 1
        return self._index(carrier) + 1

    def _index(self, message: Message) -> int:
        # Not list.index(), which compares message contents. From the end, because recent
        # messages change most.
        return next(
            index
            for index in range(len(self._messages) - 1, -1, -1)
            if self._messages[index] is message
        )

    def _join_parts(self) -> None:
        for message_id, parts in self._text_parts.items():
            message: Any = self._by_id[message_id]
            text = message.content if isinstance(message.content, str) else ""
            message.content = text + "".join(parts)
        for call_id, parts in self._argument_parts.items():
            self._calls[call_id][1].function.arguments += "".join(parts)
        self._text_parts.clear()
        self._argument_parts.clear()
