"""Agents written as one async function: its steps run once, and are replayed after an interrupt."""

import asyncio
import contextlib
import inspect
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeVar

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput
from pydantic import BaseModel

from agents.port import AgentMistake, RunContext
from agents.sdk.agent import SdkAgent
from agents.sdk.context import AttachedFile, progress_event
from agents.sdk.declarations import check_tools, schema_of
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn, check_duration
from agents.sdk.present import Present, with_present
from agents.sdk.schemas import with_feedback
from agents.sdk.step import StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, Tool, tools_by_name
from agents.sdk.workflow_steps import (
    ConcurrentSteps,
    StepNotAwaited,
    WorkflowChanged,
    WorkflowStep,
    fingerprint,
    workflow_changed,
)
from agents.storable import storable

_log = logging.getLogger(__name__)

T = TypeVar("T")
EmitEvent = Callable[[BaseEvent], Awaitable[None]]


class WorkflowPaused(BaseException):
    """The workflow is paused; a BaseException, so that authors do not catch it by mistake."""


class OutcomeAsBoolean(AgentMistake, TypeError):
    """The workflow used an outcome or a reply as a boolean."""


@dataclass(frozen=True)
class ToolOutcome:
    """The outcome of a tool call."""

    value: Any  #: the tool's result, None unless done
    status: str  #: "done", "denied", "cancelled", "failed"
    reason: str = ""  #: of the denial, or the error
    feedback: str = ""  #: the question of a reviewer who sent the call back; it was not executed
    suggested_args: Mapping[str, Any] | None = None  #: all arguments, with the reviewer's edits

    @property
    def is_done(self) -> bool:
        return self.status == "done"

    def __bool__(self) -> bool:
        # Any object is true, so `if await ctx.call(...)` would go on after a denial.
        raise OutcomeAsBoolean(
            "The outcome of a tool call is neither true nor false: ask for `outcome.is_done`, or "
            "for `outcome.value`, which is None after a denial."
        )


@dataclass(frozen=True)
class InterruptReply:
    """The answer to an interrupt of the workflow."""

    payload: Any
    is_cancelled: bool  #: expired or cancelled

    def __bool__(self) -> bool:
        # Any object is true, also the answer "no".
        raise OutcomeAsBoolean(
            "The reply to an interrupt is neither true nor false: ask for `reply.payload`, which "
            "is None if `reply.is_cancelled`."
        )

    @property
    def feedback(self) -> str:
        """The question of a reviewer who sent the interrupt back instead of answering it."""
        payload = self.payload if isinstance(self.payload, dict) else {}
        return str(payload.get("feedback") or "") if payload.get("approved") is False else ""


