"""One attempt at one run: turn by turn, from the claim to the terminal event."""

import json
import threading
import time
from copy import deepcopy
from itertools import groupby
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput
from django.conf import settings
from django.db import InterfaceError, OperationalError

from agents.agui.errors import ProtocolViolation
from agents.agui.replay import ReplayDiverged
from agents.port import Agent
from agents.registry import UnknownAgent
from inbox.actions.runs import run_lease
from inbox.actions.runs.recovery import interrupt_in_doubt
from inbox.actions.runs.run_release import release_run
from inbox.engine.agent_loop import (
    Action,
    AgentLoop,
    Command,
    EndOfStream,
    Item,
    OutOfBandEvents,
    ToolResult,
)
from inbox.engine.context import EngineContext, EngineJournal
from inbox.engine.event_pipeline import EventPipeline, merge
from inbox.queries.runs.run_assignment import Assignment
from inbox.rules.errors import (
    PUBLIC_MESSAGES,
    ArgumentsDiffer,
    ArgumentsNotApproved,
    LeaseLost,
    LimitExceeded,
    RunFailure,
    WorkerLost,
)
from inbox.rules.runs.states import RunStatus

#: How long the driver waits for a silent agent before it looks around, in seconds.
PATIENCE_SECONDS = 0.5
HEARTBEAT_SECONDS = 5.0


class AgentFailed(Exception):
    """The agent raised; what it raised is the cause, for the log only."""


