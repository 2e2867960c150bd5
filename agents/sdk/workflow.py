"""Agents written as one async function: its steps run once, and are replayed after an interrupt."""

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from agents.port import RunContext
from agents.sdk.agent import SdkAgent
from agents.sdk.context import AttachedFile, progress_event
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn
from agents.sdk.present import Present, with_present
from agents.sdk.schemas import with_feedback
from agents.sdk.step import StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, Tool, tools_by_name

EmitEvent = Callable[[BaseEvent], Awaitable[None]]


class WorkflowPaused(BaseException):
    """The workflow is paused; a BaseException, so that authors do not catch it by mistake."""


class WorkflowChanged(RuntimeError):
    """After a pause the workflow took other steps than before it, so it cannot continue."""


class ConcurrentSteps(RuntimeError):
    """The workflow began a step while another one was running."""


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


@dataclass(frozen=True)
class InterruptReply:
    """The answer to an interrupt of the workflow."""

    payload: Any
    is_cancelled: bool  #: expired or cancelled

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

    def __init__(self, context: StepContext, emit: EmitEvent) -> None:
        checkpoint = context.ctx.checkpoint or {}
        self._context = context
        self._emit = emit
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
        self.is_paused = False  #: a step has interrupted, even if the function caught that

    def check_end(self) -> None:
        """
        Raise unless the function repeated all steps of before the pause.

        Raises:
            WorkflowChanged.
        """
        if self._position < len(self._steps):
            missing = self._steps[self._position]["name"]
            raise WorkflowChanged(f"it ended before step {self._position + 1}, '{missing}', did")

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
        return {"steps": self._steps, "started_with": self._start}

    async def emit_text(self, text: str) -> None:
        """Send a message to the user."""
        if self._begin("text"):
            await self._emit_all(self._context.text_message(text))
            self._end(None)

    async def progress(
        self, label: str, *, done: int | None = None, total: int | None = None
    ) -> None:
        """Update the progress line of the workflow."""
        if self._begin("progress"):
            message_id = f"{self._context.run_input.thread_id}-progress"
            await self._emit(progress_event(message_id, label, done, total))
            self._end(None)

    async def update_state(self, **changes: Any) -> None:
        """Change members of the thread's state, which clients share."""
        if self._begin("state"):
            # After a lost worker, the committed snapshot, because the state may have changed since.
            # Else a JSON copy, so that later changes by the author have no effect.
            new_state = next(self._committed_states, None) or {
                **self._context.state,
                **to_jsonable_python(changes),
            }
            self._context.run_input.state = new_state
            await self._emit(agui.StateSnapshotEvent(snapshot=new_state))
            self._end(None)

    async def call(
        self, tool: Tool | InterruptTool, /, *, expires_in: ExpiresIn = TEAM_DEFAULT, **args: Any
    ) -> ToolOutcome:
        """
        Call a tool, after its approval if it needs one.

        `expires_in`: None for no expiry; the default is the tool's. If the tool has an argument
        with this name, it gets the value: use `call_all` to set its expiry.
        """
        if expires_in is not TEAM_DEFAULT and "expires_in" in tool.input_model.model_fields:
            args["expires_in"], expires_in = expires_in, TEAM_DEFAULT
        (outcome,) = await self.call_all((tool, args), expires_in=expires_in)
        return outcome

    async def call_all(
        self,
        *calls: tuple[Tool | InterruptTool, Mapping[str, Any]],
        expires_in: ExpiresIn = TEAM_DEFAULT,
    ) -> list[ToolOutcome]:
        """
        Call tools concurrently; return the outcomes in the order of the calls.

        Those that need approval wait for all answers together; the others are executed at once.
        """
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

    async def interrupt(
        self,
        message: str = "",
        *,
        reason: str = "input_required",
        response_schema: Mapping[str, Any] | None = None,
        expires_in: ExpiresIn = TEAM_DEFAULT,
        metadata: Mapping[str, Any] | None = None,
        present: Present | None = None,
        files: Sequence[AttachedFile] = (),
        feedback: bool = False,
    ) -> InterruptReply:
        """
        Ask a person something that is not about a tool call, and wait for the answer.

        `expires_in`: None for no expiry; the default is the team's. The answer is bound to the
        bytes of `files`, which reviewers see with the request. With `feedback` a person approves,
        rejects, or asks back; `response_schema` may add members to the answer.
        """
        if feedback:
            response_schema = with_feedback(response_schema)
        if not self._begin(f"ask {reason}"):
            return InterruptReply(**self._stored_result())
        if self._steps[self._position].get("waiting") is None:
            self._context.add_interrupt(
                reason,
                expires_in=expires_in,
                message=message or None,
                response_schema=response_schema,
                metadata=with_present(metadata, present),
                files=files,
            )
        self._pause_if_interrupted({})
        (answer,) = self._context.answers
        reply = InterruptReply(
            answer.resume_entry.payload, answer.resume_entry.status == "cancelled"
        )
        self._end(asdict(reply))
        return reply

    # -- steps ------------------------------------------------------------------------------------

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
                f"'{name}' began before '{self._steps[self._position]['name']}' ended: "
                "await each step, let its error end the run, and use call_all for concurrent calls"
            )
        if self._position == len(self._steps):
            self._steps.append({"name": name})
        step = self._steps[self._position]
        if step["name"] != name:
            raise WorkflowChanged(f"step {self._position + 1} was '{step['name']}', now '{name}'")
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

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """Run the function up to its end or its next interrupt."""
        context = StepContext(run_input, ctx, self.clock)
        events: asyncio.Queue[BaseEvent | None] = asyncio.Queue(maxsize=1)
        workflow_context = WorkflowContext(context, events.put)
        task = asyncio.ensure_future(_drive(self.function, workflow_context, events))
        try:
            while (event := await events.get()) is not None:
                yield event
            if await task:
                ctx.save_checkpoint(workflow_context.checkpoint)
            yield await context.run_finished()
        finally:
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
        await events.put(None)
    return workflow_context.is_paused


def workflow(
    *,
    name: str = "",
    description: str = "",
    tools: Sequence[Tool | InterruptTool] = (),
    input_model: type[BaseModel] | None = None,
) -> Callable[[Callable[[WorkflowContext], Awaitable[None]]], Workflow]:
    """
    Make an async function an agent.

    Its name is the function's, with dashes, its description the docstring. `input_model` is the
    model of a run's input, which the inbox shows as a form.
    """

    def decorate(function: Callable[[WorkflowContext], Awaitable[None]]) -> Workflow:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__name__}: a workflow is an async function.")
        tools_by_name(tools)
        return Workflow(
            name=name or function.__name__.replace("_", "-"),
            description=description or inspect.getdoc(function) or "",
            function=function,
            tools=tools,
            input_schema=input_model.model_json_schema() if input_model else None,
        )

    return decorate
