"""Driving one attempt at one run, batch by batch, from the claim to the terminal event."""

import json
import threading
import time
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent, RunAgentInput
from django.conf import settings
from django.db import InterfaceError, OperationalError

from agents.agui.errors import ProtocolViolation
from agents.agui.replay import ReplayDiverged
from agents.port import Agent, AgentMistake, InterruptAnswer
from agents.registry import UnknownAgent
from agents.storable import storable_model
from inbox.actions.runs import claim, run_lease
from inbox.actions.runs.agent_errors import record_agent_errors
from inbox.actions.runs.recovery import interrupt_in_doubt, release_run
from inbox.actions.runs.run_termination import STATUS_BY_OUTCOME
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
from inbox.engine.error_report import cause_of, report_of
from inbox.engine.event_pipeline import EventPipeline, merge
from inbox.engine.loop_watch import watch
from inbox.queries.runs.run_assignment import Assignment
from inbox.rules.errors import (
    PUBLIC_MESSAGES,
    ArgumentsDiffer,
    ArgumentsNotApproved,
    LeaseLost,
    LimitExceeded,
    ProtocolBroken,
    RunFailure,
    WorkerLost,
)
from inbox.rules.runs.checkpoints import Checkpoint
from inbox.rules.runs.states import RunStatus

#: The driver checks timeouts and shutdown at least this often.
PATIENCE_SECONDS = 0.5
HEARTBEAT_SECONDS = 5.0
_MAX_REPORTS = 20


