"""
Journaling of LangChain tool calls.

`BaseTool.run` and `arun` are patched, because every call with a tool call id passes through them. A
compiled graph takes no middleware, callbacks cannot replace a result, and the caller may be out of
reach (an agent within a node). Outside of a run of ours the patch changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from itertools import count
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from agents.adapters.framework_run import FrameworkCall, FrameworkRun, result_content, tool_effect
from agents.agui.strict_json import dumps
from agents.port import Effect
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

_run, _arun = BaseTool.run, BaseTool.arun
#: The calls of the current run; nodes and tools in threads inherit it.
_current: ContextVar["ToolCalls | None"] = ContextVar("signoff_calls", default=None)
#: The start of the stored result of a tool that returned a Command, which cannot be restored.
_COMMAND = '{"command":'

#: LangGraph's names in the configuration of a task.
_SCRATCHPAD, _SEND, _RESUME = "__pregel_scratchpad", "__pregel_send", "__resume__"


class CallAnswers:
    """
    The answers to the interrupts of one tool call, which LangGraph keeps for a task.

    Tools of one task take each other's answers there, and have one interrupt id.
    """

    def __init__(self, call_id: str, answers: Sequence[Any]) -> None:
        self._call_id = call_id
        self._answers = list(answers)
        self._is_paused = False

    def in_config(self, config: Any) -> Any:
        """Return a tool's configuration with its own answers, in place of those of its task."""
        configurable: Mapping[str, Any] = (config or {}).get("configurable", {})
        scratchpad, send = configurable.get(_SCRATCHPAD), configurable.get(_SEND)
        if scratchpad is None or send is None:
            return config
        numbers = count()

        def next_number() -> int:
            number = next(numbers)
            self._is_paused = number >= len(self._answers)
            return number

        own = {
            _SCRATCHPAD: replace(
                scratchpad,
                resume=self._answers,
                interrupt_counter=next_number,
                get_null_resume=lambda _=False: None,
            ),
            # The answers are stored with the run.
            _SEND: lambda writes: send([write for write in writes if write[0] != _RESUME]),
        }
        return {**config, "configurable": {**configurable, **own}}

    def own_pause(self, pause: GraphInterrupt) -> GraphInterrupt | None:
        """Return a pause of this call with an id of its own; None if a graph in it paused."""
        if not self._is_paused:
            return None
        (interrupt,) = pause.args[0]
        name = f"{interrupt.id} {self._call_id} {len(self._answers)}"
        own_id = uuid5(NAMESPACE_OID, name).hex
        schema = interrupt.response_schema
        return GraphInterrupt((Interrupt(interrupt.value, own_id, response_schema=schema),))


@dataclass(frozen=True)
class CallPause:
    """An interrupt that a tool call raised."""

    call_id: str
    interrupt: Interrupt[Any]
    is_own: bool  #: of the call itself, not of a graph in it


#: Runs a tool with these arguments and answers.
Function = Callable[[dict[str, Any], CallAnswers], Awaitable[Any]]


class CommandLost(RuntimeError):
    """The call was executed, but the Command that it returned was not stored."""


