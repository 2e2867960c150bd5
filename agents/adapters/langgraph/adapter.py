"""Graphs of LangGraph and agents of LangChain; imported in the worker only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from ag_ui.core import BaseEvent, RunAgentInput, RunErrorEvent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from agents.adapters.framework_run import FrameworkRun
from agents.adapters.langgraph.checkpoints import ThreadCheckpoints, needs_history
from agents.adapters.langgraph.events import MessageStream, messages_in
from agents.adapters.langgraph.interrupts import (
    GraphQuestion,
    InterruptBuilder,
    build_answers,
    replacement_result,
    tools_of,
)
from agents.adapters.langgraph.tool_calls import ToolCalls
from agents.agui.legacy.human_in_the_loop import CancellationUnsupported
from agents.port import RunContext

Graph = Pregel[Any, Any, Any, Any]
Json = dict[str, Any]

_MESSAGES = "messages"
_NO_RESULT = "The call has no result: nobody let it be made, or its run broke off."


async def run(target: Any, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
    """
    Drive a graph, its builder, or what a function without arguments returns of these.

    Its interrupts become interrupts of ours, and the answers one `Command` that resumes it.
    """
    framework_run = FrameworkRun(run_input, ctx)
    try:
        graph = await asyncio.to_thread(_compiled, target)
        session = _Session(graph, framework_run, run_input.forwarded_props)
        async for event in framework_run.run(session.drive()):
            yield event
    except UnusableGraph as error:
        yield RunErrorEvent(message=str(error), code="AGENT_ERROR")


class UnusableGraph(Exception):
    """There is no graph, or no input for it; the text is for whoever started the run."""


class _Session:
    """One run of a graph."""

    def __init__(self, graph: Graph, framework_run: FrameworkRun, forwarded: Any) -> None:
        kept = framework_run.kept or {}
        self._framework_run = framework_run
        self._forwarded = forwarded
        self._memory = ThreadCheckpoints(framework_run.thread_key, kept.get("graph"))
        self._graph = graph.copy(update={"checkpointer": self._memory})
        self._config: RunnableConfig = {
            "configurable": {"thread_id": framework_run.thread_key, "__pregel_strict_resume": True}
        }
        self._questions = [GraphQuestion(**one) for one in kept.get("questions", ())]
        self._made: dict[str, str] = kept.get("made", {})
        self._telling = MessageStream(framework_run, kept.get("calls", {}), kept.get("said", {}))

    async def drive(self) -> None:
        """Go on from where the thread is, up to the end of the graph or its next pause."""
        before = await self._graph.aget_state(self._config)
        self._telling.add_known_messages(before.values)
        calls = ToolCalls(self._framework_run, self._made)
        try:
            given = self._answers() if self._framework_run.decisions else await self._input(before)
        except CancellationUnsupported:
            self._framework_run.cancel()
            return
        try:
            await self._stream(given, calls)
        finally:
            await calls.wait_until_finished()
        self._telling.end()
        self._keep(await self._graph.aget_state(self._config), calls)

    async def _stream(self, given: Any, calls: ToolCalls) -> None:
        modes: Any = self._graph.astream(
            given, self._config, stream_mode=["messages", "updates"], subgraphs=True
        )
        async with aclosing(modes):
            async for _, mode, item in modes:
                if self._framework_run.is_ending:
                    return  # some graphs make a text of the error, and ask their model on
                if mode == "messages":
                    self._telling.stream(*item)
                else:
                    for call_id in self._telling.update(item):
                        calls.made.pop(call_id, None)

    def _answers(self) -> Command[Any] | None:
        """What resumes the graph: always by name, for several as well as for one."""
        try:
            answers = build_answers(self._questions, self._framework_run.decisions)
        finally:
            self._tell_refusals()
        # A breakpoint has no name, and is left by going on.
        return Command(resume=answers) if answers.keys() - {""} else None

    def _tell_refusals(self) -> None:
        for decision in self._framework_run.decisions:
            response = replacement_result(decision)
            if decision.call_id is not None and not decision.allows_call and not response:
                self._framework_run.add_refusal(decision)

    async def _input(self, before: StateSnapshot) -> Json:
        """
        What people said since the graph last ran to an end or a pause, as its input.

        The history of a client counts for nothing: messages are those that the server has, and
        other fields are the ones that the graph takes.

        Raises:
            Unusable: the graph takes no messages, and nothing was given that it takes.
        """
        fields = _input_fields(self._graph)
        given = self._forwarded.get("input") if isinstance(self._forwarded, dict) else None
        given = given if isinstance(given, dict) else {}
        values = {name: given[name] for name in fields if name in given}
        if _MESSAGES in fields:
            said = [
                HumanMessage(text) if role == "user" else AIMessage(text)
                for role, text in self._framework_run.take_new_messages()
            ]
            values[_MESSAGES] = [*await self._closing(before), *said]
        elif not values:
            raise UnusableGraph(f"The graph takes forwardedProps.input with: {', '.join(fields)}.")
        for call_id in self._telling.calls:
            self._framework_run.add_result(call_id, self._result_of(call_id))
        return values

    async def _closing(self, before: StateSnapshot) -> list[ToolMessage]:
        """
        Results for the calls that the state has none for.

        Someone writes to a thread whose pause was never resumed: a model refuses a conversation in
        which its calls are left open. The tasks that were done beside the pause are forgotten then,
        so what they brought is said here.
        """
        shown = [*messages_in(before.values)]
        made = {one.tool_call_id: one.text for one in shown if isinstance(one, ToolMessage)}
        # By its name a checkpoint is read as it is, without the tasks that have gone beyond it.
        bare = await self._graph.aget_state(before.config)
        messages = [*messages_in(bare.values)]
        answered = {one.tool_call_id for one in messages if isinstance(one, ToolMessage)}
        calls = [call for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
        return [
            ToolMessage(made.get(name) or self._result_of(name), tool_call_id=name)
            for name in (str(call["id"]) for call in calls)
            if name not in answered
        ]

    def _result_of(self, call_id: str) -> str:
        return (
            self._made.get(call_id) or self._framework_run.result_in_thread(call_id) or _NO_RESULT
        )

    def _keep(self, after: StateSnapshot, calls: ToolCalls) -> None:
        asking = InterruptBuilder(self._framework_run, self._telling.calls, tools_of(self._graph))
        questions = [
            asking.add_interrupt(one, calls.paused.get(one.id)) for one in after.interrupts
        ]
        if after.next and not questions:
            questions = [asking.add_breakpoint(after.next)]
        self._framework_run.kept = {
            "graph": self._memory.dump(paused=bool(questions), history=needs_history(self._graph))
        }
        if questions:
            self._framework_run.kept |= {
                "questions": [one.to_json() for one in questions],
                "calls": self._telling.calls,
                "made": calls.made,
                "said": self._telling.said,
            }


def _input_fields(graph: Graph) -> list[str]:
    """What the state of its input may have; a function of the functional API takes messages."""
    if not isinstance(graph, CompiledStateGraph):
        return [_MESSAGES]
    return list(graph.builder.schemas[graph.builder.input_schema])


def _compiled(target: Any) -> Graph:
    if isinstance(target, StateGraph):
        return target.compile()
    if isinstance(target, Pregel):
        return target
    if callable(target):
        return _compiled(target())
    raise UnusableGraph(f"{type(target).__name__} is no graph, and no function that returns one.")
