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
from agents.sdk.capabilities import agent_capabilities, agui_tool
from agents.sdk.model_replay import ModelReplay
from agents.sdk.models import AnswerPart, Model, ToolCallRequest
from agents.sdk.step import Clock, StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, InvalidArguments, Tool, tools_by_name


class TooManyTurns(RuntimeError):
    """The model went on and on."""


@dataclass(frozen=True)
class _ModelCall:
    """A tool call that the model wants; `problem` says why it could not be made before."""

    request: ToolCallRequest
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
    tools: Sequence[Tool | InterruptTool] = ()
    instructions: str = ""
    max_turns: int = 20
    clock: Clock = field(default_factory=Clock)
    restartable: bool = True
    input_schema: Mapping[str, Any] | None = None
    require_approval: bool = False  #: whether a person approves each call of each tool

    def __post_init__(self) -> None:
        tools_by_name(self.tools)
        if self.require_approval:
            object.__setattr__(self, "tools", [_require_approval(tool) for tool in self.tools])

    def capabilities(self) -> AgentCapabilities:
        """Say what every such agent can do, and which tools this one has."""
        return agent_capabilities(self.name, self.description, self.tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Do what was decided, then ask the model until it wants nothing more, or a person."""
        context = StepContext(run_input, ctx, self.clock)
        heard = Conversation(run_input.messages)
        recall = ModelReplay(ctx.committed_events)
        async for event in self._converse(context, heard, recall):
            if not recall.is_committed(event):
                heard.apply(event)
            yield event
        yield context.run_finished()

    async def _converse(
        self, context: StepContext, heard: Conversation, recall: ModelReplay
    ) -> AsyncIterator[BaseEvent]:
        known = tools_by_name(self.tools)
        async for event in execute_answered_calls(context, known):
            yield event
        for _ in range(self.max_turns + recall.complete_answer_count):
            if context.interrupts:
                return
            wanted: list[_ModelCall] = []
            async for event in self._answer(context, heard, recall, wanted):
                yield event
            if not wanted:
                return
            async for event in _execute_calls(context, known, wanted):
                yield event
        if not context.interrupts:
            raise TooManyTurns(f"{self.name} wanted more than {self.max_turns} turns.")

    async def _answer(
        self,
        context: StepContext,
        heard: Conversation,
        recall: ModelReplay,
        wanted: list[_ModelCall],
    ) -> AsyncIterator[BaseEvent]:
        """What the model says as it comes, what it wants into `wanted`; recalled if it can be."""
        message_id = context.open_message()
        while (said := recall.answer(message_id)) is not None:
            for event in _message_events(said):
                yield event
            if recall.is_complete(message_id):
                wanted += [_replayed_call(call, recall) for call in said.tool_calls or ()]
                return
            message_id = context.open_message()
        answers = self.model.answer(
            instructions=self.instructions,
            messages=heard.messages,
            tools=[agui_tool(tool) for tool in self.tools],
        )
        is_open = False
        async for part in answers:
            wanted += [_ModelCall(request) for request in part.tool_calls]
            for event in _text_events(part, message_id, is_open=is_open):
                yield event
            is_open = is_open or bool(part.text)
        if is_open:
            yield agui.TextMessageEndEvent(message_id=message_id)


def _require_approval(tool: Tool | InterruptTool) -> Tool | InterruptTool:
    return replace(tool, always_requires_approval=True) if isinstance(tool, Tool) else tool


def _replayed_call(call: agui.ToolCall, recall: ModelReplay) -> _ModelCall:
    request = ToolCallRequest(call.function.name, call.function.arguments)
    if not StepContext.is_invalid_call(call.id):
        return _ModelCall(request)
    return _ModelCall(request, str(strict_json.loads(recall.result(call.id))["error"]))


def _message_events(said: agui.AssistantMessage) -> list[BaseEvent]:
    """The text of a message that was said before, and its end, which a broken-off one lacks."""
    text = said.content if isinstance(said.content, str) else None
    if text is None:
        return []
    start = agui.TextMessageStartEvent(message_id=said.id, role="assistant")
    content = [agui.TextMessageContentEvent(message_id=said.id, delta=text)] if text else []
    return [start, *content, agui.TextMessageEndEvent(message_id=said.id)]


def _text_events(part: AnswerPart, message_id: str, *, is_open: bool) -> list[BaseEvent]:
    if not part.text:
        return []
    said: list[BaseEvent] = []
    if not is_open:
        said.append(agui.TextMessageStartEvent(message_id=message_id, role="assistant"))
    return [*said, agui.TextMessageContentEvent(message_id=message_id, delta=part.text)]


async def _execute_calls(
    context: StepContext, known: Mapping[str, Tool | InterruptTool], wanted: Sequence[_ModelCall]
) -> AsyncIterator[BaseEvent]:
    """Propose the calls of an answer and make them; what cannot be made has an error as result."""
    wrong: list[tuple[str, str]] = []
    for one in wanted:
        try:
            events = _propose(context, known, one)
        except (InvalidArguments, strict_json.JsonRejected) as error:
            call_id, events = context.propose_invalid_call(one.request.name)
            wrong.append((call_id, str(error)[:500]))
        for event in events:
            yield event
    for call_id, problem in wrong:
        yield context.tool_result(call_id, dumps({"ok": False, "error": problem}))
    async for event in execute_proposed_calls(context):
        yield event


def _propose(
    context: StepContext, known: Mapping[str, Tool | InterruptTool], one: _ModelCall
) -> list[BaseEvent]:
    if one.problem:
        raise InvalidArguments(one.problem)
    return context.propose(_find_tool(known, one.request.name), _parse_arguments(one.request))


def _find_tool(known: Mapping[str, Tool | InterruptTool], name: str) -> Tool | InterruptTool:
    if name not in known:
        raise InvalidArguments(f"There is no tool '{name[:60]}'; there are: {', '.join(known)}.")
    return known[name]


def _parse_arguments(request: ToolCallRequest) -> dict[str, Any]:
    value = strict_json.loads(request.arguments)
    if not isinstance(value, dict):
        raise InvalidArguments(f"{request.name} takes an object of arguments.")
    return value