class Driver:
    """Drives an agent and commits what it yields; the agent's errors end the run, never us."""

    def __init__(
        self,
        assignment: Assignment,
        agent: Agent | None,
        lease: run_lease.RunLease,
        stopping: threading.Event,
        log: Any,
    ) -> None:
        self._assignment = assignment
        self._agent = agent
        self._lease = lease
        self._stopping = stopping
        self._log = log
        self._out = EventPipeline(assignment)
        self._turns = AgentLoop()
        self._journal = EngineJournal(lease, self._turns.ask, self._turns.note)
        self._context = EngineContext(
            thread_key=assignment.thread_key,
            run_key=assignment.run_key,
            answers=assignment.answers,
            committed_events=assignment.replayed,
            checkpoint=assignment.checkpoint,
            memory=assignment.memory,
            journal=self._journal,
            emit_out_of_band=self._turns.emit_out_of_band,
        )
        self._waiting = run_lease.EventBatch()
        self._is_restartable = agent is not None and agent.restartable
        self._began = self._last_write = time.monotonic()

    def drive(self) -> str:
        """
        Run to the end and return the status that was committed.

        Raises:
            LeaseLost: somebody else ended or took the run; nothing more was written.
        """
        try:
            return self._drive()
        except (LeaseLost, OperationalError, InterfaceError):
            # Not the agent's fault: the lease runs out, and the run is driven again.
            raise
        except ArgumentsDiffer as error:
            self._log.warning("arguments not approved", tool_call=error.tool_call_id)
            return self._fail(error.code, PUBLIC_MESSAGES[error.code], mismatch=error)
        except (RunFailure, ProtocolViolation, ReplayDiverged) as error:
            self._log.warning("run failed", error=str(error)[:500])
            return self._fail(_code_of(error), PUBLIC_MESSAGES[_code_of(error)])
        except Exception:
            self._log.exception("agent failed")
            return self._fail("AGENT_ERROR", PUBLIC_MESSAGES["AGENT_ERROR"])
        finally:
            if not self._turns.close():
                self._log.error("agent cannot be stopped")

    def _drive(self) -> str:
        if self._assignment.stopped:
            return self._finish(_cancelled(self._assignment))
        self._waiting = self._out.opening()
        if self._agent is None:
            raise UnknownAgent(self._assignment.implementation)
        self._turns.start(self._agent.run(self._input(), self._context))
        while True:
            items = self._turns.next_batch(PATIENCE_SECONDS)
            ended = self._handle(items)
            if ended is not None:
                return ended
            if time.monotonic() - self._began > settings.RUN_SECONDS:
                raise LimitExceeded(f"One run may take {settings.RUN_SECONDS:.0f} seconds.")
            if self._stopping.is_set() and self._is_restartable and release_run(lease=self._lease):
                return RunStatus.QUEUED
            if time.monotonic() - self._last_write > HEARTBEAT_SECONDS:
                run_lease.renew_lease(lease=self._lease)
                self._last_write = time.monotonic()

    def _handle(self, items: list[Item]) -> str | None:
        """Commit a turn's events in order, doing what the agent asked for in between."""
        events: list[BaseEvent] = []
        for action, neighbours in groupby(items, key=lambda item: getattr(item, "action", None)):
            group: list[Any] = list(neighbours)
            if action is not None:
                self._collect(events)
                events = []
                self._grant(action, group)
                continue
            for item in group:
                if isinstance(item, agui.RunFinishedEvent | agui.RunErrorEvent | EndOfStream):
                    self._collect(events)
                    return self._conclude(item)
                if isinstance(item, OutOfBandEvents):
                    self._collect(events)
                    events = []
                    self._waiting = merge(self._waiting, self._out.aside(item.events))
                elif isinstance(item, ToolResult):
                    self._waiting.results[item.tool_call_id] = item.result
                else:
                    events.append(item)
        self._collect(events)
        if self._waiting.frames or self._waiting.results:
            run_lease.append_events(lease=self._lease, batch=self._waiting)
            self._written()
        return None

    def _collect(self, events: list[BaseEvent]) -> None:
        """Check events and let them wait; whatever commits next, an error too, takes them along."""
        self._waiting = merge(self._waiting, self._out.batch(events))

    def _grant(self, action: Action, group: list[Command]) -> None:
        wishes = [wish for wish in group if not wish.future.cancelled()]
        asked = time.monotonic()
        results = action(self._waiting, [wish.subject for wish in wishes])
        if time.monotonic() - asked > run_lease.LEASE.total_seconds():
            # This process was stopped meanwhile: somebody else may have asked a person by now
            # whether the call that would begin here has happened.
            raise LeaseLost(str(self._lease.run_id))
        self._written()
        for result in results:
            if isinstance(result, RunFailure):
                raise result
        for wish, result in zip(wishes, results, strict=True):
            wish.future.set_result(result)

    def _written(self) -> None:
        self._waiting = run_lease.EventBatch()
        self._last_write = time.monotonic()

    def _conclude(self, last: agui.RunFinishedEvent | agui.RunErrorEvent | EndOfStream) -> str:
        if isinstance(last, agui.RunFinishedEvent):
            return self._finish(last)
        if self._journal.has_refused_arguments:
            code = ArgumentsNotApproved.code
            self._log.warning("arguments not approved")
            return self._fail(code, PUBLIC_MESSAGES[code])
        if isinstance(last, agui.RunErrorEvent):
            return self._fail(last.code or "AGENT_ERROR", last.message)
        if last.error is None:
            raise ProtocolViolation("The agent stopped without a terminal event.")
        raise AgentFailed from last.error

    def _finish(self, event: agui.RunFinishedEvent) -> str:
        self._waiting = merge(self._waiting, self._out.last_of_chunks())
        last, finished = self._out.finish(event)
        outcome = finished.outcome
        interrupts = (
            outcome.interrupts if isinstance(outcome, agui.RunFinishedInterruptOutcome) else ()
        )
        status = _STATUS[outcome.type if outcome else "success"]
        self._end(last, status, interrupts=interrupts)
        return status

    def _fail(self, code: str, message: str, mismatch: ArgumentsDiffer | None = None) -> str:
        if self._is_in_doubt(code):
            return RunStatus.INTERRUPTED
        last = self._out.fail(code=code[:40], message=message[:2_000])
        self._end(last, RunStatus.FAILED, error_code=code[:40], mismatch=mismatch)
        return RunStatus.FAILED

    def _is_in_doubt(self, code: str) -> bool:
        """Ask what came of a `once` call, if it was under way and the run can go on behind it."""
        goes_on = self._is_restartable and code != WorkerLost.code
        if not (goes_on and self._journal.has_begun_once):
            return False
        run_lease.append_events(lease=self._lease, batch=merge(self._waiting, self._out.pending()))
        self._written()
        return interrupt_in_doubt(lease=self._lease)

    def _end(self, last: run_lease.EventBatch, status: RunStatus, **ending: Any) -> None:
        kept = self._out.conversation()
        checkpoint = self._context.saved_checkpoint if status is RunStatus.INTERRUPTED else None
        memory = self._context.saved_memory if status is not RunStatus.FAILED else None
        run_lease.finish_run(
            lease=self._lease,
            batch=merge(self._waiting, last),
            result=run_lease.RunResult(
                status=status,
                messages=json.dumps(kept["messages"]),
                state=json.dumps(kept["state"]),
                client_messages=json.dumps(kept["clientMessages"]),
                endpoint_digest=self._assignment.endpoint_digest,
                checkpoint=json.dumps(checkpoint),
                memory=memory,
                may_leave_doubt=self._journal.has_begun_once,
                **ending,
            ),
        )

    def _input(self) -> RunAgentInput:
        assignment = self._assignment
        return RunAgentInput(
            thread_id=assignment.thread_id,
            run_id=assignment.run_id,
            # Copies: what an agent does to its input changes nothing of ours.
            messages=deepcopy(assignment.conversation.messages),
            state=deepcopy(assignment.state),
            tools=assignment.given.get("tools") or [],
            context=assignment.given.get("context") or [],
            forwarded_props=assignment.given.get("forwardedProps"),
            resume=[answer.resume_entry for answer in assignment.answers] or None,
        )


_STATUS = {
    "success": RunStatus.SUCCEEDED,
    "interrupt": RunStatus.INTERRUPTED,
    "cancelled": RunStatus.CANCELLED,
}


def _code_of(error: Exception) -> str:
    if isinstance(error, ReplayDiverged):
        return WorkerLost.code
    return error.code if isinstance(error, RunFailure) else "PROTOCOL_VIOLATION"


def _cancelled(assignment: Assignment) -> agui.RunFinishedEvent:
    return agui.RunFinishedEvent(
        thread_id=assignment.thread_id,
        run_id=assignment.run_id,
        outcome=agui.RunFinishedCancelledOutcome(type="cancelled"),
    )
