"""The chat completions wire format: requests from AG-UI messages, and streamed answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ag_ui.core as agui
from ag_ui.core import Message

from agents.agui.strict_json import dumps

#: The result for a call whose run ended before it had one.
_NO_RESULT = dumps({"ok": False, "error": "The outcome of this call is not known."})
_HIGH_SURROGATES = ("\ud800", "\udbff")


class ModelFailed(RuntimeError):
    """The model did not answer."""


class StreamedAnswer:
    """A streamed answer, tolerant of servers that deviate from the protocol."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._arguments: dict[Any, str] = {}
        self._last: dict[Any, tuple[int, Any]] = {}  #: position -> number and id of its last call
        self._high_surrogate = ""  #: first half of a character
        self._finish = ""
        self._is_done = False

    def add(self, event: Any) -> str:
        """
        Add an event of the stream, None for its end; return the text in it.

        Raises:
            ModelFailed: it is not an event of a chat completion.
        """
        if event is None:
            self._is_done = True
            return ""
        choice = _first_choice(event)
        self._finish = choice.get("finish_reason") or self._finish
        delta = _object(choice.get("delta") or {})
        for position, fragment in enumerate(_list(delta.get("tool_calls") or [])):
            self._add_call(position, _object(fragment))
        return self._complete_characters(delta.get("content"))

    @property
    def is_complete(self) -> bool:
        """True if the server ended the answer, instead of dropping the connection."""
        return self._is_done or bool(self._finish)

    @property
    def remaining_text(self) -> str:
        """The text that was held back, if the stream ended within a character."""
        return _valid(self._high_surrogate)

    @property
    def tool_calls(self) -> list[tuple[str, str]]:
        """
        The name and arguments of each tool call of the model.

        Raises:
            ModelFailed: the answer was cut at the token limit, and a call may be incomplete.
        """
        if self._names and self._finish == "length":
            raise ModelFailed("The answer reached the token limit within a tool call.")
        return [(_valid(name), self._arguments[key] or "{}") for key, name in self._names.items()]

    def _add_call(self, position: int, fragment: Mapping[str, Any]) -> None:
        function = _object(fragment.get("function") or {})
        name, arguments = str(function.get("name") or ""), function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = dumps(arguments)  # some servers send the object itself
        index = fragment.get("index")
        key = self._call_key(position if index is None else str(index), name, fragment.get("id"))
        self._names[key] = self._names.get(key, "") + name
        self._arguments[key] = self._arguments.get(key, "") + arguments

    def _call_key(self, position: Any, name: str, call_id: Any) -> Any:
        """
        Return the key of a fragment's call: the last one at its position, or a new one.

        Servers without an index send each call's id with its name; others send a new id with each
        fragment.
        """
        number, last_id = self._last.get(position, (0, call_id))
        if name and call_id and last_id and last_id != call_id:
            number += 1
        if name or position not in self._last:
            self._last[position] = number, call_id
        return position, number

    def _complete_characters(self, text: Any) -> str:
        if not isinstance(text, str) or not text:
            return ""
        text, self._high_surrogate = self._high_surrogate + text, ""
        if _HIGH_SURROGATES[0] <= text[-1] <= _HIGH_SURROGATES[1]:
            text, self._high_surrogate = text[:-1], text[-1]
        return _valid(text)


def _valid(text: str) -> str:
    """Return storable text: surrogate pairs joined, lone surrogates and NUL replaced."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "\ufffd")


def _first_choice(event: Any) -> Mapping[str, Any]:
    """Return the first choice of an event, empty if it has none (a usage report)."""
    if "error" in _object(event):
        raise ModelFailed("The server reported an error.")
    choices = _list(event.get("choices") or [])
    return _object(choices[0]) if choices else {}


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ModelFailed("The answer is not a chat completion.")
    return value


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ModelFailed("The answer is not a chat completion.")
    return value


def chat_messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """
    Yield a conversation in the chat API's form: results directly after their calls.

    Messages that tools emitted come after them, and a call without a result gets one that says
    so; servers reject other conversations.
    """
    results = {
        message.tool_call_id: message
        for message in messages
        if isinstance(message, agui.ToolMessage)
    }
    for message in messages:
        if isinstance(message, agui.ToolMessage):
            continue
        yield from _message(message)
        if isinstance(message, agui.AssistantMessage):
            for call in message.tool_calls or ():
                result = results.get(call.id)
                content = text_of(result.content) if result else _NO_RESULT
                yield {"role": "tool", "tool_call_id": call.id, "content": content}


def _message(message: Message) -> Iterator[dict[str, Any]]:
    """Yield an AG-UI message in the chat API's form; activities and reasoning are left out."""
    match message:
        case agui.UserMessage() | agui.SystemMessage() | agui.DeveloperMessage():
            role = "user" if message.role == "user" else "system"
            yield {"role": role, "content": text_of(message.content)}
        case agui.AssistantMessage():
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in message.tool_calls or ()
            ]
            yield {
                "role": "assistant",
                "content": text_of(message.content) or None,
                **({"tool_calls": calls} if calls else {}),
            }


def text_of(content: Any) -> str:
    """Return the text of a message's content, its parts joined."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content if isinstance(part, agui.TextPart))


def chat_tool(tool: agui.Tool) -> dict[str, Any]:
    """Return a tool in the chat API's form."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }
