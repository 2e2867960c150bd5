"""Language models: the small protocol that an agent speaks to one by, and two that speak it."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import ag_ui.core as agui
import httpx
from ag_ui.core import Message

from agents.sdk.turn import Clock

#: More than this is no answer of a model.
LONGEST_ANSWER_BYTES = 4 * 1024 * 1024
_TRY_AGAIN = {408, 409, 429, 500, 502, 503, 504, 529}


class ModelFailed(RuntimeError):
    """The model gave no answer."""


@dataclass(frozen=True)
class Request:
    """A tool call that the model wants; `arguments` is what it wrote, which may be no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Part:
    """A piece of an answer: some text, or the calls that end it."""

    text: str = ""
    requests: Sequence[Request] = ()


class Model(Protocol):
    """Something that continues a conversation."""

    def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[Part]:
        """
        Yield the next assistant message piece by piece.

        Raises:
            ModelFailed.
        """
        ...


#: One answer of a scripted model: what it says, or the calls that it wants with their arguments.
Line = str | Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class ScriptedModel:
    """A model that says what it was told to, for tests and for the demo."""

    lines: Sequence[Line] | Callable[[Sequence[Message]], Line]
    _next: int = 0

    async def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[Part]:
        """Yield the next line of the script, whatever was said."""
        line = self._line(messages)
        if isinstance(line, str):
            yield Part(text=line)
        else:
            yield Part(requests=[Request(name, json.dumps(dict(args))) for name, args in line])

    def _line(self, messages: Sequence[Message]) -> Line:
        if callable(self.lines):
            return self.lines(messages)
        if self._next == len(self.lines):
            raise ModelFailed("The script is at its end.")
        self._next += 1
        return self.lines[self._next - 1]


@dataclass
class ChatCompletions:
    """
    A model behind an OpenAI-compatible `/chat/completions`, of any provider or a local server.

    Tried again, a few times, where nothing was said yet and the server was busy or away.
    """

    base_url: str  #: such as "http://localhost:11434/v1"
    model: str
    api_key: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)  #: such as temperature
    timeout_seconds: float = 120
    tries: int = 3
    clock: Clock = field(default_factory=Clock)
    transport: httpx.AsyncBaseTransport | None = None

    async def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[Part]:
        """Yield what the server streams."""
        body = {
            **self.options,
            "model": self.model,
            "stream": True,
            "messages": [
                *([{"role": "system", "content": instructions}] if instructions else []),
                *(wire for message in messages for wire in _message(message)),
            ],
        }
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        for number in range(self.tries):
            has_begun = False
            try:
                async for part in self._stream(body):
                    has_begun = True
                    yield part
            except (httpx.TransportError, _Busy) as error:
                if has_begun or number + 1 == self.tries:
                    raise ModelFailed(f"{self.model}: {type(error).__name__}") from error
                await self.clock.sleep(2**number)
            else:
                return

    async def _stream(self, body: Mapping[str, Any]) -> AsyncIterator[Part]:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        async with (
            httpx.AsyncClient(transport=self.transport, timeout=self.timeout_seconds) as client,
            client.stream(
                "POST", f"{self.base_url.rstrip('/')}/chat/completions", json=body, headers=headers
            ) as response,
        ):
            if response.status_code in _TRY_AGAIN:
                raise _Busy(str(response.status_code))
            if response.status_code != 200:
                raise ModelFailed(f"{self.model} answered {response.status_code}")
            calls = _Calls()
            async for choice in _choices(response):
                delta = choice.get("delta") or {}
                calls.add(delta.get("tool_calls") or ())
                if isinstance(text := delta.get("content"), str) and text:
                    yield Part(text=text)
            if calls.requests:
                yield Part(requests=calls.requests)


class _Busy(Exception):
    """The server may answer later."""


class _Calls:
    """Tool calls as they come in, piece by piece, by their place."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._arguments: dict[int, str] = {}

    def add(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        for place, piece in enumerate(pieces):
            number = piece.get("index", place)
            function = piece.get("function") or {}
            self._names[number] = self._names.get(number, "") + (function.get("name") or "")
            self._arguments[number] = self._arguments.get(number, "") + (
                function.get("arguments") or ""
            )

    @property
    def requests(self) -> list[Request]:
        return [
            Request(self._names[number], self._arguments[number] or "{}")
            for number in sorted(self._names)
        ]


async def _choices(response: httpx.Response) -> AsyncIterator[Mapping[str, Any]]:
    """The first choice of every event of the stream."""
    size = 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > LONGEST_ANSWER_BYTES:
            raise ModelFailed("The answer is too long.")
        if not line.startswith("data:") or line.removeprefix("data:").strip() == "[DONE]":
            continue
        try:
            event = json.loads(line.removeprefix("data:"))
        except ValueError as error:
            raise ModelFailed("The answer is no event stream.") from error
        if not isinstance(event, dict) or "error" in event:
            raise ModelFailed("The server reported an error.")
        yield _first_choice(event)


def _first_choice(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of an event, empty if it has none (a report of usage)."""
    choices = event.get("choices") or [{}]
    first: Mapping[str, Any] = choices[0]
    return first


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
        case agui.ToolMessage():
            yield {
                "role": "tool",
                "tool_call_id": message.tool_call_id,
                "content": _text(message.content),
            }


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text for part in content if isinstance(part, agui.TextPart))


def _tool(tool: agui.Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }
