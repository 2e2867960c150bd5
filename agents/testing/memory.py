"""The ports of agents in memory: a journal and the context of a run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ag_ui.core import BaseEvent

from agents.port import CallPermit, Effect, InterruptAnswer, Journal, Proposal, ToolRefused


class WorkerKilled(BaseException):
    """The worker dies here; a BaseException, so that no agent handles it."""


@dataclass
class MemoryJournal:
    """`agents.port.Journal` for one thread."""

    proposals: dict[str, Proposal] = field(default_factory=dict)
    undecided: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    results: dict[str, str] = field(default_factory=dict)
    begun: list[tuple[str, Effect]] = field(default_factory=list)
    executed: list[tuple[str, Effect]] = field(default_factory=list)  #: begun without a result
    #: the tools in whose next call the worker dies, before the result is stored
    kill_in: set[str] = field(default_factory=set)

    async def begin(
        self, tool_call_id: str, *, args: Mapping[str, Any], effect: Effect
    ) -> CallPermit:
        proposal = self.proposals.get(tool_call_id)
        if proposal is None or tool_call_id in self.undecided | self.denied:
            raise ToolRefused(tool_call_id)
        if dict(args) != dict(proposal.args):
            raise ToolRefused(f"{tool_call_id}: other arguments")
        self.begun.append((tool_call_id, effect))
        if tool_call_id not in self.results:
            self.executed.append((tool_call_id, effect))
        return CallPermit(f"key-{tool_call_id}", self.results.get(tool_call_id))

    async def undo_begin(self, tool_call_id: str) -> None:
        self.begun = [call for call in self.begun if call[0] != tool_call_id]
        self.executed = [call for call in self.executed if call[0] != tool_call_id]

    async def settle(self, tool_call_id: str, *, result: str) -> None:
        name = self.proposals[tool_call_id].name
        if name in self.kill_in:
            self.kill_in.remove(name)
            raise WorkerKilled
        self.results[tool_call_id] = result


@dataclass
class MemoryRun:
    """`agents.port.RunContext` for one run."""

    run_key: str
    journal: Journal
    answers: Sequence[InterruptAnswer] = ()
    checkpoint: Any = None
    saved: Any = None
    memory: Any = None
    saved_memory: Any = None  #: for the next run of the thread
    committed_events: Sequence[BaseEvent] = ()  #: by an attempt before
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