class ToolCalls:
    """
    The tool calls of one run.

    `results` are those that the graph's state lacks, `answers` those to interrupts of unfinished
    calls.
    """

    def __init__(
        self,
        framework_run: FrameworkRun,
        results: dict[str, str],
        answers: dict[str, list[Any]],
    ) -> None:
        self._framework_run = framework_run
        self._loop = asyncio.get_running_loop()
        self._decisions = {
            decision.call_id: decision for decision in framework_run.decisions if decision.call_id
        }
        self._running: set[asyncio.Future[Any]] = set()
        self.results = results  #: call id -> result
        self.answers = answers  #: call id -> the answers to its own interrupts, in order
        self.paused: dict[str, CallPause] = {}  #: by the id of the interrupt
        _current.set(self)

    async def wait_until_finished(self) -> None:
        """Wait for calls that still run after another one has paused or failed."""
        while self._running:
            await asyncio.wait(self._running)

    async def execute(
        self, tool: BaseTool, call_id: str, tool_args: dict[str, Any], run: Function
    ) -> Any:
        """Execute a call with its approved arguments, unless it was executed or denied before."""
        work = asyncio.ensure_future(self._execute(tool, call_id, tool_args, run))
        self._running.add(work)
        work.add_done_callback(self._running.discard)
        # A failing graph cancels its tasks, and a cancelled call would be in doubt.
        return await asyncio.shield(work)

    def execute_in_thread(
        self,
        tool: BaseTool,
        call_id: str,
        tool_args: dict[str, Any],
        run: Callable[[dict[str, Any], CallAnswers], Any],
    ) -> Any:
        """
        Execute a call from a thread; the function runs in this thread.

        Raises:
            RuntimeError: the thread runs an event loop.
        """
        if _has_loop():
            raise RuntimeError(f"{tool.name} is called in an async function; await its `ainvoke`.")
        permitted, result = Future[tuple[dict[str, Any], CallAnswers] | None](), Future[Any]()

        async def run_in_thread(approved: dict[str, Any], answers: CallAnswers) -> Any:
            permitted.set_result((approved, answers))
            return await asyncio.wrap_future(result)

        execution = asyncio.run_coroutine_threadsafe(
            self.execute(tool, call_id, tool_args, run_in_thread), self._loop
        )
        execution.add_done_callback(
            lambda _: None if permitted.done() else permitted.set_result(None)
        )
        permission = permitted.result()
        if permission is not None:
            try:
                result.set_result(run(*permission))
            except BaseException as error:
                result.set_exception(error)
        return execution.result()

    async def _execute(
        self, tool: BaseTool, call_id: str, tool_args: dict[str, Any], run: Function
    ) -> Any:
        if call_id in self.results:
            return self._repeat_result(tool, call_id, self.results[call_id])
        args = tool._filter_injected_args(tool_args)  # noqa: SLF001
        decision = self._decisions.get(call_id)
        if decision is not None and not decision.allows_call:
            self._framework_run.add_refusal(decision)
            return self._failed(tool, call_id, decision.refusal_text)
        if decision is not None:
            injected = {name: value for name, value in tool_args.items() if name not in args}
            args = decision.args
            tool_args = {**injected, **args}
        # Validate before `begin`: errors have no effect then.
        tool._parse_input(tool_args, call_id)  # noqa: SLF001
        output: list[Any] = []
        answers = CallAnswers(call_id, self.answers.get(call_id, ()))

        async def function() -> str:
            output.append(await run(tool_args, answers))
            return _content(output[0])

        effect = tool_effect(tool.metadata)
        try:
            content = await self._framework_run.call_tool(
                FrameworkCall(
                    call_id,
                    tool.name,
                    args,
                    effect,
                    function,
                    harmless=(ToolException,),
                    pausing=(GraphInterrupt,),
                )
            )
        except GraphInterrupt as pause:
            own_pause = answers.own_pause(pause)
            for interrupt in (own_pause or pause).args[0]:
                self._note_pause(CallPause(call_id, interrupt, is_own=own_pause is not None), tool)
            if own_pause is None:
                raise
            raise own_pause from pause
        except (ToolError, ToolException) as error:
            return self._failed(tool, call_id, error_text(error))
        if not output and content.startswith(_COMMAND) and effect is Effect.READ:
            return await run(tool_args, answers)
        self._end(call_id, content)
        return output[0] if output else self._repeat_result(tool, call_id, content)

    def _failed(self, tool: BaseTool, call_id: str, content: str) -> ToolMessage:
        self._end(call_id, content)
        return _message(tool, call_id, content, is_error=True)

    def _end(self, call_id: str, content: str) -> None:
        """Store the result: the task runs all of its calls again if another one pauses."""
        self.results[call_id] = content
        self.answers.pop(call_id, None)
        # A model may reuse the id for another call, which is not decided.
        self._decisions.pop(call_id, None)

    def _note_pause(self, pause: CallPause, tool: BaseTool) -> None:
        """Store a pause; end the run if its answer could reach another call."""
        other = self.paused.setdefault(pause.interrupt.id, pause)
        if other.call_id != pause.call_id:
            self._framework_run.end_reason = (
                f"The calls {other.call_id} and {pause.call_id} (of {tool.name}) ask at the same "
                "time under one id, so an answer could reach the wrong one. Give each call a task "
                "of its own, as `create_agent` does."
            )

    @staticmethod
    def _repeat_result(tool: BaseTool, call_id: str, content: str) -> ToolMessage:
        if content.startswith(_COMMAND):
            raise CommandLost(
                f"{tool.name} was executed, but its Command was not stored; retry in a new thread."
            )
        return _message(tool, call_id, content)


def _message(tool: BaseTool, call_id: str, content: str, *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(
        content,
        name=tool.name,
        tool_call_id=call_id,
        status="error" if is_error else "success",
    )


def _content(output: Any) -> str:
    """Return the text of a tool's output."""
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
    async def run(tool_args: Any, answers: CallAnswers) -> Any:
        own = {**named, "config": answers.in_config(named.get("config"))}
        return await _arun(tool, tool_args, *more, tool_call_id=tool_call_id, **own)

    calls = _current.get()
    if calls is None or tool_call_id is None:
        return await _arun(tool, tool_input, *more, tool_call_id=tool_call_id, **named)
    return await calls.execute(tool, tool_call_id, tool_input, run)


@wraps(_run)
def _run_journaled(
    tool: BaseTool, tool_input: Any, *more: Any, tool_call_id: str | None = None, **named: Any
) -> Any:
    def run(tool_args: Any, answers: CallAnswers) -> Any:
        own = {**named, "config": answers.in_config(named.get("config"))}
        return _run(tool, tool_args, *more, tool_call_id=tool_call_id, **own)

    calls = _current.get()
    if calls is None or tool_call_id is None:
        return _run(tool, tool_input, *more, tool_call_id=tool_call_id, **named)
    return calls.execute_in_thread(tool, tool_call_id, tool_input, run)


BaseTool.run = _run_journaled  # type: ignore[method-assign, assignment]
BaseTool.arun = _arun_journaled  # type: ignore[method-assign, assignment]