class WorkflowContext:
    """
    The context of one run of a workflow.

    A workflow runs from its beginning each time it resumes. Steps are numbered: a completed step
    returns its stored result without an event or effect, and the interrupted step continues with
    the answers. A workflow must therefore depend only on the results of its steps, and do
    everything else in tools.
    """

    def __init__(self, context: StepContext, emit: EmitEvent, agent: "Workflow") -> None:
        checkpoint = context.ctx.checkpoint or {}
        self._context = context
        self._emit = emit
        self._agent = agent
        self._code = fingerprint(agent.function)
        #: of the workflow when the run paused; None in a first run
        self._paused_code: str | None = checkpoint.get("code")
        #: the version that the first run began with: branch on it to let old runs finish
        self.version: int = checkpoint.get("version", 1) if checkpoint else agent.version
        self._not_started: list[WorkflowStep[Any]] = []
        self._steps: list[dict[str, Any]] = checkpoint.get("steps", [])
        # Of the first run: input that comes with an answer must not change the replay.
        self._start = checkpoint.get("started_with") or {
            "input": _input_of(context.run_input),
            "message": _message_of(context.run_input),
        }
        self._committed_states = (
            event.snapshot
            for event in context.ctx.committed_events
            if isinstance(event, agui.StateSnapshotEvent)
        )
        self._position = 0
        self._is_busy = False
        self.is_abandoned = False  #: nobody reads the events any more
        self.is_paused = False  #: a step has interrupted, even if the function caught that

    def check_end(self) -> None:
        """
        Raise unless the function awaited its steps, and repeated all of those before the pause.

        Raises:
            StepNotAwaited, WorkflowChanged.
        """
        for step in self._not_started:
            raise StepNotAwaited(f"{self._agent.name}: {step.problem}")
        if self._position < len(self._steps):
            missing = self._steps[self._position]["name"]
            raise self._changed(f"it ended before step {self._position + 1}, '{missing}', did")

    @property
    def input(self) -> Any:
        """The input of the first run, None if it was started with a message only."""
        return deepcopy(self._start["input"])

    @property
    def message(self) -> str:
        """The last user message of the first run, "" if it was not text."""
        return str(self._start["message"])

    @property
    def state(self) -> Mapping[str, Any]:
        """A copy of the thread's current state; `update_state` changes it."""
        return self._context.state

    @property
    def checkpoint(self) -> dict[str, Any]:
        """The checkpoint for the run that resumes this one."""
        return {
            "steps": self._steps,
            "started_with": self._start,
            "code": self._code,
            "version": self.version,
        }

    def emit_text(self, text: str) -> WorkflowStep[None]:
        """Send a message to the user."""
        return self._step("ctx.emit_text(...)", lambda: self._emit_text(text))

    async def _emit_text(self, text: str) -> None:
        if self._begin("text"):
            await self._emit_all(self._context.text_message(text))
            self._end(None)

    def progress(
        self, label: str, *, done: int | None = None, total: int | None = None
    ) -> WorkflowStep[None]:
        """Update the progress line of the workflow."""
        return self._step("ctx.progress(...)", lambda: self._progress(label, done, total))

    async def _progress(self, label: str, done: int | None, total: int | None) -> None:
        if self._begin("progress"):
            message_id = f"{self._context.run_input.thread_id}-progress"
            await self._emit(progress_event(message_id, label, done, total))
            self._end(None)

    def update_state(self, **changes: Any) -> WorkflowStep[None]:
        """Change members of the thread's state, which clients share."""
        return self._step("ctx.update_state(...)", lambda: self._update_state(changes))

    async def _update_state(self, changes: Mapping[str, Any]) -> None:
        if self._begin("state"):
            # After a lost worker, the committed snapshot, because the state may have changed since.
            # Else a JSON copy, so that later changes by the author have no effect.
            new_state = next(self._committed_states, None) or {
                **self._context.state,
                **deepcopy(storable(changes)),
            }
            self._context.run_input.state = new_state
            await self._emit(agui.StateSnapshotEvent(snapshot=new_state))
            self._end(None)

    def call(
        self,
        tool: Tool | InterruptTool,
        /,
        *positional: Any,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        **args: Any,
    ) -> WorkflowStep[ToolOutcome]:
        """
        Call a tool, after its approval if it needs one.

        `expires_in`: None for no expiry; the default is the tool's. If the tool has an argument
        with this name, it gets the value: use `call_all` to set its expiry.
        """
        self._check_tool("ctx.call", tool)
        if positional:
            names = ", ".join(f"{name}=..." for name in tool.input_model.model_fields)
            raise TypeError(
                f"{self._agent.name}: ctx.call takes arguments by keyword; write "
                f"ctx.call({tool.name}, {names})."
            )
        if expires_in is not TEAM_DEFAULT and "expires_in" in tool.input_model.model_fields:
            args["expires_in"], expires_in = expires_in, TEAM_DEFAULT
        check_duration(f"{self._agent.name}: ctx.call", "expires_in", expires_in)

        async def call_one() -> ToolOutcome:
            (outcome,) = await self._call_all([(tool, args)], expires_in)
            return outcome

        return self._step(f"ctx.call({tool.name}, ...)", call_one)

    def call_all(
        self,
        *calls: tuple[Tool | InterruptTool, Mapping[str, Any]],
        expires_in: ExpiresIn = TEAM_DEFAULT,
    ) -> WorkflowStep[list[ToolOutcome]]:
        """
        Call tools concurrently; return the outcomes in the order of the calls.

        Those that need approval wait for all answers together; the others are executed at once.
        """
        for tool, _ in calls:
            self._check_tool("ctx.call_all", tool)
        check_duration(f"{self._agent.name}: ctx.call_all", "expires_in", expires_in)
        return self._step("ctx.call_all(...)", lambda: self._call_all(calls, expires_in))

    async def _call_all(
        self,
        calls: Sequence[tuple[Tool | InterruptTool, Mapping[str, Any]]],
        expires_in: ExpiresIn,
    ) -> list[ToolOutcome]:
        # Before the step begins, so that authors may catch InvalidArguments.
        tools = tools_by_name([tool for tool, _ in calls])
        for tool, args in calls:
            tool.check_arguments(args)
        step = f"call {', '.join(tool.name for tool, _ in calls)}"
        if not self._begin(step):
            return [_outcome(content) for content in self._stored_result()["results"]]
        waiting = self._steps[self._position].get("waiting")
        if waiting is None:
            first = len(self._context.proposed)
            for tool, args in calls:
                await self._emit_all(self._context.propose(tool, args, expires_in=expires_in))
            ids = [call.tool_call_id for call in self._context.proposed[first:]]
            results = await self._collect(execute_proposed_calls(self._context))
        else:
            ids, earlier_results = waiting["calls"], waiting["results"]
            results = earlier_results | await self._collect(
                execute_answered_calls(self._context, tools)
            )
        self._pause_if_interrupted({"calls": ids, "results": results})
        contents = [results[name] for name in ids]
        self._end({"results": contents})
        return [_outcome(content) for content in contents]

    def interrupt(
        self,
        message: str = "",
        *,
        reason: str = "input_required",
        response_schema: Any = None,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        metadata: Mapping[str, Any] | None = None,
        present: Present | None = None,
        files: Sequence[AttachedFile] = (),
        feedback: bool = False,
    ) -> WorkflowStep[InterruptReply]:
        """
        Ask a person something that is not about a tool call, and wait for the answer.

        With `feedback` a person approves, rejects, or asks back; `response_schema` may add members
        to the answer.
        """
        check_duration(f"{self._agent.name}: ctx.interrupt", "expires_in", expires_in)
        schema = schema_of(
            f"{self._agent.name}: response_schema= of ctx.interrupt", response_schema
        )
        fields = {
            "expires_in": expires_in,
            "message": message or None,
            "response_schema": with_feedback(schema) if feedback else schema,
            "metadata": with_present(metadata, present),
            "files": files,
        }
        return self._step("ctx.interrupt(...)", lambda: self._interrupt(reason, fields))

    async def _interrupt(self, reason: str, fields: Mapping[str, Any]) -> InterruptReply:
        if not self._begin(f"ask {reason}"):
            return InterruptReply(**self._stored_result())
        if self._steps[self._position].get("waiting") is None:
            self._context.add_interrupt(reason, **fields)
        self._pause_if_interrupted({})
        (answer,) = self._context.answers
        reply = InterruptReply(
            answer.resume_entry.payload, answer.resume_entry.status == "cancelled"
        )
        self._end(asdict(reply))
        return reply

    # -- steps ------------------------------------------------------------------------------------

    def _step(self, code: str, run: Callable[[], Coroutine[Any, Any, T]]) -> WorkflowStep[T]:
        """Return a step for the author to await; it is reported at the end if nobody does."""
        step = WorkflowStep(code, run, self._not_started.remove)
        self._not_started.append(step)
        return step

    def _check_tool(self, code: str, tool: Any) -> None:
        """
        Warn the author about a tool that is missing in `tools=`.

        Raises:
            TypeError: it is not a tool.
        """
        if isinstance(tool, str):
            raise TypeError(
                f"{self._agent.name}: {code} takes the tool itself, not its name {tool[:60]!r}."
            )
        if not isinstance(tool, Tool | InterruptTool):
            name = getattr(tool, "__name__", str(tool)[:60])
            raise TypeError(
                f"{self._agent.name}: {code} takes a tool, and {name} is none; decorate it with "
                '@tool(effect="...").'
            )
        if tool not in self._agent.tools:
            _warn_about_unlisted_tool(self._agent.name, tool.name)

    def _changed(self, difference: str) -> WorkflowChanged:
        has_same_code = self._paused_code == self._code
        return workflow_changed(
            self._agent.name, difference, has_same_code, self.version, self._agent.version
        )

    def _begin(self, name: str) -> bool:
        """
        Begin the next step; return False if it has a stored result.

        Raises:
            WorkflowChanged: another step was at this position before.
            ConcurrentSteps: another step is running.
            WorkflowPaused: the function continued after an interrupt, as in a `finally`.
        """
        if self.is_paused:
            raise WorkflowPaused
        if self._is_busy:
            raise ConcurrentSteps(
                f"{self._agent.name}: the step '{name}' began before "
                f"'{self._steps[self._position]['name']}' ended. Await each step before the next "
                "one and let its error end the run; instead of asyncio.gather or tasks, write "
                "await ctx.call_all((tool, args), ...)."
            )
        if self._position == len(self._steps):
            self._steps.append({"name": name})
        step = self._steps[self._position]
        if step["name"] != name:
            raise self._changed(
                f"step {self._position + 1} was '{step['name']}' and is now '{name}'"
            )
        if "given" in step:
            self._position += 1
            return False
        self._is_busy = True
        return True

    def _stored_result(self) -> Any:
        """Return the stored result of the step that was just skipped."""
        # A copy: changes by the author must not reach the checkpoint.
        return deepcopy(self._steps[self._position - 1]["given"])

    def _end(self, result: Any) -> None:
        self._is_busy = False
        self._steps[self._position] = {"name": self._steps[self._position]["name"], "given": result}
        self._position += 1

    def _pause_if_interrupted(self, waiting: dict[str, Any]) -> None:
        if self._context.interrupts:
            self._steps[self._position]["waiting"] = waiting
            self.is_paused = True
            raise WorkflowPaused

    async def _collect(self, events: AsyncIterator[BaseEvent]) -> dict[str, str]:
        """Emit the events; return the results by tool call id."""
        results = {}
        async for event in events:
            if isinstance(event, agui.ToolCallResultEvent):
                results[event.tool_call_id] = str(event.content)
            await self._emit(event)
        return results

    async def _emit_all(self, events: Sequence[BaseEvent]) -> None:
        for event in events:
            await self._emit(event)


