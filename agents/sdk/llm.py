"""Agents driven by a language model with tools."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput

from agents.agui import strict_json
from agents.agui.conversation import Conversation
from agents.agui.strict_json import dumps
from agents.port import RunContext
from agents.sdk.agent import SdkAgent
from agents.sdk.declarations import check_tools
from agents.sdk.models import Model, ToolCallRequest
from agents.sdk.step import StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, InvalidArguments, Tool, tools_by_name


class TooManyTurns(RuntimeError):
    """The model did not finish within `max_turns`."""


@dataclass(frozen=True)
class LlmAgent(SdkAgent):
    """
    A model with tools.

    All calls of one answer start together, those that need approval wait, and when every call has
    a result the model is asked again. A model's answer cannot be reproduced: a run that is driven
    again continues after the last committed answer. An incomplete answer stays in the thread,
    and the model is asked again.
    """

    model: Model
    instructions: str = ""
    max_turns: int = 20
    require_approval: bool = False  #: every call of every tool needs approval

    def __post_init__(self) -> None:
        check_tools(self.name, self.tools, (Tool, InterruptTool))
        if self.require_approval:
            tools = [
                replace(tool, always_requires_approval=True) if isinstance(tool, Tool) else tool
                for tool in self.tools
            ]
            object.__setattr__(self, "tools", tools)

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Execute the decisions, then ask the model until it needs no tool, or an interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        conversation = Conversation(run_input.messages)
        replay = _ModelReplay(ctx.committed_events)
        async for event in self._converse(context, conversation, replay):
            if not replay.is_committed(event):
                conversation.apply(event)
            yield event
        yield await context.run_finished()

    async def _converse(
        self, context: StepContext, conversation: Conversation, replay: "_ModelReplay"
    ) -> AsyncIterator[BaseEvent]:
        tools = tools_by_name(self.tools)
        async for event in execute_answered_calls(context, tools):
            yield event
        for _ in range(self.max_turns + replay.complete_answer_count):
            if context.interrupts:
                return
            calls: list[ToolCallRequest] = []
            async for event in self._answer(context, conversation, replay, calls):
                yield event
            if not calls:
                return
            async for event in _execute_calls(context, tools, calls):
                yield event
        if not context.interrupts:
            raise TooManyTurns(
                f"{self.name} needs more than {self.max_turns} turns; raise max_turns."
            )

    async def _answer(
        self,
        context: StepContext,
        conversation: Conversation,
        replay: "_ModelReplay",
        calls: list[ToolCallRequest],
    ) -> AsyncIterator[BaseEvent]:
        """Yield the model's text and append its calls to `calls`; replayed where committed."""
        message_id = context.open_message()
        while (message := replay.answer(message_id)) is not None:
            for event in _message_events(message):
                yield event
            if replay.is_complete(message_id):
                calls += [_replayed_call(call, replay) for call in message.tool_calls or ()]
                return
            message_id = context.open_message()
        answers = self.model.answer(
            instructions=self.instructions,
            messages=conversation.messages,
            tools=self.agui_tools(),
        )
        is_open = False
        async for part in answers:
            calls += part.tool_calls
            if part.text and not is_open:
                is_open = True
                yield agui.TextMessageStartEvent(message_id=message_id, role="assistant")
            if part.text:
                yield agui.TextMessageContentEvent(message_id=message_id, delta=part.text)
        if is_open:
            yield agui.TextMessageEndEvent(message_id=message_id)


def _replayed_call(call: agui.ToolCall, replay: "_ModelReplay") -> ToolCallRequest:
    problem = ""
    if StepContext.is_invalid_call(call.id):
        problem = str(strict_json.loads(replay.result(call.id))["error"])
    return ToolCallRequest(call.function.name, call.function.arguments, problem)


def _message_events(message: agui.AssistantMessage) -> list[BaseEvent]:
    """Return the events of a committed message, with the END that an incomplete one lacks."""
    text = message.content if isinstance(message.content, str) else None
    if text is None:
        return []
    start = agui.TextMessageStartEvent(message_id=message.id, role="assistant")
    content = [agui.TextMessageContentEvent(message_id=message.id, delta=text)] if text else []
    return [start, *content, agui.TextMessageEndEvent(message_id=message.id)]


async def _execute_calls(
    context: StepContext,
    tools: Mapping[str, Tool | InterruptTool],
    calls: Sequence[ToolCallRequest],
) -> AsyncIterator[BaseEvent]:
    """Propose the calls of an answer and execute them; an invalid call gets an error as result."""
    problems: list[tuple[str, str]] = []
    for call in calls:
        try:
            events = _propose(context, tools, call)
        except (InvalidArguments, strict_json.JsonRejected) as error:
            call_id, events = context.propose_invalid_call(call.name)
            problems.append((call_id, str(error)[:500]))
        for event in events:
            yield event
    for call_id, problem in problems:
        yield context.tool_result(call_id, dumps({"ok": False, "error": problem}))
    async for event in execute_proposed_calls(context):
        yield event


def _propose(
    context: StepContext, tools: Mapping[str, Tool | InterruptTool], call: ToolCallRequest
) -> list[BaseEvent]:
    if call.problem:
        raise InvalidArguments(call.problem)
    if call.name not in tools:
        names = ", ".join(tools)
        raise InvalidArguments(f"There is no tool '{call.name[:60]}'; use one of: {names}.")
    args = strict_json.loads(call.arguments)
    if not isinstance(args, dict):
        raise InvalidArguments(f"{call.name} takes an object of arguments.")
    return context.propose(tools[call.name], args)


class _ModelReplay:
    """The committed answers of a model, by message id."""

    def __init__(self, committed_events: Sequence[BaseEvent]) -> None:
        conversation = Conversation()
        for event in committed_events:
            conversation.apply(event)
        self._messages = {message.id: message for message in conversation.messages}
        self._calls = conversation.tool_call_ids
        self._results = {
            message.tool_call_id: message.content
            for message in conversation.messages
            if isinstance(message, agui.ToolMessage) and isinstance(message.content, str)
        }
        self._ended = {
            event.message_id
            for event in committed_events
            if isinstance(event, agui.TextMessageEndEvent)
        }

    def answer(self, message_id: str) -> agui.AssistantMessage | None:
        """Return the committed part of an answer, None if nothing was committed."""
        message = self._messages.get(message_id)
        return message if isinstance(message, agui.AssistantMessage) else None

    def is_complete(self, message_id: str) -> bool:
        """
        Return True if the whole answer was committed.

        The end of its text and its calls are committed together.
        """
        answer = self.answer(message_id)
        return answer is not None and (message_id in self._ended or bool(answer.tool_calls))

    @property
    def complete_answer_count(self) -> int:
        """The number of complete answers."""
        return sum(map(self.is_complete, self._messages))

    def result(self, tool_call_id: str) -> str:
        """Return the committed result of a call, "" if there is none."""
        return self._results.get(tool_call_id, "")

    def is_committed(self, event: BaseEvent) -> bool:
        """Return True if the run's conversation contains the event already."""
        if isinstance(event, agui.ToolCallResultEvent):
            return event.tool_call_id in self._results
        if (call := getattr(event, "tool_call_id", None)) is not None:
            return call in self._calls
        return getattr(event, "message_id", None) in self._messages
