"""What Signoff asks of an agent, and what the engine lends it while it runs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from ag_ui.core import AgentCapabilities, BaseEvent, Interrupt, ResumeEntry, RunAgentInput

#: Characters of JSON.
MAX_MEMORY_CHARACTERS = 16 * 1024 * 1024


class Effect(StrEnum):
    """What a second call of the same tool call would do to the world."""

    READ = "read"  #: nothing: it may be called as often as anyone likes
    IDEMPOTENT = "idempotent"  #: nothing more, as long as it gets the same idempotency key
    ONCE = "once"  #: harm: it is never called twice, and a doubt is put to a person


@dataclass(frozen=True)
class Proposal:
    """A tool call as the server stored it, the only source of arguments that may be executed."""

    tool_call_id: str
    name: str
    args: Mapping[str, Any]  #: what was approved: the edited arguments where there are some
    original_args: Mapping[str, Any] | None = None  #: what the agent proposed, if that was edited
    is_approved: bool = False  #: a person approved the call, by this answer or an earlier one


@dataclass(frozen=True)
class InterruptAnswer:
    """One interrupt of the interrupted run, and the standing decision on it."""

    interrupt: Interrupt
    resume_entry: ResumeEntry
    proposal: Proposal | None  #: the tool call the interrupt asked about


@dataclass(frozen=True)
class CallPermit:
    """The leave to call a tool, committed before it is given."""

    idempotency_key: str  #: the same for every attempt at this tool call
    result: str | None  #: set when the call was settled before: use this, do not call again


class ToolRefused(Exception):
    """The executor may not make this call: not approved, denied, or with other arguments."""


class Journal(Protocol):
    """The record of tool calls that makes an effect happen once."""

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        """
        Commit that the call is about to be made.

        The tool call must have been proposed before, by its TOOL_CALL_START, ARGS and END events;
        events yielded earlier are committed first. Safe to repeat: a settled call returns its
        result.

        Raises:
            ToolRefused: the call is unknown, was not approved, or `args` are not what was approved.
        """
        ...

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        """
        Keep the result of a call that was begun: the content of its TOOL_CALL_RESULT.

        For a `once` call it is committed when this returns, for others with what comes next:
        calling those again after a crash does no harm.
        """
        ...

    async def undo_begin(self, tool_call_id: str) -> None:
        """
        Take back that a call was begun: it paused to ask a person, before it had done anything.

        It begins again with the answer. The end of the run commits it at the latest.
        """
        ...


class RunContext(Protocol):
    """What one run may use. Everything durable goes through here."""

    thread_key: str  #: no other thread has it, while two teams may choose the same thread id
    run_key: str  #: the same for every attempt to drive this run: derive ids from it
    answers: Sequence[InterruptAnswer]  #: in the order asked; empty unless this run resumes another
    #: what was yielded for this run before its worker was lost: yield it again, or go on from there
    committed_events: Sequence[BaseEvent]
    checkpoint: Any  #: JSON that the interrupted run left behind, None for a first run
    memory: Any  #: JSON that the last run of the thread kept for whichever comes next, or None
    journal: Journal

    def emit_out_of_band(self, events: Sequence[BaseEvent]) -> None:
        """
        Say on the side what a tool at work has to tell: one whole message, or an activity.

        From any thread. It has no place among the events that the agent yields, and is neither
        expected nor compared when those are yielded again; a message is left out if the thread
        has one with its id.
        """
        ...

    def save_checkpoint(self, value: Any) -> None:
        """Keep JSON for the run that resumes this one; stored only if this run is interrupted."""
        ...

    def save_memory(self, value: Any) -> None:
        """
        Keep JSON for the next run of the thread, in the transaction of this run's terminal event.

        A run that fails keeps nothing: who tries it again finds what it found.

        Raises:
            ValueError: the value is no JSON, or longer than `LONGEST_MEMORY` characters.
        """
        ...


class Agent(Protocol):
    """Something that answers a RunAgentInput with AG-UI events."""

    @property
    def name(self) -> str:
        """Lower-case slug, the last part of the agent's address."""
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
        JSON Schema of what a run is started with, which comes as `forwardedProps.input`.

        None for an agent that is started with a message only.
        """
        ...

    def capabilities(self) -> AgentCapabilities:
        """What the agent can do, for `GET /agui/<agent>/capabilities/`."""
        ...

    def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """
        Yield what happens after RUN_STARTED, which the engine writes, up to one terminal event.

        `run_input.messages` is the whole conversation as the server knows it, and
        `run_input.resume` the decisions it stored; nothing of either comes unchecked from a
        client. Snapshots at the boundaries (AG-UI interrupts, "Boundary") are added by the engine.

        Never block the event loop: between the agent's turns the engine renews its lease on the
        run, which lasts 20 seconds. Who blocks for longer loses the run while alive: another worker
        drives it again, and nothing that is yielded afterwards is kept. Blocking work belongs in a
        thread (`asyncio.to_thread`), where the SDK puts tools that are no coroutines.
        """
        ...
