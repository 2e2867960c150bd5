"""An engine in memory: what an agent needs around it, and checks of all that it says."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, ResumeEntry, RunAgentInput, UserMessage

from agents.agui import wire
from agents.agui.conversation import Conversation
from agents.agui.sequence import Sequence
from agents.port import Agent, InterruptAnswer, Proposal
from agents.sdk.step import Clock
from agents.testing import memory
from agents.testing.memory import MemoryRun

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


async def no_sleep(_seconds: float) -> None:
    """Wait for nothing."""


def fixed_clock() -> Clock:
    return Clock(now=lambda: NOON, sleep=no_sleep)


class WorkerLost(Exception):
    """The worker dies here."""


@dataclass
class MemoryJournal(memory.MemoryJournal):
    """The journal of authors' tests, in which each call can lose its worker."""

    dies_at_settle: bool = False

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        if self.dies_at_settle:
            raise WorkerLost
        await super().settle(tool_call_id, result=result)


@dataclass
class Stage:
    """One thread with an agent on it."""

    agent: Agent
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    conversation: Conversation = field(default_factory=Conversation)
    events: list[BaseEvent] = field(default_factory=list)  #: of the last run
    run: MemoryRun | None = None
    repeats_calls: bool = False  #: as bridges do; the engine does not forward what comes again
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
            if sequence.is_known_tool_call(event):
                assert self.repeats_calls
                continue
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
            tools=[],
            context=[],
            resume=[answer.resume_entry for answer in self.run.answers] or None,
        )

    def _remember_proposal(self, tool_call_id: str) -> None:
        for message in self.conversation.messages:
            for call in getattr(message, "tool_calls", None) or ():
                if call.id == tool_call_id:
                    args = json.loads(call.function.arguments or "{}")
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
