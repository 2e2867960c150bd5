"""What a worker needs to know before it drives a run."""

import json
from collections.abc import Container, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from ag_ui.core import BaseEvent, Interrupt, ResumeEntry

from agents.agui.conversation import Conversation
from agents.port import InterruptAnswer, Proposal
from inbox.models import Decision, Memory, Run, Thread, ToolCall
from inbox.models import Interrupt as InterruptRow
from inbox.models.statements import Select
from inbox.queries.runs.conversations import committed_events, conversation_before
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.queries.runs.run_lineage import Lineage, lineage_of
from inbox.rules.agents.remote_agents import is_remote
from inbox.rules.decisions.consent import SIGNOFF, canonical_json
from inbox.rules.runs.contract import wire_entries
from inbox.rules.runs.states import InterruptStatus, Reason, ToolCallState

_MEMORY = Select(
    lambda params: Memory.objects.filter(thread=params.thread).values_list("body", flat=True)
)
_CALL_IDS = Select(
    lambda params: ToolCall.objects.filter(thread=params.thread).values_list(
        "tool_call_id", "run_id"
    )
)


@dataclass(frozen=True)
class Assignment:
    """A claimed run, ready to be driven."""

    thread_id: str
    thread_key: str  #: unlike `thread_id` no other team's thread has it
    run_id: str
    run_key: str  #: of the attempt that this run continues, so that ids come out the same
    implementation: str
    request_expiry: timedelta | None  #: of interrupts for which the agent says nothing of it
    given: dict[str, Any]  #: tools, context and forwardedProps of the input
    conversation: Conversation
    state: Any  #: before the agent changed it, which does so once more
    own_events: Sequence[BaseEvent]  #: what this run has committed before this attempt
    replayed: Sequence[BaseEvent]  #: what the agent will yield once more
    answers: Sequence[InterruptAnswer]
    checkpoint: Any
    memory: Any
    known_tool_calls: Sequence[str]
    calls_of_others: Container[str]  #: those of earlier runs, which must not be emitted again
    is_resume: bool  #: or the retry of a run: the client has to be shown where it goes on
    stopped: bool  #: a person said "stop" about a doubtful outcome
    endpoint_digest: str  #: of where the agent is, "" for one of this installation


def load_assignment(run: Run, *, restartable: bool, endpoint_digest: str) -> Assignment:
    """
    Everything about a claimed run, from committed rows only.

    `endpoint_digest` is of where the agent will be called, "" for one of this installation.

    What a failed run said is not said again by a restartable agent that retries it. Any other
    starts anew, with the same answers, and under ids of its own.
    """
    thread = run.thread
    given = json.loads(run.input)
    own = committed_events(run) if run.attempt > 1 else []
    lineage = lineage_of(run)
    lineage.check(thread, run.started_at or run.queued_at, endpoint=endpoint_digest)
    known_to_agent = lineage if restartable else Lineage([run])
    ours = {one.pk for one in known_to_agent.runs}
    calls = _CALL_IDS.all(thread=thread.pk)
    conversation = conversation_before(run, thread)
    state = deepcopy(conversation.state)
    for event, _ in own:
        conversation.apply(event)
    answered = lineage.origin.resumes
    hours = thread.team.request_expiry_hours
    return Assignment(
        thread_id=thread.external_id,
        thread_key=str(thread.pk),
        run_id=run.external_id,
        run_key=str(known_to_agent.origin.pk),
        implementation=thread.agent.implementation,
        request_expiry=timedelta(hours=hours) if hours else None,
        given=given,
        conversation=conversation,
        state=state,
        own_events=[event for event, _ in own],
        replayed=[event for event, from_agent in [*known_to_agent.events, *own] if from_agent],
        answers=_answers(thread, lineage.asked),
        checkpoint=json.loads(answered.checkpoint) if answered else None,
        memory=_memory_of(thread),
        known_tool_calls=[name for name, _ in calls],
        calls_of_others={name for name, run_id in calls if run_id not in ours},
        is_resume=run.resumes is not None or run.retries is not None,
        stopped=lineage.stopped,
        endpoint_digest=endpoint_digest,
    )


def _memory_of(thread: Thread) -> Any:
    kept = _MEMORY.first(thread=thread.pk)
    return None if kept is None else json.loads(kept)


def _answers(thread: Thread, asked: Sequence[InterruptWithDecision]) -> list[InterruptAnswer]:
    answers = []
    with_names = not is_remote(thread.agent.implementation) or thread.team.names_deciders
    approved = _approved(asked)
    for row, question, decision in asked:
        if question.answer is None or decision is None:
            continue
        ours = {SIGNOFF: _decided(decision, with_name=with_names)}
        entry = replace(question.answer, metadata={**(question.answer.metadata or {}), **ours})
        call = row.tool_call
        answers.append(
            InterruptAnswer(
                interrupt=Interrupt.model_validate_json(row.body),
                resume_entry=ResumeEntry.model_validate(wire_entries([entry])[0]),
                proposal=(
                    _proposal(call, entry.payload, is_approved=call.pk in approved)
                    if call
                    else None
                ),
            )
        )
    return answers


def _decided(decision: Decision, *, with_name: bool) -> dict[str, Any]:
    """Return who decided and when, as `metadata.signoff` of a resume entry."""
    by = {"kind": decision.actor_kind, "id": decision.ident}
    if with_name:
        by["name"] = decision.actor_label
    return {"by": by, "at": decision.created_at.isoformat()}


def _approved(asked: Sequence[InterruptWithDecision]) -> set[UUID]:
    """
    Return the calls that a person approved, now or when they were asked about before.

    A denial stays, whatever else was approved about it.
    """
    calls = {item.row.tool_call.pk: item.row.tool_call for item in asked if item.row.tool_call}
    may_run = {pk for pk, call in calls.items() if call.state != ToolCallState.NOT_RUN}
    approved = {item.row.tool_call_id for item in asked if _is_approval(item.row)} & may_run
    others = may_run - approved
    if others:
        earlier = InterruptRow.objects.filter(
            tool_call__in=others, reason=Reason.TOOL_CALL, status=InterruptStatus.RESOLVED
        )
        approved |= set(earlier.values_list("tool_call_id", flat=True))
    return {pk for pk in approved if pk}


def _is_approval(row: InterruptRow) -> bool:
    return row.reason == Reason.TOOL_CALL and row.status == InterruptStatus.RESOLVED


def _proposal(call: ToolCall, payload: Any, *, is_approved: bool) -> Proposal:
    is_edited = call.edited_args is not None
    edited = payload.get("editedArgs") if isinstance(payload, dict) else None
    # As the reviewer wrote them, if it was this answer that edited them.
    approved: dict[str, Any] = json.loads(call.approved_args)
    if isinstance(edited, dict) and canonical_json(edited) == call.edited_args:
        approved = edited
    return Proposal(
        call.tool_call_id,
        call.name,
        approved if is_edited else call.proposed,
        original_args=call.proposed if is_edited else None,
        is_approved=is_approved,
    )


def implementation_of(run_id: UUID) -> str:
    """The registry name of a run's agent, "" for no run; whoever asks decides who may know."""
    found = Run.objects.filter(pk=run_id).values_list("thread__agent__implementation", flat=True)
    return found.first() or ""
