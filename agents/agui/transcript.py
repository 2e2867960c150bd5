"""The messages of one thread in order, and their lookup by id while text is coming in."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ag_ui.core import AssistantMessage, Message, ToolCall, ToolMessage


class _LastResult(NamedTuple):
    """The result that was put behind its call last."""

    carrier: AssistantMessage
    message: ToolMessage
    at: int


class Transcript:
    """
    A list of messages that text can be appended to cheaply.

    New text is kept in parts and joined when somebody looks at the messages.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._text_parts: dict[str, list[str]] = {}  # message id -> what `content` still lacks
        self._argument_parts: dict[str, list[str]] = {}  # tool call id -> the same for arguments
        self._last_result: _LastResult | None = None
        self._take(messages)

    def messages(self) -> list[Message]:
        """The messages in order, complete; they are the live ones, not copies."""
        self._join_parts()
        return list(self._messages)

    def message(self, message_id: str) -> Message | None:
        """The message of this id; its content may lack what has come in since it was joined."""
        return self._by_id.get(message_id)

    def call(self, tool_call_id: str) -> ToolCall | None:
        """The tool call of this id; its arguments may lack what has come in since."""
        return self._calls[tool_call_id][1] if tool_call_id in self._calls else None

    def call_ids(self) -> set[str]:
        """The ids of every tool call in the transcript."""
        return set(self._calls)

    def append(self, message: Message) -> None:
        """Add a message at the end."""
        self._messages.append(message)
        self._by_id.setdefault(message.id, message)
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls or ():
                self._calls.setdefault(call.id, (message, call))

    def append_text(self, message_id: str, delta: str) -> None:
        """Add text to a message; an activity's content is no text and stays as it is."""
        parts = self._text_parts.get(message_id)
        if parts is not None:
            parts.append(delta)
        elif message_id in self._by_id and self._by_id[message_id].role != "activity":
            self._text_parts[message_id] = [delta]

    def append_arguments(self, tool_call_id: str, delta: str) -> None:
        """Add to the arguments of a tool call."""
        self._argument_parts.setdefault(tool_call_id, []).append(delta)

    def add_call(self, carrier: AssistantMessage, call: ToolCall) -> None:
        """Put a tool call into an assistant message of the transcript."""
        if carrier.tool_calls is None:
            carrier.tool_calls = []
        carrier.tool_calls.append(call)
        self._calls[call.id] = (carrier, call)

    def insert_result(self, message: ToolMessage) -> None:
        """Put a result behind its call and the results already there, as providers demand."""
        if message.tool_call_id not in self._calls:
            self.append(message)
            return
        at = self._behind(self._calls[message.tool_call_id][0])
        while at < len(self._messages) and self._messages[at].role == "tool":
            at += 1
        self._messages.insert(at, message)
        self._by_id.setdefault(message.id, message)
        self._last_result = _LastResult(self._calls[message.tool_call_id][0], message, at)

    def replace(self, known: Message, message: Message) -> None:
        """Put a message in the place of another one with the same id."""
        if isinstance(known, AssistantMessage) and known.tool_calls:
            messages = self.messages()
            messages[self._position(known)] = message
            self._take(messages)  # anew, because its tool calls are gone with it
            return
        self._messages[self._position(known)] = message
        self._by_id[message.id] = message
        self._text_parts.pop(message.id, None)
        self._last_result = None  # the other one may have been a result, too

    def _take(self, messages: Iterable[Message]) -> None:
        self._messages: list[Message] = []
        self._by_id: dict[str, Message] = {}
        self._calls: dict[str, tuple[AssistantMessage, ToolCall]] = {}
        self._last_result = None
        for message in messages:
            self.append(message)

    def _behind(self, carrier: AssistantMessage) -> int:
        """The place behind a message, or behind its last result where that is known."""
        last = self._last_result  # a thousand results of one message come in a row
        if last is not None and last.carrier is carrier and self._messages[last.at] is last.message:
            return last.at + 1
        return self._position(carrier) + 1

    def _position(self, message: Message) -> int:
        # Not list.index(): it would compare the contents of every message on the way. From the
        # end, because what changes is seldom old.
        last = len(self._messages) - 1
        return next(last - at for at, one in enumerate(reversed(self._messages)) if one is message)

    def _join_parts(self) -> None:
        for message_id, parts in self._text_parts.items():
            message: Any = self._by_id[message_id]
            known = message.content if isinstance(message.content, str) else ""
            message.content = known + "".join(parts)
        for call_id, parts in self._argument_parts.items():
            self._calls[call_id][1].function.arguments += "".join(parts)
        self._text_parts.clear()
        self._argument_parts.clear()