class AgentFailed(Exception):
    """The agent raised an error, which is logged and not shown to clients."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class Driver:
    """Drives an agent and commits its events; errors of the agent end the run."""

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
        self._pipeline = EventPipeline(assignment)
        self._loop = AgentLoop()
        self._journal = EngineJournal(
            lease, self._loop.run_command, self._loop.add_result, self._pipeline.call_id
        )
        self._names = self._pipeline.agent_names()
        self._context = EngineContext(
            thread_key=assignment.thread_key,
            run_key=assignment.run_key,
            answers=[self._with_names(answer) for answer in assignment.answers],
            committed_events=self._names.in_events(assignment.replayed),
            checkpoint=assignment.checkpoint,
            memory=assignment.memory,
            journal=self._journal,
            emit_out_of_band=self._loop.emit_out_of_band,
            attach=self._journal.attach,
            report_error=self._report,
        )
        self._reports: list[str] = []  #: of exceptions, for the author of the agent
        self._uncommitted = run_lease.EventBatch()
        self._is_restartable = agent is not None and agent.restartable
        self._started_at = self._last_write = time.monotonic()

    def drive(self) -> str:
        """
        Run to the end, and return the committed status.

        Raises:
            LeaseLost: the run was ended or taken over; nothing more was written.
        """
        try:
            return self._drive()
        except (LeaseLost, OperationalError, InterfaceError):
            # No error of the agent: the lease expires, and the run is driven again.
            raise
        except ArgumentsDiffer as error:
            self._log.warning("arguments not approved", tool_call=error.tool_call_id)
            return self._fail(error.code, PUBLIC_MESSAGES[error.code], mismatch=error)
        except (RunFailure, ProtocolViolation, ReplayDiverged) as error:
            self._log.warning("run failed", error=str(error)[:500])
            return self._fail(_code_of(error), _public_message(error))
        except AgentFailed as failed:
            return self._fail(*self._describe(failed.error))
        except Exception as error:
            return self._fail(*self._describe(error))
        finally:
            if not self._loop.close():
                self._log.error("agent ignores cancellation")

    def _describe(self, error: BaseException) -> tuple[str, str]:
        """Log an error of the agent; return the code and message for clients."""
        self._log.error("agent failed", exc_info=error, **cause_of(error))
        self._report(error)
        if isinstance(error, AgentMistake):
            return error.code, str(error)
        return "AGENT_ERROR", PUBLIC_MESSAGES["AGENT_ERROR"]

    def _report(self, error: BaseException) -> None:
        """Collect an exception for the author."""
        if len(self._reports) < _MAX_REPORTS:
            self._reports.append(report_of(error))

    def _store_reports(self) -> None:
        if self._reports:
            record_agent_errors(lease=self._lease, texts=self._reports)
            self._reports = []

    def _drive(self) -> str:
        if self._assignment.stopped:
            return self._finish(_cancelled(self._assignment))
        self._uncommitted = self._pipeline.opening()
        if self._agent is None:
            raise UnknownAgent(self._assignment.implementation)
        self._loop.start(self._agent.run(self._input(), self._context))
        while True:
            with watch.watching(self._lease, self._is_restartable, self._log):
                items = self._loop.next_batch(PATIENCE_SECONDS)
            ended = self._handle(items)
            if ended is not None:
                return ended
            if time.monotonic() - self._started_at > settings.RUN_SECONDS:
                raise LimitExceeded(f"One run may take {settings.RUN_SECONDS:.0f} seconds.")
            if self._stopping.is_set() and self._is_restartable and release_run(lease=self._lease):
                return RunStatus.QUEUED
            if time.monotonic() - self._last_write > HEARTBEAT_SECONDS:
                run_lease.renew_lease(lease=self._lease)
                self._last_write = time.monotonic()

    def _handle(self, items: list[Item]) -> str | None:
        """Commit a batch in order, and run the agent's commands; return the status at the end."""
        events: list[BaseEvent] = []
        for action, adjacent in groupby(items, key=lambda item: getattr(item, "action", None)):
            group: list[Any] = list(adjacent)
            if action is not None:
                self._collect(events)
                events = []
                self._run_commands(action, group)
                continue
            for item in group:
                if isinstance(item, agui.RunFinishedEvent | agui.RunErrorEvent | EndOfStream):
                    self._collect(events)
                    return self._conclude(item)
                if isinstance(item, OutOfBandEvents):
                    self._collect(events)
                    events = []
                    self._uncommitted = merge(
                        self._uncommitted, self._pipeline.out_of_band(item.events)
                    )
                elif isinstance(item, ToolResult):
                    call_id = self._pipeline.call_id(item.tool_call_id)
                    self._uncommitted.results[call_id] = item.result
                else:
                    events.append(item)
        self._collect(events)
        if self._uncommitted.frames or self._uncommitted.results:
            run_lease.append_events(lease=self._lease, batch=self._uncommitted)
            self._mark_written()
        return None

    def _collect(self, events: list[BaseEvent]) -> None:
        """Check events, and add them to the uncommitted batch, which the next write commits."""
        self._uncommitted = merge(self._uncommitted, self._pipeline.batch(events))

    def _run_commands(self, action: Action, group: list[Command]) -> None:
        commands = [command for command in group if not command.future.cancelled()]
        started_at = time.monotonic()
        results = action(self._uncommitted, [command.subject for command in commands])
        if time.monotonic() - started_at > claim.LEASE.total_seconds():
            # This process was suspended, and its lease may have expired: another worker may have
            # asked a person about the outcome of the call that would start here.
            raise LeaseLost(str(self._lease.run_id))
        self._mark_written()
        for result in results:
            if isinstance(result, RunFailure):
                raise result
        for command, result in zip(commands, results, strict=True):
            command.future.set_result(result)

    def _mark_written(self) -> None:
        self._uncommitted = run_lease.EventBatch()
        self._last_write = time.monotonic()

    def _conclude(self, last: agui.RunFinishedEvent | agui.RunErrorEvent | EndOfStream) -> str:
        if isinstance(last, agui.RunFinishedEvent):
            return self._finish(last)
        if self._journal.has_refused_arguments:
            code = ArgumentsNotApproved.code
            self._log.warning("arguments not approved")
            return self._fail(code, PUBLIC_MESSAGES[code])
        if isinstance(last, agui.RunErrorEvent):
            last = storable_model(last)
            return self._fail(last.code or "AGENT_ERROR", last.message)
        if last.error is None:
            raise ProtocolViolation("The agent stopped without a terminal event.")
        raise AgentFailed(last.error)

    def _finish(self, event: agui.RunFinishedEvent) -> str:
        self._store_reports()
        self._uncommitted = merge(self._uncommitted, self._pipeline.last_of_chunks())
        last, finished = self._pipeline.finish(event)
        outcome = finished.outcome
        interrupts = (
            outcome.interrupts if isinstance(outcome, agui.RunFinishedInterruptOutcome) else ()
        )
        status = STATUS_BY_OUTCOME[outcome.type if outcome else "success"]
        self._end(last, status, interrupts=interrupts)
        return status

    def _fail(self, code: str, message: str, mismatch: ArgumentsDiffer | None = None) -> str:
        if self._is_in_doubt(code):
            return RunStatus.INTERRUPTED
        self._store_reports()
        last = self._pipeline.fail(code=code[:40], message=message[:2_000])
        self._end(last, RunStatus.FAILED, error_code=code[:40], mismatch=mismatch)
        return RunStatus.FAILED

    def _is_in_doubt(self, code: str) -> bool:
        """Interrupt the run about `once` calls in flight, if it can continue after the answer."""
        can_continue = self._is_restartable and code != WorkerLost.code
        if not (can_continue and self._journal.has_started_once_call):
            return False
        self._store_reports()
        run_lease.append_events(
            lease=self._lease, batch=merge(self._uncommitted, self._pipeline.pending())
        )
        self._mark_written()
        return interrupt_in_doubt(lease=self._lease)

    def _end(self, last: run_lease.EventBatch, status: RunStatus, **ending: Any) -> None:
        conversation = self._pipeline.conversation()
        checkpoint = None
        if status is RunStatus.INTERRUPTED:
            saved = self._context.saved_checkpoint
            checkpoint = Checkpoint(saved, self._pipeline.call_ids()).to_json()
        memory = self._context.saved_memory if status is not RunStatus.FAILED else None
        run_lease.finish_run(
            lease=self._lease,
            batch=merge(self._uncommitted, last),
            result=run_lease.RunResult(
                status=status,
                messages=json.dumps(conversation["messages"]),
                state=json.dumps(conversation["state"]),
                client_messages=json.dumps(conversation["clientMessages"]),
                endpoint_digest=self._assignment.endpoint_digest,
                checkpoint=json.dumps(checkpoint),
                memory=memory,
                may_leave_doubt=self._journal.has_started_once_call,
                has_history=self._assignment.has_history,
                **ending,
            ),
        )

    def _with_names(self, answer: InterruptAnswer) -> InterruptAnswer:
        """Return an answer with the agent's names of the calls."""
        interrupt, proposal = answer.interrupt, answer.proposal
        if interrupt.tool_call_id is not None:
            name = self._names(interrupt.tool_call_id)
            interrupt = interrupt.model_copy(update={"tool_call_id": name})
        if proposal is not None:
            proposal = replace(proposal, tool_call_id=self._names(proposal.tool_call_id))
        return replace(answer, interrupt=interrupt, proposal=proposal)

    def _input(self) -> RunAgentInput:
        assignment = self._assignment
        return RunAgentInput(
            thread_id=assignment.thread_id,
            run_id=assignment.run_id,
            messages=self._names.in_messages(assignment.messages),
            state=deepcopy(assignment.state),
            tools=assignment.run_input.get("tools") or [],
            context=assignment.run_input.get("context") or [],
            forwarded_props=assignment.run_input.get("forwardedProps"),
            resume=[answer.resume_entry for answer in assignment.answers] or None,
        )


def _code_of(error: Exception) -> str:
    if isinstance(error, ReplayDiverged):
        return WorkerLost.code
    return error.code if isinstance(error, RunFailure) else "PROTOCOL_VIOLATION"


def _public_message(error: Exception) -> str:
    """Return the message for clients; it has the reason, if that has no values of the run."""
    message = PUBLIC_MESSAGES[_code_of(error)]
    if isinstance(error, ProtocolViolation | ProtocolBroken | LimitExceeded):
        return f"{message.removesuffix('.')}: {str(error)[:1_000]}"
    return message


def _cancelled(assignment: Assignment) -> agui.RunFinishedEvent:
    return agui.RunFinishedEvent(
        thread_id=assignment.thread_id,
        run_id=assignment.run_id,
        outcome=agui.RunFinishedCancelledOutcome(type="cancelled"),
    )
