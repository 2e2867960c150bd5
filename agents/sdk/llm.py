"""Agents driven by a language model: it says, wants tools called, and hears what came of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents.agui import strict_json
from agents.agui.conversation import Conversation
from agents.agui.strict_json import dumps
from agents.port import RunContext
from agents.sdk.calls import follow_answers, make_proposed
from agents.sdk.capabilities import describe, describe_tool
from agents.sdk.models import Model, Part, Request
from agents.sdk.tools import InvalidArguments, Question, Tool
from agents.sdk.turn import Clock, Turn


class TooManyTurns(RuntimeError):
    """The model went on and on."""


@dataclass(frozen=True)
class LlmAgent:
    """
    A model with tools.

    It is asked, says something, wants tools called; all calls of one answer start together, those
    that need a person wait, and when everything has a result the model is asked again. What a model
    says cannot be had a second time, so that a run which lost its worker fails, and is tried again
    by a person: with the same decisions, and without a second call of what has a result.
    """

    name: str
    description: str
    model: Model
    tools: Sequence[Tool | Question] = ()
    instructions: str = ""
    most_turns: int = 20
    clock: Clock = field(default_factory=Clock)
    restartable: bool = False
    input_schema: Mapping[str, Any] | None = None

    def capabilities(self) -> AgentCapabilities:
        """Say what every such agent can do, and which tools this one has."""
        return describe(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Do what was decided, then ask the model until it wants nothing more, or a person."""
        turn = Turn(run_input, ctx, self.clock)
        heard = Conversation(run_input.messages)
        async for event in self._converse(turn, heard):
            heard.apply(event)
            yield event
        yield turn.finished()

    async def _converse(self, turn: Turn, heard: Conversation) -> AsyncIterator[BaseEvent]:
        known = {tool.name: tool for tool in self.tools}
        async for event in follow_answers(turn, known):
            yield event
        for _ in range(self.most_turns):
            if turn.interrupts:
                return
            wanted: list[Request] = []
            async for event in self._answer(turn, heard, wanted):
                yield event
            if not wanted:
                return
            async for event in _call(turn, known, wanted):
                yield event
        if not turn.interrupts:
            raise TooManyTurns(f"{self.name} wanted more than {self.most_turns} turns.")

    async def _answer(
        self, turn: Turn, heard: Conversation, wanted: list[Request]
    ) -> AsyncIterator[BaseEvent]:
        """Ask the model: what it says as it comes, what it wants into `wanted`."""
        answers = self.model.answer(
            instructions=self.instructions,
            messages=heard.messages,
            tools=[describe_tool(tool) for tool in self.tools],
        )
        message_id = turn.open_message()
        is_open = False
        async for part in answers:
            wanted.extend(part.requests)
            for event in _said(part, message_id, is_open=is_open):
                yield event
            is_open = is_open or bool(part.text)
        if is_open:
            yield agui.TextMessageEndEvent(message_id=message_id)


def _said(part: Part, message_id: str, *, is_open: bool) -> list[BaseEvent]:
    if not part.text:
        return []
    said: list[BaseEvent] = []
    if not is_open:
        said.append(agui.TextMessageStartEvent(message_id=message_id, role="assistant"))
    return [*said, agui.TextMessageContentEvent(message_id=message_id, delta=part.text)]


async def _call(
    turn: Turn, known: Mapping[str, Tool | Question], wanted: Sequence[Request]
) -> AsyncIterator[BaseEvent]:
    """Propose the calls of an answer and make them; what cannot be made has an error as result."""
    wrong: list[tuple[str, str]] = []
    for request in wanted:
        try:
            events = turn.propose(_find(known, request.name), **_arguments(request))
        except (InvalidArguments, strict_json.JsonRejected) as error:
            call_id, events = turn.propose_nothing(request.name)
            wrong.append((call_id, str(error)))
        for event in events:
            yield event
    for call_id, problem in wrong:
        yield turn.result(call_id, dumps({"ok": False, "error": problem[:500]}))
    async for event in make_proposed(turn):
        yield event


def _find(known: Mapping[str, Tool | Question], name: str) -> Tool | Question:
    if name not in known:
        raise InvalidArguments(f"There is no tool '{name[:60]}'; there are: {', '.join(known)}.")
    return known[name]


def _arguments(request: Request) -> dict[str, Any]:
    value = strict_json.loads(request.arguments)
    if not isinstance(value, dict):
        raise InvalidArguments(f"{request.name} takes an object of arguments.")
    return value
