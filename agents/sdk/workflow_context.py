"""What a workflow does: it says, calls, asks; what was done before a pause is not done again."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput
from pydantic_core import to_jsonable_python

from agents.sdk.events import progress_event
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn
from agents.sdk.step import StepContext
from agents.sdk.tool_execution import execute_answered_calls, execute_proposed_calls
from agents.sdk.tools import InterruptTool, Tool, tools_by_name

EmitEvent = Callable[[BaseEvent], Awaitable[None]]


class WorkflowPaused(BaseException):
    """The workflow waits for people; not an Exception, so that no author catches it by mistake."""


class WorkflowChanged(RuntimeError):
    """After a pause the workflow took another way than before it: it cannot go on from there."""


class ConcurrentSteps(RuntimeError):
    """The workflow began a step while another one was going on."""


@dataclass(frozen=True)
class ToolOutcome:
    """What came of a tool call."""

    value: Any  #: what the tool returned, None unless it did
    status: str  #: "done", "denied", "cancelled", "failed"
    reason: str = ""  #: why it was denied, or what it failed with

    @property
    def is_done(self) -> bool:
        return self.status == "done"


@dataclass(frozen=True)
class InterruptReply:
    """What a person answered to a question of the workflow."""

    payload: Any
    is_cancelled: bool  #: nobody answered, or somebody called it off


class WorkflowContext:
    """
    The context of one run of a workflow.

    A workflow is driven from its beginning each time it goes on. Every step here has a number: what
    a step gave before the pause is given again at once, without an event and without an effect, and
    the step that waited goes on with the answers. So a workflow takes the same way again as long as
    it decides by what its steps gave it, and does everything else in tools.
    """

    def __init__(self, context: StepContext, say: EmitEvent) -> None:
        checkpoint = context.ctx.checkpoint or {}
        self._context = context
        self._say = say
        self._steps: list[dict[str, Any]] = checkpoint.get("steps", [])
        # Of the run that was started: what comes along with an answer must not change the way back.
        self._started_with = checkpoint.get("started_with") or {
            "input": _input_of(context.run_input),
            "message": _message_of(context.run_input),
        }
        self._said_states = (
            event.snapshot
            for event in context.ctx.committed_events
            if isinstance(event, agui.StateSnapshotEvent)
        )
        self._position = 0
        self._is_busy = False
        self._is_paused = False

    @property
    def is_paused(self) -> bool:
        """Whether a step waits for people, whatever the function made of it."""
        return self._is_paused

    def check_end(self) -> None:
        """
        Raise unless the function did all that it did before a pause.

        Raises:
            WorkflowChanged.
        """
        if self._position < len(self._steps):
            missing = self._steps[self._position]["name"]
            raise WorkflowChanged(f"it ended before step {self._position + 1}, '{missing}', did")

    @property
    def input(self) -> Any:
        """What the run was started with: the form of `input_schema`, None for a message only."""
        return deepcopy(self._started_with["input"])

    @property
    def message(self) -> str:
        """What the user said last when the run was started, "" if that was no text."""
        return str(self._started_with["message"])

    @property
    def state(self) -> Mapping[str, Any]:
        """A copy of the thread's state as it is now; `update_state` changes it."""
        return self._context.state

    @property
    def checkpoint(self) -> dict[str, Any]:
        """What the run that goes on after a pause has to know."""
        return {"steps": self._steps, "started_with": self._started_with}

    async def emit_text(self, text: str) -> None:
        """Say something to the user."""
        if self._begin("text"):
            await self._say_all(self._context.text_message(text))
            self._end(None)

    async def progress(
        self, label: str, *, done: int | None = None, total: int | None = None
    ) -> None:
        """Tell how far the work is, in the one place that is kept up to date for it."""
        if self._begin("progress"):
            message_id = f"{self._context.run_input.thread_id}-progress"
            await self._say(progress_event(message_id, label, done, total))
            self._end(None)

    async def update_state(self, **changes: Any) -> None:
        """Change members of the thread's state, which clients share."""
        if self._begin("state"):
            # As it was said before, if a worker was lost meanwhile: it may have changed since.
            # Else as JSON, and apart from what the author does to it later.
            after = next(self._said_states, None) or {
                **self._context.state,
                **to_jsonable_python(changes),
            }
            self._context.run_input.state = after
            await self._say(agui.StateSnapshotEvent(snapshot=after))
            self._end(None)

    async def call(
        self, tool: Tool | InterruptTool, /, *, expires_in: ExpiresIn = TEAM_DEFAULT, **args: Any
    ) -> ToolOutcome:
        """
        Call a tool; a person is asked first if the tool wants that.

        `expires_in` is how long they have: None for no expiry, the tool's own where it is left out.
        A tool that has an argument of this name gets it: use `call_all` for its expiry.
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
        Call tools concurrently; return the outcomes in the order given.

        Those that need a person wait for all answers together; the others are made meanwhile.
        """
        # Before anything is said: what does not fit is no step, and may be caught.
        tools = tools_by_name([tool for tool, _ in calls])
        for tool, args in calls:
            tool.check_arguments(args)
        step = f"call {', '.join(tool.name for tool, _ in calls)}"
        if not self._begin(step):
            return [_outcome(content) for content in self._given()["results"]]
        waiting = self._steps[self._position].get("waiting")
        if waiting is None:
            first = len(self._context.proposed)
            for tool, args in calls:
                await self._say_all(self._context.propose(tool, args, expires_in=expires_in))
            ids = [one.tool_call_id for one in self._context.proposed[first:]]
            results = await self._collect(execute_proposed_calls(self._context))
        else:
            ids, known = waiting["calls"], waiting["results"]
            results = known | await self._collect(execute_answered_calls(self._context, tools))
        self._pause_if_asked({"calls": ids, "results": results})
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
    ) -> InterruptReply:
        """
        Ask a person something that is about no tool call, and wait for the answer.

        `expires_in` is how long they have: None for no expiry, the team's default if left out.
        """
        if not self._begin(f"ask {reason}"):
            return InterruptReply(**self._given())
        if self._steps[self._position].get("waiting") is None:
            fields: dict[str, Any] = {
                "message": message or None,
                "response_schema": response_schema,
                "metadata": dict(metadata) if metadata is not None else None,
            }
            self._context.add_interrupt(
                reason,
                expires_in=expires_in,
                **{name: value for name, value in fields.items() if value is not None},
            )
        self._pause_if_asked({})
        (answer,) = self._context.answers
        reply = InterruptReply(
            answer.resume_entry.payload, answer.resume_entry.status == "cancelled"
        )
        self._end(asdict(reply))
        return reply

    # -- steps ------------------------------------------------------------------------------------

    def _begin(self, name: str) -> bool:
        """
        Take the next step; False if it was done before a pause, so that what it gave is known.

        Raises:
            WorkflowChanged: another step was taken here before.
            OneStepAtATime: steps have an order, by which they are known after a pause.
            Paused: the function goes on although it waits, as in a `finally`.
        """
        if self._is_paused:
            raise WorkflowPaused
        if self._is_busy:
            raise ConcurrentSteps(
                f"'{name}' began before '{self._steps[self._position]['name']}' had ended well: "
                "await each step, let its error end the run, and make calls at once with call_all"
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

    def _given(self) -> Any:
        """What the step that was just passed over gave."""
        # A copy: what the author does to it must not change what the next pause keeps.
        return deepcopy(self._steps[self._position - 1]["given"])

    def _end(self, given: Any) -> None:
        self._is_busy = False
        self._steps[self._position] = {"name": self._steps[self._position]["name"], "given": given}
        self._position += 1

    def _pause_if_asked(self, waiting: dict[str, Any]) -> None:
        if self._context.interrupts:
            self._steps[self._position]["waiting"] = waiting
            self._is_paused = True
            raise WorkflowPaused

    async def _collect(self, events: AsyncIterator[BaseEvent]) -> dict[str, str]:
        """Say what happens, and keep the results by tool call."""
        results = {}
        async for event in events:
            if isinstance(event, agui.ToolCallResultEvent):
                results[event.tool_call_id] = str(event.content)
            await self._say(event)
        return results

    async def _say_all(self, events: Sequence[BaseEvent]) -> None:
        for event in events:
            await self._say(event)


def _input_of(run_input: RunAgentInput) -> Any:
    props = run_input.forwarded_props
    return props.get("input") if isinstance(props, dict) else None


def _message_of(run_input: RunAgentInput) -> str:
    for one in reversed(run_input.messages):
        if isinstance(one, agui.UserMessage):
            return one.content if isinstance(one.content, str) else ""
    return ""


def _outcome(content: str) -> ToolOutcome:
    """Read the result of a call as the author wants it: what was not done says so in its fields."""
    try:
        # No bounds: a result is ours, however large its numbers and lists are.
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content  # what a person wrote down of a call that nobody knew the outcome of
    if isinstance(value, dict) and value.get("ok") is False:
        if value.get("denied") is True:
            return ToolOutcome(None, "denied", value.get("reason") or "")
        if value.get("cancelled") is True:
            return ToolOutcome(None, "cancelled")
        if "error" in value:
            return ToolOutcome(None, "failed", str(value["error"]))
    return ToolOutcome(value, "done")
