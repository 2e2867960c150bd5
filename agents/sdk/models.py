"""Language models: the protocol, a scripted model, and chat completions over HTTP."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import ag_ui.core as agui
import httpx
from ag_ui.core import Message

from agents.sdk.chat import ModelFailed, StreamedAnswer, chat_messages, chat_tool
from agents.sdk.step import Clock

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_RETRY_STATUSES = {408, 409, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True)
class ToolCallRequest:
    """A tool call of a model; `arguments` is its text, which may not be valid JSON."""

    name: str
    arguments: str
    problem: str = ""  #: of a replayed call: why an earlier attempt rejected it


@dataclass(frozen=True)
class AnswerPart:
    """A part of an answer: some text, or the calls at its end."""

    text: str = ""
    tool_calls: Sequence[ToolCallRequest] = ()


class Model(Protocol):
    """A language model."""

    def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[AnswerPart]:
        """
        Yield the next assistant message in parts.

        Raises:
            ModelFailed.
        """
        ...


#: One answer of a scripted model: a text, or tool calls with their arguments.
ScriptLine = str | Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class ScriptedModel:
    """A model with fixed answers, for tests and the demo."""

    lines: Sequence[ScriptLine] | Callable[[Sequence[Message]], ScriptLine]
    _next: int = 0

    async def answer(
        self, *, instructions: str, messages: Sequence[Message], tools: Sequence[agui.Tool]
    ) -> AsyncIterator[AnswerPart]:
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
            raise ModelFailed("The script has no further line.")
        self._next += 1
        return self.lines[self._next - 1]


@dataclass
class ChatCompletions:
    """
    A model behind an OpenAI-compatible `/chat/completions` endpoint.

    Retried up to `tries` times while nothing was received and the server is unavailable.
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
            has_started = False
            try:
                async for part in self._stream(body):
                    has_started = True
                    yield part
            except (httpx.TransportError, _ServerUnavailable) as error:
                if has_started or number + 1 == self.tries:
                    place = httpx.URL(self.base_url).copy_with(userinfo=b"", query=None)
                    raise ModelFailed(
                        f"{self.model} at {place}: {type(error).__name__} {error}"
                    ) from error
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
                # Do not treat this as the end: a call may lack half of its arguments.
                raise _ServerUnavailable("ended its answer early")
            if text := answer.remaining_text:
                yield AnswerPart(text=text)
            if calls := answer.tool_calls:
                yield AnswerPart(tool_calls=[ToolCallRequest(*call) for call in calls])


class _ServerUnavailable(Exception):
    """The server is temporarily unavailable."""


async def _events(response: httpx.Response) -> AsyncIterator[Any]:
    """Yield the JSON of every event of the stream, None for its end."""
    async for line in _lines(response):
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        try:
            yield None if data == "[DONE]" else json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ModelFailed("The answer is not an event stream.") from error


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    """Yield the lines of an answer of at most MAX_ANSWER_BYTES."""
    size, line_start = 0, ""
    async for text in response.aiter_text():
        size += len(text)
        if size > MAX_ANSWER_BYTES:
            raise ModelFailed("The answer is too long.")
        *lines, line_start = (line_start + text).split("\n")
        for line in lines:
            yield line
    yield line_start
