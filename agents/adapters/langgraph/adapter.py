"""The adapter for LangGraph graphs and LangChain agents; imported in the worker only."""

import asyncio
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from agents.adapters.framework_run import FrameworkRun, UnusableAgent
from agents.adapters.langgraph.checkpoints import ThreadCheckpoints, needs_history
from agents.adapters.langgraph.events import MessageStream, messages_in
from agents.adapters.langgraph.interrupts import (
    InterruptBuilder,
    PendingInterrupt,
    build_answers,
    replacement_result,
    tools_of,
)
from agents.adapters.langgraph.tool_calls import ToolCalls
from agents.agui.legacy.human_in_the_loop import CancellationUnsupported

Graph = Pregel[Any, Any, Any, Any]
Json = dict[str, Any]

_MESSAGES = "messages"
_NO_RESULT = "The call has no result: it was not approved, or its run failed."


async def converse(target: Any, framework_run: FrameworkRun) -> None:
    """
    Run a graph, a graph builder, or a function without arguments that returns one of them.

    Its interrupts become ours, and all decisions become one `Command` that resumes it.
    """
    graph = await asyncio.to_thread(_compiled, target)
    await _Session(graph, framework_run).drive()


class _Session:
    """One run of a graph."""

    def __init__(self, graph: Graph, framework_run: FrameworkRun) -> None:
        stored_state = framework_run.stored_state or {}
        self._framework_run = framework_run
        thread_id = framework_run.ctx.thread_key
        self._memory = ThreadCheckpoints(thread_id, stored_state.get("graph"))
        self._graph = graph.copy(update={"checkpointer": self._memory})
        self._config: RunnableConfig = {
            "configurable": {"thread_id": thread_id, "__pregel_strict_resume": True}
        }
        self._pending_interrupts = [
            PendingInterrupt(**fields) for fields in stored_state.get("questions", ())
        ]
        self._results: dict[str, str] = stored_state.get("made", {})
        self._answers_by_call: dict[str, list[Any]] = stored_state.get("answers", {})
        self._message_stream = MessageStream(
            framework_run, stored_state.get("calls", {}), stored_state.get("said", {})
        )

    async def drive(self) -> None:
        """Run the graph from its last checkpoint to its end or its next pause."""
        before = await self._graph.aget_state(self._config)
        self._message_stream.add_known_messages(before.values)
        calls = ToolCalls(self._framework_run, self._results, self._answers_by_call)
        try:
            graph_input = (
                self._answers() if self._framework_run.decisions else await self._input(before)
            )
        except CancellationUnsupported:
            self._framework_run.is_cancelled = True
            return
        try:
            await self._stream(graph_input, calls)
        finally:
            await calls.wait_until_finished()
        self._message_stream.end()
        self._save_state(await self._graph.aget_state(self._config), calls)

    async def _stream(self, graph_input: Any, calls: ToolCalls) -> None:
        modes: Any = self._graph.astream(
            graph_input, self._config, stream_mode=["messages", "updates"], subgraphs=True
        )
        async with aclosing(modes):
            async for _, mode, item in modes:
                if self._framework_run.end_reason:
                    return  # some graphs turn the error into a text and continue
                if mode == "messages":
                    self._message_stream.stream(*item)
                else:
                    for call_id in self._message_stream.update(item):
                        calls.results.pop(call_id, None)

    def _answers(self) -> Command[Any] | None:
        """Return the command that resumes the graph, with answers by interrupt id."""
        try:
            answers = build_answers(self._pending_interrupts, self._framework_run.decisions)
        finally:
            for decision in self._framework_run.decisions:
                if not decision.allows_call and not replacement_result(decision):
                    self._framework_run.add_refusal(decision)
        for pending in self._pending_interrupts:
            # Before, LangGraph kept the answers of calls, too.
            if pending.call_id is not None and pending.is_of_call is not False:
                answer = answers[pending.id]
                self._answers_by_call.setdefault(pending.call_id, []).append(answer)
            if not pending.is_in_graph:
                del answers[pending.id]
        # A breakpoint has no id; None continues after it.
        return Command(resume=answers) if answers.keys() - {""} else None

    async def _input(self, before: StateSnapshot) -> Json:
        """
        Return the graph's input: the stored messages since its last end or pause, and fields.

        Fields are those of `forwardedProps.input` that the graph's input schema has.

        Raises:
            UnusableAgent: the graph takes no messages, and none of its fields was sent.
        """
        fields = _input_fields(self._graph)
        forwarded = self._framework_run.run_input.forwarded_props
        input_fields = forwarded.get("input") if isinstance(forwarded, dict) else None
        input_fields = input_fields if isinstance(input_fields, dict) else {}
        values = {name: input_fields[name] for name in fields if name in input_fields}
        if _MESSAGES in fields:
            new_messages = [
                HumanMessage(text) if role == "user" else AIMessage(text)
                for role, text in self._framework_run.take_new_messages()
            ]
            values[_MESSAGES] = [*await self._missing_results(before), *new_messages]
        elif not values:
            raise UnusableAgent(f"The graph takes forwardedProps.input with: {', '.join(fields)}.")
        for call_id in self._message_stream.calls:
            self._framework_run.add_result(call_id, self._result_of(call_id))
        return values

    async def _missing_results(self, before: StateSnapshot) -> list[ToolMessage]:
        """
        Return results for the calls that have none in the state.

        Models reject conversations with open calls, which remain if a user sends a message instead
        of resuming a pause. Results of tasks that completed beside the pause are lost in the state,
        so they are added here.
        """
        results = _results_by_call(before)
        # With the config of a checkpoint, its state is read without the writes of later tasks.
        bare = await self._graph.aget_state(before.config)
        stored_results = _results_by_call(bare)
        call_ids = [
            str(call["id"])
            for message in messages_in(bare.values)
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        ]
        return [
            ToolMessage(results.get(call_id) or self._result_of(call_id), tool_call_id=call_id)
            for call_id in call_ids
            if call_id not in stored_results
        ]

    def _result_of(self, call_id: str) -> str:
        return (
            self._results.get(call_id)
            or self._framework_run.result_in_thread(call_id)
            or _NO_RESULT
        )

    def _save_state(self, after: StateSnapshot, calls: ToolCalls) -> None:
        builder = InterruptBuilder(
            self._framework_run, self._message_stream.calls, tools_of(self._graph)
        )
        in_graph = {interrupt.id for interrupt in after.interrupts}
        pending_interrupts = [
            builder.add_interrupt(interrupt, calls.paused.get(interrupt.id))
            for interrupt in after.interrupts
        ]
        if in_graph:
            pending_interrupts += [
                builder.add_interrupt(pause.interrupt, pause, is_in_graph=False)
                for name, pause in calls.paused.items()
                if name not in in_graph and pause.is_own
            ]
        if after.next and not pending_interrupts:
            pending_interrupts = [builder.add_breakpoint(after.next)]
        self._framework_run.stored_state = {
            "graph": self._memory.dump(
                paused=bool(pending_interrupts), history=needs_history(self._graph)
            )
        }
        if pending_interrupts:
            self._framework_run.stored_state |= {
                "questions": [asdict(interrupt) for interrupt in pending_interrupts],
                "calls": self._message_stream.calls,
                "made": calls.results,
                "answers": calls.answers,
                "said": self._message_stream.texts_by_task,
            }


def _results_by_call(state: StateSnapshot) -> dict[str, str]:
    return {
        message.tool_call_id: message.text
        for message in messages_in(state.values)
        if isinstance(message, ToolMessage)
    }


def _input_fields(graph: Graph) -> list[str]:
    """Return the fields of the input schema; messages for the functional API."""
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
    raise UnusableAgent(
        f"{type(target).__name__} is neither a graph nor a function that returns one."
    )
