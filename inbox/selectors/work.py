"""What a worker needs to know before it drives a run."""

import json
from collections.abc import Container, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ag_ui.core import BaseEvent, Interrupt, ResumeEntry

from agents.agui.conversation import Conversation
from agents.port import Answer, Proposal
from inbox.actions.endings import committed_events, conversation_before
from inbox.actions.questions import load_questions, wire_entries
from inbox.domain.contract import Question
from inbox.domain.states import InterruptStatus, Reason, ToolCallState
from inbox.models import Interrupt as InterruptRow
from inbox.models import Memory, Run, Thread, ToolCall

Questions = list[tuple[InterruptRow, Question]]


@dataclass(frozen=True)
class Assignment:
    """A claimed run, ready to be driven."""

    thread_id: str
    thread_key: str  #: unlike `thread_id` no other team's thread has it
    run_id: str
    run_key: str  #: of the attempt that this run continues, so that ids come out the same
    implementation: str
    given: dict[str, Any]  #: tools, context and forwardedProps of the input
    conversation: Conversation
    state: Any  #: before the agent changed it, which does so once more
    own_events: Sequence[BaseEvent]  #: what this run has committed before this attempt
    replayed: Sequence[BaseEvent]  #: what the agent will yield once more
    answers: Sequence[Answer]
    checkpoint: Any
    memory: Any
    known_tool_calls: Sequence[str]
    calls_of_others: Container[str]  #: those of earlier runs, which must not be emitted again
    is_resume: bool  #: or the retry of a run: the client has to be shown where it goes on
    stopped: bool  #: a person said "stop" about a doubtful outcome


@dataclass
class _Lineage:
    """A run, and those that it continues or retries, back to the one whose work they all do."""

    runs: list[Run]
    questions: Questions = field(default_factory=list)  #: what the oldest of them answers
    events: list[tuple[BaseEvent, bool]] = field(default_factory=list)  #: of the older ones
    stopped: bool = False

    @property
    def origin(self) -> Run:
        return self.runs[-1]


def load_assignment(run: Run, *, restartable: bool) -> Assignment:
    """
    Everything about a claimed run, from committed rows only.

    What a failed run said is not said again by a restartable agent that retries it. Any other
    starts anew, with the same answers, and under ids of its own.
    """
    thread = run.thread
    given = json.loads(run.input)
    own = committed_events(run) if run.attempt > 1 else []
    lineage = _lineage_of(run)
    known_to_agent = lineage if restartable else _Lineage([run])
    ours = {one.pk for one in known_to_agent.runs}
    calls = list(ToolCall.objects.filter(thread=thread).values_list("tool_call_id", "run_id"))
    conversation = conversation_before(run, thread)
    state = deepcopy(conversation.state)
    for event, _ in own:
        conversation.apply(event)
    answered = lineage.origin.resumes
    return Assignment(
        thread_id=thread.external_id,
        thread_key=str(thread.pk),
        run_id=run.external_id,
        run_key=str(known_to_agent.origin.pk),
        implementation=thread.agent.implementation,
        given=given,
        conversation=conversation,
        state=state,
        own_events=[event for event, _ in own],
        replayed=[event for event, from_agent in [*known_to_agent.events, *own] if from_agent],
        answers=_answers(lineage.questions),
        checkpoint=json.loads(answered.checkpoint) if answered else None,
        memory=_memory_of(thread),
        known_tool_calls=[name for name, _ in calls],
        calls_of_others={name for name, run_id in calls if run_id not in ours},
        is_resume=run.resumes is not None or run.retries is not None,
        stopped=lineage.stopped,
    )


def _lineage_of(run: Run) -> _Lineage:
    """
    A run that was interrupted by a doubt about an effect is continued, not answered, and so is a
    failed one that is tried again.

    The agent is driven with the same answers as before, and the journal knows what happened.
    """
    lineage = _Lineage([run])
    while (before := lineage.origin.retries or lineage.origin.resumes) is not None:
        if lineage.origin.retries is not None:
            lineage.events = [*committed_events(before), *lineage.events]
            lineage.runs.append(before)
            continue
        lineage.questions = load_questions(before)
        if any(row.reason != Reason.OUTCOME_UNKNOWN for row, _ in lineage.questions):
            break
        lineage.stopped = lineage.stopped or any(map(_says_stop, lineage.questions))
        lineage.events = [*committed_events(before), *lineage.events]
        lineage.questions = []
        lineage.runs.append(before)
    return lineage


def _memory_of(thread: Thread) -> Any:
    kept = Memory.objects.filter(thread=thread).values_list("body", flat=True).first()
    return None if kept is None else json.loads(kept)


def _says_stop(asked: tuple[InterruptRow, Question]) -> bool:
    """Whether a person answered a doubt with "stop", or called it off."""
    _, question = asked
    payload = question.answer.payload if question.answer else None
    outcome = payload.get("outcome") if isinstance(payload, dict) else None
    return outcome not in ("happened", "did_not_happen")


def _answers(questions: Questions) -> list[Answer]:
    answers = []
    approved = _approved([row.tool_call for row, _ in questions if row.tool_call])
    for row, question in questions:
        if question.answer is None:
            continue
        call = row.tool_call
        answers.append(
            Answer(
                interrupt=Interrupt.model_validate_json(row.body),
                entry=ResumeEntry.model_validate(wire_entries([question.answer])[0]),
                proposal=_proposal(call, is_approved=call.pk in approved) if call else None,
            )
        )
    return answers


def _approved(calls: Sequence[ToolCall]) -> set[UUID]:
    """The calls that a person approved; a denial stays, whatever else was approved about it."""
    resolved = InterruptRow.objects.filter(
        tool_call__in=[call for call in calls if call.state != ToolCallState.NOT_RUN],
        reason=Reason.TOOL_CALL,
        status=InterruptStatus.RESOLVED,
    )
    return {pk for pk in resolved.values_list("tool_call_id", flat=True) if pk}


def _proposal(call: ToolCall, *, is_approved: bool) -> Proposal:
    is_edited = call.edited_args is not None
    return Proposal(
        call.tool_call_id,
        call.name,
        json.loads(call.approved_args),
        original_args=json.loads(call.args) if is_edited else None,
        is_approved=is_approved,
    )


def implementation_of(run_id: UUID) -> str:
    """The registry name of a run's agent, "" for no run; whoever asks decides who may know."""
    found = Run.objects.filter(pk=run_id).values_list("thread__agent__implementation", flat=True)
    return found.first() or ""
