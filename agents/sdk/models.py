"""Language models: the small protocol that an agent speaks to one by, and two that speak it."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import ag_ui.core as agui
import httpx
from ag_ui.core import Message

from agents.sdk.chat import ModelFailed, StreamedAnswer, chat_messages, chat_tool
from agents.sdk.step import Clock

#: More than this is no answer of a model.
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_RETRY_STATUSES = {408, 409, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True)
class ToolCallRequest:
    """A tool call that the model wants; `arguments` is what it wrote, which may be no JSON."""

    name: str
    arguments: str


@dataclass(frozen=True)
class AnswerPart:
    """A piece of an answer: some text, or the calls that end it."""

    text: str = ""
    tool_calls: Sequence[ToolCallRequest] = ()


class Model(Protocol):
    """Something that continues a conversation."""

    def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[AnswerPart]:
        """
        Yield the next assistant message piece by piece.

        Raises:
            ModelFailed.
        """
        ...


#: One answer of a scripted model: what it says, or the calls that it wants with their arguments.
ScriptLine = str | Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class ScriptedModel:
    """A model that says what it was told to, for tests and for the demo."""

    lines: Sequence[ScriptLine] | Callable[[Sequence[Message]], ScriptLine]
    _next: int = 0

    async def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[AnswerPart]:
        """Yield the next line of the script, whatever was said."""
        line = self._line(messages)
        if isinstance(line, str):
            yield AnswerPart(text=line)
        else:
            yield AnswerPart(
                tool_calls=[ToolCallRequest(name, json.dumps(dict(args))) for name, args in line]
            )

    def _line(self, messages: Sequence[Message]) -> ScriptLine:
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
    api_key: str = field(default="", repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)  #: such as temperature
    timeout_seconds: float = 120
    tries: int = 3
    clock: Clock = field(default_factory=Clock)
    transport: httpx.AsyncBaseTransport | None = None

    async def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[AnswerPart]:
        """Yield what the server streams."""
        body = {
            **self.options,
            "model": self.model,
            "stream": True,
            "messages": [
                *([{"role": "system", "content": instructions}] if instructions else []),
                *chat_messages(messages),
            ],
        }
        if tools:
            body["tools"] = [chat_tool(tool) for tool in tools]
        for number in range(self.tries):
            has_begun = False
            try:
                async for part in self._stream(body):
                    has_begun = True
                    yield part
            except (httpx.TransportError, _ServerUnavailable) as error:
                if has_begun or number + 1 == self.tries:
                    raise ModelFailed(f"{self.model}: {type(error).__name__} {error}") from error
                await self.clock.sleep(2**number)
            else:
                return

    async def _stream(self, body: Mapping[str, Any]) -> AsyncIterator[AnswerPart]:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        async with (
            httpx.AsyncClient(transport=self.transport, timeout=self.timeout_seconds) as client,
            client.stream(
                "POST", f"{self.base_url.rstrip('/')}/chat/completions", json=body, headers=headers
            ) as response,
        ):
            if response.status_code in _RETRY_STATUSES:
                raise _ServerUnavailable(str(response.status_code))
            if response.status_code != 200:
                raise ModelFailed(f"{self.model} answered {response.status_code}")
            answer = StreamedAnswer()
            async for event in _events(response):
                if text := answer.add(event):
                    yield AnswerPart(text=text)
            if not answer.is_complete:
                # Not to be taken for the end: a call may lack half of its arguments.
                raise _ServerUnavailable("broke off its answer")
            if text := answer.remaining_text:
                yield AnswerPart(text=text)
            if answer.tool_calls:
                yield AnswerPart(
                    tool_calls=[
                        ToolCallRequest(name, arguments) for name, arguments in answer.tool_calls
                    ]
                )


class _ServerUnavailable(Exception):
    """The server may answer later."""


async def _events(response: httpx.Response) -> AsyncIterator[Any]:
    """The JSON of every event of the stream, None for its end."""
    async for line in _lines(response):
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        try:
            yield None if data == "[DONE]" else json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ModelFailed("The answer is no event stream.") from error


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """The lines of an answer, which has an end even if its server knows of none."""
    size, rest = 0, ""
    async for text in response.aiter_text():
        size += len(text)
        if size > MAX_ANSWER_BYTES:
            raise ModelFailed("The answer is too long.")
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            yield line
    yield rest
