"""Run an agent in a test: read its requests, answer them, and look at the calls of its tools."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

import ag_ui.core as agui
from ag_ui.core import BaseEvent, Interrupt, ResumeEntry, RunAgentInput, UserMessage

from agents.agui import wire
from agents.agui.conversation import Conversation
from agents.agui.replay import ReplayCursor
from agents.agui.sequence import Sequence as EventSequence
from agents.json_schema import schema_violations
from agents.port import Agent, Effect, InterruptAnswer, Proposal
from agents.testing.memory import MemoryJournal, MemoryRun, WorkerKilled

#: As the engine limits the attempts at a run.
_MAX_ATTEMPTS = 3
#: The reason of a request about a `once` call whose worker died.
OUTCOME_UNKNOWN = "signoff:outcome_unknown"


@dataclass(frozen=True)
class Request:
    """A request as a reviewer would see it."""

    message: str
    reason: str
    tool: str  #: "" if the request is not about a tool call
    args: Mapping[str, Any]  #: of the tool call
    schema: Mapping[str, Any] | None  #: of the answer
    interrupt: Interrupt

    @property
    def is_approval(self) -> bool:
        return self.reason == "tool_call"


#: Makes the answer to a request.
Answer = Callable[[Request], ResumeEntry]


def approve(**edits: Any) -> Answer:
    """Approve a call; keywords replace its arguments."""

    def entry(request: Request) -> ResumeEntry:
        payload: dict[str, Any] = {"approved": True}
        if edits:
            payload["editedArgs"] = {**request.args, **edits}
        return _resolved(request, payload)

    return entry


def deny(reason: str = "", *, feedback: str = "") -> Answer:
    """Reject a call, or ask back with `feedback`."""
    members = {"reason": reason, "feedback": feedback}
    payload = {name: text for name, text in members.items() if text}
    return lambda request: _resolved(request, {"approved": False, **payload})


def answer(value: Any) -> Answer:
    """Answer a question with a JSON value."""
    return lambda request: _resolved(request, value)


def expire() -> Answer:
    """Let a request expire: the agent is told that nobody answered."""
    return lambda request: ResumeEntry(interrupt_id=request.interrupt.id, status="cancelled")


def happened(result: Any) -> Answer:
    """Say that the `once` call whose worker died took effect, with this result."""
    return lambda request: _resolved(
        request, {"outcome": "happened", "result": json.dumps(result)}, is_checked=False
    )


def did_not_happen() -> Answer:
    """Say that the `once` call whose worker died had no effect: it is made now."""
    return lambda request: _resolved(request, {"outcome": "did_not_happen"}, is_checked=False)


def run_agent(
    agent: Agent,
    message: str = "go",
    *,
    answers: Sequence[Answer] = (),
    input: Any = None,  # noqa: A002 - the word for authors: `ctx.input`
    kill_in: str = "",
) -> "AgentRun":
    """
    Run an agent up to its end or its first unanswered request.

    `answers` are given to its requests in their order. With `kill_in`, the worker dies in the first
    call of this tool: the function has returned, and its result is lost.

    An exception of the agent is raised, as is an event that AG-UI does not allow. Call it from a
    function that is not async.
    """
    run = AgentRun(agent)
    if kill_in:
        run.kill_in(kill_in)
    run.say(message, input=input)
    for each in answers:
        run.answer(each)
    return run


@dataclass
class AgentRun:
    """A thread with an agent, in memory."""

    agent: Agent
    status: str = ""  #: "succeeded", "interrupted", "cancelled" or "failed"
    error: str = ""  #: of a failed run
    requests: list[Request] = field(default_factory=list)  #: that are open
    _journal: MemoryJournal = field(default_factory=MemoryJournal)
    _conversation: Conversation = field(default_factory=Conversation)
    _input: Any = None
    _run: MemoryRun | None = None
    _checkpoint: Any = None
    _memory: Any = None
    _events: list[BaseEvent] = field(default_factory=list)  #: of the current run
    _answers: dict[str, ResumeEntry] = field(default_factory=dict)
    _doubt: str = ""  #: the `once` call whose outcome is unknown
    _runs: int = 0

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """The executions of tools in their order, each as (name, arguments)."""
        proposals = self._journal.proposals
        return [
            (proposals[call_id].name, dict(proposals[call_id].args))
            for call_id, _ in self._journal.executed
        ]

    @property
    def results(self) -> list[Any]:
        """The results of tool calls, in the order of the conversation."""
        return [
            json.loads(str(message.content))
            for message in self._conversation.messages
            if isinstance(message, agui.ToolMessage)
        ]

    @property
    def texts(self) -> list[str]:
        """The messages of the agent."""
        return [
            message.content
            for message in self._conversation.messages
            if isinstance(message, agui.AssistantMessage) and isinstance(message.content, str)
        ]

    @property
    def text(self) -> str:
        """The last message of the agent, "" if there is none."""
        return self.texts[-1] if self.texts else ""

    @property
    def state(self) -> Any:
        """The state that clients share."""
        return self._conversation.state

    def say(self, message: str, *, input: Any = None) -> None:  # noqa: A002
        """Start a run with a message of the user."""
        if self.requests:
            raise AssertionError(f"The thread waits for an answer to: {self.requests[0].message}")
        self._runs += 1
        self._conversation.merge_input([UserMessage(id=f"user-{self._runs}", content=message)])
        self._input = input
        self._run = MemoryRun(f"run{self._runs}", self._journal, memory=self._memory)
        self._drive()

    def kill_in(self, tool: str) -> None:
        """Let the worker die in the next call of this tool, before its result is stored."""
        self._journal.kill_in.add(tool)

    def approve(self, **edits: Any) -> None:
        """Approve the first open request; keywords replace arguments."""
        self.answer(approve(**edits))

    def deny(self, reason: str = "") -> None:
        """Reject the first open request."""
        self.answer(deny(reason))

    def answer(self, value: Any) -> None:
        """
        Answer the first open request: with a value, or with `approve()`, `deny()`, `expire()`.

        The run resumes with the last answer.
        """
        if not self.requests:
            raise AssertionError(f"No request is open; the run has {self.status}.")
        request, *self.requests = self.requests
        make = value if callable(value) else answer(value)
        entry = make(request)
        self._answers[request.interrupt.id] = entry
        if self._doubt:
            self._settle_doubt(entry.payload)
        elif not self.requests:
            self._resume()

    def _resume(self) -> None:
        assert self._run is not None  # noqa: S101 - a request was open
        outcome = _interrupts(self._events)
        answers = [self._decide(each, self._answers[each.id]) for each in outcome]
        self._runs += 1
        checkpoint, memory = self._run.saved, self._memory
        self._run = MemoryRun(f"run{self._runs}", self._journal, answers, checkpoint, memory=memory)
        self._drive()

    def _decide(self, interrupt: Interrupt, entry: ResumeEntry) -> InterruptAnswer:
        call_id = interrupt.tool_call_id or ""
        payload = entry.payload if isinstance(entry.payload, dict) else {}
        is_approval = interrupt.reason == "tool_call"
        is_approved = payload.get("approved") is True
        proposals = self._journal.proposals
        if call_id in proposals and is_approval and is_approved:
            proposal = replace(proposals[call_id], is_approved=True)
            if "editedArgs" in payload:
                proposal = replace(
                    proposal, args=payload["editedArgs"], original_args=proposal.args
                )
            proposals[call_id] = proposal
        self._journal.undecided.discard(call_id)
        if entry.status == "cancelled" or (is_approval and not is_approved):
            self._journal.denied.add(call_id)
        return InterruptAnswer(interrupt, entry, proposals.get(call_id))

    def _drive(self) -> None:
        """Drive the run to its end, again after each death of its worker."""
        self._answers.clear()
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                asyncio.run(self._attempt())
            except WorkerKilled:
                if self._is_in_doubt():
                    return
                if not self.agent.restartable or attempt == _MAX_ATTEMPTS:
                    self.status, self.error = "failed", "WORKER_LOST"
                    return
                self._run = self._run and replace(self._run, committed_events=list(self._events))
            else:
                return

    async def _attempt(self) -> None:
        run = self._run
        assert run is not None  # noqa: S101 - set by the callers
        run_input = RunAgentInput(
            thread_id="thread",
            run_id=f"wire-{run.run_key}",
            messages=self._conversation.messages,
            state=self._conversation.state,
            forwarded_props=None if self._input is None else {"input": self._input},
            resume=[each.resume_entry for each in run.answers] or None,
        )
        cursor = ReplayCursor(run.committed_events)
        sequence = EventSequence(self._conversation.tool_call_ids - _calls_of(run.committed_events))
        sequence.check(wire.run_started(run_input.thread_id, run_input.run_id))
        if not run.committed_events:
            self._events = []
        generator = cast("AsyncGenerator[BaseEvent, None]", self.agent.run(run_input, run))
        async with aclosing(generator) as events:
            async for event in events:
                sequence.check(event)
                self._take_messages_of_tools(run)
                if (new_event := cursor.feed(event)) is not None:
                    self._take(new_event)
        self._conclude(self._events[-1] if self._events else None)

    def _take_messages_of_tools(self, run: MemoryRun) -> None:
        """Add what running tools have sent; a repeated call sends its messages again."""
        events, run.out_of_band = run.out_of_band, []
        known_ids = {message.id for message in self._conversation.messages}
        for event in events:
            if getattr(event, "message_id", "") not in known_ids:
                self._conversation.apply(event)

    def _take(self, event: BaseEvent) -> None:
        wire.encode(event)
        self._events.append(event)
        self._conversation.apply(event)
        if isinstance(event, agui.ToolCallEndEvent):
            self._note_proposal(event.tool_call_id)

    def _note_proposal(self, call_id: str) -> None:
        for message in self._conversation.messages:
            for call in getattr(message, "tool_calls", None) or ():
                if call.id == call_id:
                    args = json.loads(call.function.arguments or "{}")
                    self._journal.proposals[call_id] = Proposal(call_id, call.function.name, args)

    def _conclude(self, last: BaseEvent | None) -> None:
        if isinstance(last, agui.RunErrorEvent):
            self.status, self.error = "failed", last.message
            return
        if not isinstance(last, agui.RunFinishedEvent):
            message = "The agent stopped without RUN_FINISHED or RUN_ERROR."
            raise AssertionError(message)  # noqa: TRY004 - of the agent under test
        kind = last.outcome.type if last.outcome else "success"
        self.status = {"interrupt": "interrupted", "success": "succeeded"}.get(kind, "cancelled")
        if self._run is not None and self._run.saved_memory is not None:
            self._memory = self._run.saved_memory
        interrupts = _interrupts(self._events)
        self.requests = [self._request(each) for each in interrupts]
        self._journal.undecided |= {each.tool_call_id or "" for each in interrupts}

    def _request(self, interrupt: Interrupt) -> Request:
        proposal = self._journal.proposals.get(interrupt.tool_call_id or "")
        return Request(
            message=interrupt.message or "",
            reason=interrupt.reason,
            tool=proposal.name if proposal else "",
            args=proposal.args if proposal else {},
            schema=interrupt.response_schema,
            interrupt=interrupt,
        )

    def _is_in_doubt(self) -> bool:
        """Ask about the `once` call that was under way, as the engine does."""
        call_id, effect = self._journal.executed[-1]
        if effect is not Effect.ONCE or not self.agent.restartable:
            return False
        name = self._journal.proposals[call_id].name
        message = f"The worker stopped while {name} was running. Did the call take effect?"
        doubt = Interrupt(
            id=f"doubt-{call_id}", reason=OUTCOME_UNKNOWN, message=message, tool_call_id=call_id
        )
        self._doubt, self.status, self.requests = call_id, "interrupted", [self._request(doubt)]
        return True

    def _settle_doubt(self, payload: Any) -> None:
        outcome = payload.get("outcome") if isinstance(payload, dict) else None
        if outcome == "happened":
            self._journal.results[self._doubt] = str(payload["result"])
        elif outcome != "did_not_happen":
            raise AssertionError("Answer with happened(result) or did_not_happen().")
        self._doubt = ""
        self._run = self._run and replace(self._run, committed_events=list(self._events))
        self._drive()


def _resolved(request: Request, payload: Any, *, is_checked: bool = True) -> ResumeEntry:
    """Return the answer; raise AssertionError if the inbox would refuse it."""
    if is_checked and request.schema is not None:
        errors = [error.message for error in schema_violations(request.schema, payload)]
        if errors:
            raise AssertionError(f"The inbox would refuse this answer: {'; '.join(errors)}")
    return ResumeEntry(interrupt_id=request.interrupt.id, status="resolved", payload=payload)


def _interrupts(events: Sequence[BaseEvent]) -> Sequence[Interrupt]:
    last = events[-1] if events else None
    outcome = last.outcome if isinstance(last, agui.RunFinishedEvent) else None
    return outcome.interrupts if isinstance(outcome, agui.RunFinishedInterruptOutcome) else ()


def _calls_of(events: Sequence[BaseEvent]) -> set[str]:
    return {event.tool_call_id for event in events if isinstance(event, agui.ToolCallStartEvent)}