def _input_of(run_input: RunAgentInput) -> Any:
    props = run_input.forwarded_props
    return props.get("input") if isinstance(props, dict) else None


def _message_of(run_input: RunAgentInput) -> str:
    for message in reversed(run_input.messages):
        if isinstance(message, agui.UserMessage):
            return message.content if isinstance(message.content, str) else ""
    return ""


def _outcome(content: str) -> ToolOutcome:
    """Parse the result of a call."""
    try:
        # Without the limits of strict_json: the result was checked before.
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content  # text that a person entered for a call in doubt
    if isinstance(value, dict) and value.get("ok") is False:
        if value.get("denied") is True:
            feedback, suggested = value.get("feedback") or "", value.get("suggested_args")
            return ToolOutcome(None, "denied", value.get("reason") or "", feedback, suggested)
        if value.get("cancelled") is True:
            return ToolOutcome(None, "cancelled")
        if "error" in value:
            return ToolOutcome(None, "failed", str(value["error"]))
    return ToolOutcome(value, "done")


@dataclass(frozen=True)
class Workflow(SdkAgent):
    """An agent that is an async function."""

    function: Callable[[WorkflowContext], Awaitable[None]]
    version: int = 1  #: `ctx.version` of runs that begin now

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Run the function up to its end or its next interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        events: asyncio.Queue[BaseEvent | None] = asyncio.Queue(maxsize=1)
        workflow_context = WorkflowContext(context, events.put, self)
        task = asyncio.ensure_future(_drive(self.function, workflow_context, events))
        try:
            while (event := await events.get()) is not None:
                yield event
            if await task:
                ctx.save_checkpoint(workflow_context.checkpoint)
            yield await context.run_finished()
        finally:
            workflow_context.is_abandoned = True
            # Awaiting a task again would take the author's lines from its error's traceback.
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task


