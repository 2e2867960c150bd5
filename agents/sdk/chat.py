"""Chat completions on the wire: conversations as they are sent, and answers as they come in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ag_ui.core as agui
from ag_ui.core import Message

from agents.agui.strict_json import dumps

#: What a model is told of a call whose run ended before it had a result.
_NO_RESULT = dumps({"ok": False, "error": "It is not known what came of this call."})
_HIGH_SURROGATES = ("\ud800", "\udbff")


class ModelFailed(RuntimeError):
    """The model gave no answer."""


class StreamedAnswer:
    """An answer that comes in piece by piece, whatever its server makes of the protocol."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._arguments: dict[Any, str] = {}
        self._last: dict[Any, tuple[int, Any]] = {}  #: number and id of the last call at a place
        self._half = ""  #: of a character
        self._finish = ""
        self._is_over = False

    def add(self, event: Any) -> str:
        """
        Take an event of the stream, None for its end, and return the text that came with it.

        Raises:
            ModelFailed: it is no event of a chat completion.
        """
        if event is None:
            self._is_over = True
            return ""
        choice = _first_choice(event)
        self._finish = choice.get("finish_reason") or self._finish
        delta = _object(choice.get("delta") or {})
        for place, piece in enumerate(_list(delta.get("tool_calls") or [])):
            self._add_call(place, _object(piece))
        return self._whole_characters(delta.get("content"))

    @property
    def is_complete(self) -> bool:
        """Whether the server came to an end, and did not just fall silent."""
        return self._is_over or bool(self._finish)

    @property
    def remaining_text(self) -> str:
        """What is left of the text."""
        return _valid(self._half)

    @property
    def tool_calls(self) -> list[tuple[str, str]]:
        """
        The calls that the model wants, each with its arguments.

        Raises:
            ModelFailed: the answer was too long for its limit, and may lack half a call.
        """
        if self._names and self._finish == "length":
            raise ModelFailed("The answer reached its limit of tokens within a tool call.")
        return [
            (_valid(name), self._arguments[place] or "{}") for place, name in self._names.items()
        ]

    def _add_call(self, place: int, piece: Mapping[str, Any]) -> None:
        function = _object(piece.get("function") or {})
        name, arguments = str(function.get("name") or ""), function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = dumps(arguments)  # some servers send the object itself
        index = piece.get("index")
        key = self._call_at(place if index is None else str(index), name, piece.get("id"))
        self._names[key] = self._names.get(key, "") + name
        self._arguments[key] = self._arguments.get(key, "") + arguments

    def _call_at(self, place: Any, name: str, given: Any) -> Any:
        """
        Where a piece belongs: the last call at its place, or one more behind it.

        Servers that do not count give each call an id with its name; others a new id to each piece.
        """
        number, known = self._last.get(place, (0, given))
        if name and given and known and known != given:
            number += 1
        if name or place not in self._last:
            self._last[place] = number, given
        return place, number

    def _whole_characters(self, text: Any) -> str:
        if not isinstance(text, str) or not text:
            return ""
        text, self._half = self._half + text, ""
        if _HIGH_SURROGATES[0] <= text[-1] <= _HIGH_SURROGATES[1]:
            text, self._half = text[:-1], text[-1]
        return _valid(text)


def _valid(text: str) -> str:
    """Text that can be stored and sent: halves of characters together, or replaced."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", "\ufffd")


def _first_choice(event: Any) -> Mapping[str, Any]:
    """The first choice of an event, empty if it has none (a report of usage)."""
    if "error" in _object(event):
        raise ModelFailed("The server reported an error.")
    choices = _list(event.get("choices") or [])
    return _object(choices[0]) if choices else {}


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ModelFailed("The answer is no chat completion.")
    return value


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ModelFailed("The answer is no chat completion.")
    return value


def chat_messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """
    A conversation as the chat API takes it: behind its calls come their results, and nothing else.

    What tools said at work is told after that, and a call that never had a result gets one that
    says so: a server would refuse the conversation for ever.
    """
    results = {one.tool_call_id: one for one in messages if isinstance(one, agui.ToolMessage)}
    for message in messages:
        if isinstance(message, agui.ToolMessage):
            continue
        yield from _message(message)
        if isinstance(message, agui.AssistantMessage):
            for call in message.tool_calls or ():
                result = results.get(call.id)
                content = _text(result.content) if result else _NO_RESULT
                yield {"role": "tool", "tool_call_id": call.id, "content": content}


def _message(message: Message) -> Iterator[dict[str, Any]]:
    """An AG-UI message as the chat API takes it; what only people read is left out."""
    match message:
        case agui.UserMessage() | agui.SystemMessage() | agui.DeveloperMessage():
            role = "user" if message.role == "user" else "system"
            yield {"role": role, "content": _text(message.content)}
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
                "content": _text(message.content) or None,
                **({"tool_calls": calls} if calls else {}),
            }


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content if isinstance(part, agui.TextPart))


def chat_tool(tool: agui.Tool) -> dict[str, Any]:
    """A tool as the chat API is told of it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }
