"""Agents driven by a language model: it says, wants tools called, and hears what came of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ag_ui.core as agui
from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents.agui import strict_json
from agents.agui.conversation import Conversation
from agents.agui.strict_json import dumps
from agents.port import RunContext
from agents.sdk.capabilities import describe, describe_tool
from agents.sdk.model_replay import Recall
from agents.sdk.models import Model, Part, Request
from agents.sdk.step import Clock, Turn
from agents.sdk.tool_execution import follow_answers, make_proposed
from agents.sdk.tools import InvalidArguments, Question, Tool, by_name


class TooManyTurns(RuntimeError):
    """The model went on and on."""


@dataclass(frozen=True)
class _Wanted:
    """A tool call that the model wants; `problem` says why it could not be made before."""

    request: Request
    problem: str = ""


@dataclass(frozen=True)
class LlmAgent:
    """
    A model with tools.

    It is asked, says something, wants tools called; all calls of one answer start together, those
    that need a person wait, and when everything has a result the model is asked again. What a model
    says cannot be had a second time: driven again, a run goes on behind the last answer that was
    committed. One that was broken off stays as it is, and the model is asked anew.
    """

    name: str
    description: str
    model: Model
    tools: Sequence[Tool | Question] = ()
    instructions: str = ""
    most_turns: int = 20
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True
    input_schema: Mapping[str, Any] | None = None
    require_approval: bool = False  #: whether a person approves each call of each tool

    def __post_init__(self) -> None:
        by_name(self.tools)
        if self.require_approval:
            object.__setattr__(self, "tools", [_always_asking(tool) for tool in self.tools])

    def capabilities(self) -> AgentCapabilities:
        """Say what every such agent can do, and which tools this one has."""
        return describe(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Do what was decided, then ask the model until it wants nothing more, or a person."""
        turn = Turn(run_input, ctx, self.clock)
        heard = Conversation(run_input.messages)
        recall = Recall(ctx.committed_events)
        async for event in self._converse(turn, heard, recall):
            if not recall.knows(event):
                heard.apply(event)
            yield event
        yield turn.finished()

    async def _converse(
        self, turn: Turn, heard: Conversation, recall: Recall
    ) -> AsyncIterator[BaseEvent]:
        known = by_name(self.tools)
        async for event in follow_answers(turn, known):
            yield event
        for _ in range(self.most_turns + recall.turns):
            if turn.interrupts:
                return
            wanted: list[_Wanted] = []
            async for event in self._answer(turn, heard, recall, wanted):
                yield event
            if not wanted:
                return
            async for event in _call(turn, known, wanted):
                yield event
        if not turn.interrupts:
            raise TooManyTurns(f"{self.name} wanted more than {self.most_turns} turns.")

    async def _answer(
        self, turn: Turn, heard: Conversation, recall: Recall, wanted: list[_Wanted]
    ) -> AsyncIterator[BaseEvent]:
        """What the model says as it comes, what it wants into `wanted`; recalled if it can be."""
        message_id = turn.open_message()
        while (said := recall.answer(message_id)) is not None:
            for event in _repeated(said):
                yield event
            if recall.is_whole(message_id):
                wanted += [_wanted_before(call, recall) for call in said.tool_calls or ()]
                return
            message_id = turn.open_message()
        answers = self.model.answer(
            instructions=self.instructions,
            messages=heard.messages,
            tools=[describe_tool(tool) for tool in self.tools],
        )
        is_open = False
        async for part in answers:
            wanted += [_Wanted(request) for request in part.requests]
            for event in _said(part, message_id, is_open=is_open):
                yield event
            is_open = is_open or bool(part.text)
        if is_open:
            yield agui.TextMessageEndEvent(message_id=message_id)


def _always_asking(tool: Tool | Question) -> Tool | Question:
    return replace(tool, always_ask=True) if isinstance(tool, Tool) else tool


def _wanted_before(call: agui.ToolCall, recall: Recall) -> _Wanted:
    request = Request(call.function.name, call.function.arguments)
    if not Turn.is_nothing(call.id):
        return _Wanted(request)
    return _Wanted(request, str(strict_json.loads(recall.result(call.id))["error"]))


def _repeated(said: agui.AssistantMessage) -> list[BaseEvent]:
    """The text of a message that was said before, and its end, which a broken-off one lacks."""
    text = said.content if isinstance(said.content, str) else None
    if text is None:
        return []
    start = agui.TextMessageStartEvent(message_id=said.id, role="assistant")
    content = [agui.TextMessageContentEvent(message_id=said.id, delta=text)] if text else []
    return [start, *content, agui.TextMessageEndEvent(message_id=said.id)]


def _said(part: Part, message_id: str, *, is_open: bool) -> list[BaseEvent]:
    if not part.text:
        return []
    said: list[BaseEvent] = []
    if not is_open:
        said.append(agui.TextMessageStartEvent(message_id=message_id, role="assistant"))
    return [*said, agui.TextMessageContentEvent(message_id=message_id, delta=part.text)]


async def _call(
    turn: Turn, known: Mapping[str, Tool | Question], wanted: Sequence[_Wanted]
) -> AsyncIterator[BaseEvent]:
    """Propose the calls of an answer and make them; what cannot be made has an error as result."""
    wrong: list[tuple[str, str]] = []
    for one in wanted:
        try:
            events = _proposed(turn, known, one)
        except (InvalidArguments, strict_json.JsonRejected) as error:
            call_id, events = turn.propose_nothing(one.request.name)
            wrong.append((call_id, str(error)[:500]))
        for event in events:
            yield event
    for call_id, problem in wrong:
        yield turn.result(call_id, dumps({"ok": False, "error": problem}))
    async for event in make_proposed(turn):
        yield event


def _proposed(turn: Turn, known: Mapping[str, Tool | Question], one: _Wanted) -> list[BaseEvent]:
    if one.problem:
        raise InvalidArguments(one.problem)
    return turn.propose(_find(known, one.request.name), _arguments(one.request))


def _find(known: Mapping[str, Tool | Question], name: str) -> Tool | Question:
    if name not in known:
        raise InvalidArguments(f"There is no tool '{name[:60]}'; there are: {', '.join(known)}.")
    return known[name]


def _arguments(request: Request) -> dict[str, Any]:
    value = strict_json.loads(request.arguments)
    if not isinstance(value, dict):
        raise InvalidArguments(f"{request.name} takes an object of arguments.")
    return value
