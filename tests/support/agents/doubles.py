"""An engine in memory: what an agent needs around it, and checks of all that it says."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, ResumeEntry, RunAgentInput, UserMessage

from agents.agui import wire
from agents.agui.conversation import Conversation
from agents.agui.sequence import Sequence
from agents.port import Agent, CallPermit, Effect, InterruptAnswer, Proposal, ToolRefused
from agents.sdk.step import Clock

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


async def no_sleep(_seconds: float) -> None:
    """Wait for nothing."""


def fixed_clock() -> Clock:
    return Clock(now=lambda: NOON, sleep=no_sleep)


class WorkerLost(Exception):
    """The worker dies here."""


@dataclass
class MemoryJournal:
    """Keeps the promises of `agents.port.Journal` for one thread."""

    proposals: dict[str, Proposal] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    results: dict[str, str] = field(default_factory=dict)
    begun: list[tuple[str, Effect]] = field(default_factory=list)
    dies_at_settle: bool = False

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        proposal = self.proposals.get(tool_call_id)
        if proposal is None or tool_call_id in self.undecided | self.denied:
            raise ToolRefused(tool_call_id)
        if dict(args) != dict(proposal.args):
            raise ToolRefused(f"{tool_call_id}: other arguments")
        self.begun.append((tool_call_id, effect))
        return CallPermit(f"key-{tool_call_id}", self.results.get(tool_call_id))

    async def undo_begin(self, tool_call_id: str) -> None:
        self.begun = [call for call in self.begun if call[0] != tool_call_id]

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        if self.dies_at_settle:
            raise WorkerLost
        self.results[tool_call_id] = result


@dataclass
class MemoryRun:
    """Keeps the promises of `agents.port.RunContext` for one run."""

    run_key: str
    journal: MemoryJournal
    answers: list[InterruptAnswer] = field(default_factory=list)
    checkpoint: Any = None
    saved: Any = None
    memory: Any = None
    saved_memory: Any = None  #: for the next run of the thread
    committed_events: list[BaseEvent] = field(default_factory=list)  #: by an attempt before
    thread_key: str = "thread-key"
    out_of_band: list[BaseEvent] = field(default_factory=list)  #: by tools at work
    attached: list[tuple[str, bytes]] = field(default_factory=list)
    reported: list[BaseException] = field(default_factory=list)

    def emit_out_of_band(self, events: Iterable[BaseEvent]) -> None:
        self.out_of_band += events

    async def attach_file(self, name: str, content: bytes) -> dict[str, Any]:
        self.attached.append((name, content))
        return {"id": f"file-{len(self.attached)}", "name": name}

    def report_error(self, error: BaseException) -> None:
        self.reported.append(error)

    def save_checkpoint(self, value: Any) -> None:
        self.saved = json.loads(json.dumps(value))

    def save_memory(self, value: Any) -> None:
        self.saved_memory = json.loads(json.dumps(value))


@dataclass
class Stage:
    """One thread with an agent on it."""

    agent: Agent
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    conversation: Conversation = field(default_factory=Conversation)
    events: list[BaseEvent] = field(default_factory=list)  #: of the last run
    run: MemoryRun | None = None
    _number: int = 0

    @property
    def interrupts(self) -> list[Interrupt]:
        outcome = self.events[-1].outcome
        return outcome.interrupts if outcome.type == "interrupt" else []

    @property
    def outcome(self) -> str:
        return self.events[-1].outcome.type

    @property
    def text(self) -> str:
        return "".join(e.delta for e in self.of(agui.TextMessageContentEvent))

    @property
    def results(self) -> list[dict[str, Any]]:
        return [json.loads(e.content) for e in self.of(agui.ToolCallResultEvent)]

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def say(self, content: Any) -> list[BaseEvent]:
        """Start a run with a user message and drive it to its end."""
        self._number += 1
        self.conversation.merge_input([UserMessage(id=f"u{self._number}", content=content)])
        self.run = MemoryRun(f"run{self._number}", self.journal)
        return await self.drive()

    async def answer(self, *entries: Any) -> list[BaseEvent]:
        """Resume with one payload per interrupt, in order; a ResumeEntry is taken as it is."""
        answers = [
            self._decide(interrupt, _entry(interrupt, entry))
            for interrupt, entry in zip(self.interrupts, entries, strict=True)
        ]
        self._number += 1
        self.run = MemoryRun(f"run{self._number}", self.journal, answers, self.run.saved)
        return await self.drive()

    async def drive(self) -> list[BaseEvent]:
        """Drive the run from its start, once more if need be."""
        self.events = []
        sequence = Sequence(self.conversation.tool_call_ids)
        run_input = self._input()
        sequence.check(wire.run_started(run_input.thread_id, run_input.run_id))
        async for event in self._checked(self.agent.run(run_input, self.run), sequence):
            self.events.append(event)
            self.conversation.apply(event)
            if isinstance(event, agui.ToolCallEndEvent):
                self._remember_proposal(event.tool_call_id)
        self._close(sequence)
        return self.events

    async def _checked(
        self, events: AsyncIterator[BaseEvent], sequence: Sequence
    ) -> AsyncIterator[BaseEvent]:
        async for event in events:
            assert wire.decode(wire.encode(event)) == event
            assert not sequence.is_known_tool_call(event)
            sequence.check(event)
            yield event

    def _close(self, sequence: Sequence) -> None:
        """A run that ended takes no more events, so it must refuse one."""
        assert isinstance(self.events[-1], agui.RunFinishedEvent | agui.RunErrorEvent)
        assert sequence.closing_events() == []
        if isinstance(self.events[-1], agui.RunFinishedEvent):
            self.journal.undecided |= {interrupt.tool_call_id for interrupt in self.interrupts}

    def _input(self) -> RunAgentInput:
        return RunAgentInput(
            thread_id="thread",
            run_id=f"wire-{self.run.run_key}",
            messages=self.conversation.messages,
            resume=[answer.resume_entry for answer in self.run.answers] or None,
        )

    def _remember_proposal(self, tool_call_id: str) -> None:
        for message in self.conversation.messages:
            for call in getattr(message, "tool_calls", None) or ():
                if call.id == tool_call_id:
                    args = json.loads(call.function.arguments)
                    self.journal.proposals[call.id] = Proposal(call.id, call.function.name, args)

    def _decide(self, interrupt: Interrupt, entry: ResumeEntry) -> InterruptAnswer:
        call_id = interrupt.tool_call_id
        payload = entry.payload if isinstance(entry.payload, dict) else {}
        is_approval = interrupt.reason == "tool_call"
        if call_id in self.journal.proposals and is_approval and payload.get("approved") is True:
            proposal = replace(self.journal.proposals[call_id], is_approved=True)
            if "editedArgs" in payload:
                edited = payload["editedArgs"]
                proposal = replace(proposal, args=edited, original_args=proposal.args)
            self.journal.proposals[call_id] = proposal
        self.journal.undecided.discard(call_id)
        if entry.status == "cancelled" or (is_approval and payload.get("approved") is not True):
            self.journal.denied.add(call_id)
        return InterruptAnswer(interrupt, entry, self.journal.proposals.get(call_id))


def cancelled(interrupt: Interrupt) -> ResumeEntry:
    return ResumeEntry(interrupt_id=interrupt.id, status="cancelled")


def of_type(events: Iterable[BaseEvent], name: str) -> list[BaseEvent]:
    return [event for event in events if event.type.value == name]


def _entry(interrupt: Interrupt, entry: Any) -> ResumeEntry:
    if isinstance(entry, ResumeEntry):
        return entry
    return ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=entry)
