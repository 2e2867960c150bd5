"""
Tool calls of LangChain on their way through the journal.

A compiled graph takes no middleware any more, callbacks can stop a call but give no result in its
place, and what calls tools may be out of reach: an agent within a node's function, or the function
itself. Every call that a model asked for goes through `BaseTool`, though, so that is where it is
met. Outside of a run of ours nothing changes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from functools import wraps
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphInterrupt

from agents.adapters.framework_run import FrameworkRun, result_content, tool_effect
from agents.agui.strict_json import dumps
from agents.port import Effect
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

_run, _arun = BaseTool.run, BaseTool.arun
#: The run of ours that the code at hand belongs to; nodes and tools in threads inherit it.
_current: ContextVar["ToolCalls | None"] = ContextVar("signoff_calls", default=None)
#: How the result of a tool begins that returned a Command, which a text cannot give again.
_COMMAND = '{"command":'

Function = Callable[[dict[str, Any]], Awaitable[Any]]


class CommandLost(RuntimeError):
    """A call has happened, and what it told the graph to do is not known any more."""


class ToolCalls:
    """The tool calls of one run of a graph; `made` are those whose results its state lacks."""

    def __init__(self, framework_run: FrameworkRun, made: dict[str, str]) -> None:
        self._framework_run = framework_run
        self._loop = asyncio.get_running_loop()
        self._decisions = {one.call_id: one for one in framework_run.decisions if one.call_id}
        self._under_way: set[asyncio.Future[Any]] = set()
        self.made = made  #: call id -> result
        #: LangGraph's id of an interrupt -> the call whose function raised it
        self.paused: dict[str, str] = {}
        _current.set(self)

    async def wait_until_finished(self) -> None:
        """Wait for calls that nobody waits for: one beside them has paused, or failed."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def execute(
        self, tool: BaseTool, call_id: str, given: dict[str, Any], run: Function
    ) -> Any:
        """Make a call, unless it was made or denied before, with the arguments approved for it."""
        work = asyncio.ensure_future(self._execute(tool, call_id, given, run))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        # A graph that fails stops its tasks, and a call that is stopped halfway is in doubt.
        return await asyncio.shield(work)

    def execute_in_thread(
        self,
        tool: BaseTool,
        call_id: str,
        given: dict[str, Any],
        run: Callable[[dict[str, Any]], Any],
    ) -> Any:
        """
        Do the same from a thread, in which the function is called.

        Raises:
            RuntimeError: the thread is that of the event loop.
        """
        if _has_loop():
            raise RuntimeError(f"{tool.name} is called in an async function: await its `ainvoke`.")
        begun, over = Future[dict[str, Any] | None](), Future[Any]()

        async def hand_over(approved: dict[str, Any]) -> Any:
            begun.set_result(approved)
            return await asyncio.wrap_future(over)

        whole = asyncio.run_coroutine_threadsafe(
            self.execute(tool, call_id, given, hand_over), self._loop
        )
        whole.add_done_callback(lambda _: None if begun.done() else begun.set_result(None))
        approved = begun.result()
        if approved is not None:
            try:
                over.set_result(run(approved))
            except BaseException as error:
                over.set_exception(error)
        return whole.result()

    async def _execute(
        self, tool: BaseTool, call_id: str, given: dict[str, Any], run: Function
    ) -> Any:
        if call_id in self.made:
            return self._repeat_result(tool, call_id, self.made[call_id])
        args = tool._filter_injected_args(given)  # noqa: SLF001 - what a model may say
        decision = self._decisions.get(call_id)
        if decision is not None and not decision.allows_call:
            self._framework_run.add_refusal(decision)
            return _message(tool, call_id, decision.refusal_text, is_error=True)
        if decision is not None:
            injected = {name: value for name, value in given.items() if name not in args}
            args = decision.args
            given = {**injected, **args}
        # What it raises now is no doubt about an effect.
        tool._parse_input(given, call_id)  # noqa: SLF001
        output: list[Any] = []

        async def function() -> str:
            output.append(await run(given))
            return _content(output[0])

        effect = tool_effect(tool.metadata)
        try:
            content = await self._framework_run.call_tool(
                call_id,
                tool.name,
                args,
                effect,
                function,
                harmless=(ToolException,),
                pausing=(GraphInterrupt,),
            )
        except GraphInterrupt as pause:
            self.paused |= {one.id: call_id for one in pause.args[0]}
            raise
        except (ToolError, ToolException) as error:
            self._decisions.pop(call_id, None)
            return _message(tool, call_id, error_text(error), is_error=True)
        if not output and content.startswith(_COMMAND) and effect is Effect.READ:
            return await run(given)
        self.made[call_id] = content
        # A model may use the id again, for a call that nobody has decided.
        self._decisions.pop(call_id, None)
        return output[0] if output else self._repeat_result(tool, call_id, content)

    @staticmethod
    def _repeat_result(tool: BaseTool, call_id: str, content: str) -> ToolMessage:
        if content.startswith(_COMMAND):
            raise CommandLost(f"{tool.name} was called, and its Command is not known any more.")
        return _message(tool, call_id, content)


def _message(tool: BaseTool, call_id: str, content: str, *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(
        content,
        name=tool.name,
        tool_call_id=call_id,
        status="error" if is_error else "success",
    )


def _content(output: Any) -> str:
    """What a tool gave its graph, as people read it."""
    if isinstance(output, ToolMessage):
        return result_content(output.content)
    return f"{_COMMAND}{dumps(type(output).__name__)}}}"


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@wraps(_arun)
async def _arun_journaled(
    tool: BaseTool, tool_input: Any, *more: Any, tool_call_id: str | None = None, **named: Any
) -> Any:
    async def run(given: Any) -> Any:
        return await _arun(tool, given, *more, tool_call_id=tool_call_id, **named)

    calls = _current.get()
    if calls is None or tool_call_id is None:
        return await run(tool_input)
    return await calls.execute(tool, tool_call_id, tool_input, run)


@wraps(_run)
def _run_journaled(
    tool: BaseTool, tool_input: Any, *more: Any, tool_call_id: str | None = None, **named: Any
) -> Any:
    def run(given: Any) -> Any:
        return _run(tool, given, *more, tool_call_id=tool_call_id, **named)

    calls = _current.get()
    if calls is None or tool_call_id is None:
        return run(tool_input)
    return calls.execute_in_thread(tool, tool_call_id, tool_input, run)


BaseTool.run = _run_journaled  # type: ignore[method-assign, assignment]
BaseTool.arun = _arun_journaled  # type: ignore[method-assign, assignment]