async def _drive(
    function: Callable[[WorkflowContext], Awaitable[None]],
    workflow_context: WorkflowContext,
    events: "asyncio.Queue[BaseEvent | None]",
) -> bool:
    """Run the function; return True if it paused. Put None into `events` at the end."""
    try:
        await function(workflow_context)
    except BaseException:
        # A task group wraps WorkflowPaused in an exception group.
        if not workflow_context.is_paused:
            raise
    else:
        if not workflow_context.is_paused:
            workflow_context.check_end()
    finally:
        if not workflow_context.is_abandoned:
            await events.put(None)
    return workflow_context.is_paused


def workflow(
    function: None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    tools: Sequence[Tool | InterruptTool] = (),
    input_model: type[BaseModel] | None = None,
    version: int = 1,
) -> Callable[[Callable[[WorkflowContext], Awaitable[None]]], Workflow]:
    """
    Make an async function an agent.

    Its name is the function's, with dashes, its description the docstring. `input_model` is the
    model of a run's input, which the inbox shows as a form. Raise `version` when you change the
    steps while runs wait: `ctx.version` is the one that a run began with.

    Raises:
        TypeError, ValueError: the function cannot be a workflow, or not with these options.
    """
    if function is not None:
        raise TypeError(
            f"{getattr(function, '__name__', 'workflow')}: @workflow needs brackets; write "
            "@workflow(tools=[...]), or @workflow() without tools."
        )

    def decorate(function: Callable[[WorkflowContext], Awaitable[None]]) -> Workflow:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(
                f"{function.__name__}: a workflow is an async function; write "
                f"async def {function.__name__}(ctx)."
            )
        try:
            inspect.signature(function).bind(object())
        except TypeError:
            raise TypeError(
                f"{function.__name__}: a workflow is called with its context only; write "
                f"async def {function.__name__}(ctx)."
            ) from None
        check_tools(function.__name__, tools, (Tool, InterruptTool))
        return Workflow(
            name=name or function.__name__.replace("_", "-"),
            description=description or inspect.getdoc(function) or "",
            function=function,
            tools=tools,
            input_schema=input_model.model_json_schema() if input_model else None,
            version=version,
        )

    return decorate


@lru_cache(maxsize=1000)
def _warn_about_unlisted_tool(agent: str, tool: str) -> None:
    """Log once that an agent calls a tool that it does not declare."""
    _log.warning(
        "%s calls the tool %s, which is not in tools=, so the agent's capabilities lack it. Write "
        "@workflow(tools=[..., %s]).",
        agent,
        tool,
        tool,
    )
