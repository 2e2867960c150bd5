"""The interface between the engine and agents: `Agent`, `RunContext` and `Journal`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from ag_ui.core import AgentCapabilities, BaseEvent, Interrupt, ResumeEntry, RunAgentInput

#: Of JSON text.
MAX_MEMORY_CHARACTERS = 16 * 1024 * 1024


class Effect(StrEnum):
    """The effect of executing the same tool call a second time."""

    READ = "read"  #: none: it may be executed any number of times
    IDEMPOTENT = "idempotent"  #: none, as long as it gets the same idempotency key
    ONCE = "once"  #: harmful: never executed twice; a person decides when in doubt


@dataclass(frozen=True)
class Proposal:
    """A tool call as the server stored it: the only arguments that may be executed."""

    tool_call_id: str
    name: str
    args: Mapping[str, Any]  #: the approved arguments, with the reviewer's edits
    original_args: Mapping[str, Any] | None = None  #: as the agent proposed them, if edited
    is_approved: bool = False  #: by this answer or an earlier one


@dataclass(frozen=True)
class InterruptAnswer:
    """An interrupt of the interrupted run with the decision in force on it."""

    interrupt: Interrupt
    resume_entry: ResumeEntry
    proposal: Proposal | None  #: the tool call that the interrupt is about


@dataclass(frozen=True)
class CallPermit:
    """The permission to execute a tool call, committed before it is returned."""

    idempotency_key: str  #: the same for every attempt at this tool call
    result: str | None  #: of a settled call: use it, do not execute again


class ToolRefused(Exception):
    """The call may not be executed: not approved, denied, or with other arguments."""


class AgentMistake(Exception):
    """
    A mistake in the agent's code that ends the run; clients and reviewers see the text.

    It says what is wrong and what the author should do, and has no values of the run.
    """

    code: ClassVar[str] = "AGENT_ERROR"


class Journal(Protocol):
    """The record of tool calls that makes each effect happen once."""

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        """
        Commit that the call is about to be executed.

        The tool call must have been proposed before, by its TOOL_CALL_START, ARGS and END events;
        events yielded earlier are committed first. Safe to repeat: a settled call returns its
        result.

        Raises:
            ToolRefused: the call is unknown, was not approved, or `args` are not the approved ones.
        """
        ...

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        """
        Store the result of a call that was begun: the content of its TOOL_CALL_RESULT.

        For a `once` call it is committed when this returns, for others with the next batch:
        executing those again after a crash does no harm.
        """
        ...

    async def undo_begin(self, tool_call_id: str) -> None:
        """
        Undo `begin` for a call that paused for an answer before it had any effect.

        The call begins again with the answer. Committed with the end of the run at the latest.
        """
        ...


class RunContext(Protocol):
    """The input of one run, and the functions that store its durable results."""

    thread_key: str  #: unique; thread ids are unique only within a team
    run_key: str  #: the same for every attempt at this run: derive ids from it
    answers: Sequence[InterruptAnswer]  #: in the order of the interrupts; empty in a first run
    #: yielded for this run before its worker was lost: yield them again, or continue after them
    committed_events: Sequence[BaseEvent]
    checkpoint: Any  #: JSON that the interrupted run saved, None for a first run
    memory: Any  #: JSON that the last run of the thread saved, or None
    journal: Journal

    def emit_out_of_band(self, events: Sequence[BaseEvent]) -> None:
        """
        Emit events of a running tool: one complete message, or an activity.

        Thread-safe. These events have no position among those that the agent yields, and are
        not compared when the agent yields again; a message whose id the thread has is skipped.
        """
        ...

    async def attach_file(self, name: str, content: bytes) -> Mapping[str, Any]:
        """
        Store a file, and return its reference: name its `id` in `metadata.signoff.files`.

        The same file again in a thread returns the first one, so that a restart repeats nothing.

        Raises:
            ValueError: it is empty, too large, or the team has no space left.
        """
        ...

    def report_error(self, error: BaseException) -> None:
        """
        Report what a tool raised, for the author of the agent: the run continues with a result.

        An error that ends the run needs no report.
        """
        ...

    def save_checkpoint(self, value: Any) -> None:
        """Save JSON for the run that resumes this one; stored only if this run is interrupted."""
        ...

    def save_memory(self, value: Any) -> None:
        """
        Save JSON for the next run of the thread, in the transaction of this run's terminal event.

        A run that fails saves nothing: a retry starts with the same memory.

        Raises:
            ValueError: the value is not JSON, or longer than `MAX_MEMORY_CHARACTERS` characters.
        """
        ...


class Agent(Protocol):
    """An agent: it answers a RunAgentInput with AG-UI events."""

    @property
    def name(self) -> str:
        """Lower-case slug, the last part of the agent's URL."""
        ...

    @property
    def description(self) -> str:
        """One sentence for people."""
        ...

    @property
    def restartable(self) -> bool:
        """True if the agent repeats `RunContext.committed_events` when it is driven again."""
        ...

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        """
        JSON Schema of a run's input, which arrives as `forwardedProps.input`.

        None for an agent that takes a message only.
        """
        ...

    def capabilities(self) -> AgentCapabilities:
        """Return the body of `GET /agui/<agent>/capabilities/`."""
        ...

    def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """
        Yield the events after RUN_STARTED, which the engine writes, up to one terminal event.

        `run_input.messages` is the conversation as the server stored it, and `run_input.resume`
        the stored decisions; neither contains unchecked client data. The engine adds the
        snapshots at the boundaries (AG-UI interrupts, "Boundary").

        Never block the event loop: the engine ends a run that blocks it for 20 seconds, and
        discards its later events. Run blocking work in a thread (`asyncio.to_thread`); the SDK
        does so for tools that are not coroutines.
        """
        ...
