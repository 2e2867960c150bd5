"""What a worker needs to know before it drives a run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui.core import BaseEvent, Interrupt, ResumeEntry

from agents.agui.conversation import Conversation
from agents.port import Answer, Proposal
from inbox.actions.endings import committed_events, conversation_before
from inbox.actions.questions import load_questions, wire_entries
from inbox.domain.contract import Question
from inbox.domain.states import Reason
from inbox.models import Interrupt as InterruptRow
from inbox.models import Run, ToolCall

Questions = list[tuple[InterruptRow, Question]]


@dataclass(frozen=True)
class Assignment:
    """A claimed run, ready to be driven."""

    thread_id: str
    run_id: str
    run_key: str  #: of the attempt that this run continues, so that ids come out the same
    implementation: str
    given: dict[str, Any]  #: tools, context and forwardedProps of the input
    conversation: Conversation
    own_events: Sequence[BaseEvent]  #: what this run has committed before this attempt
    replayed: Sequence[BaseEvent]  #: what the agent will yield once more
    answers: Sequence[Answer]
    checkpoint: Any
    known_tool_calls: Sequence[str]
    stopped: bool  #: a person said "stop" about a doubtful outcome


def load_assignment(run: Run) -> Assignment:
    """Everything about a claimed run, from committed rows only."""
    thread = run.thread
    given = json.loads(run.input)
    own = committed_events(run) if run.attempt > 1 else []
    origin, questions, earlier, stopped = _origin(run)
    conversation = conversation_before(run, thread)
    for event, _ in own:
        conversation.apply(event)
    return Assignment(
        thread_id=thread.external_id,
        run_id=run.external_id,
        run_key=str(origin.pk),
        implementation=thread.agent.implementation,
        given=given,
        conversation=conversation,
        own_events=[event for event, _ in own],
        replayed=[event for event, from_agent in [*earlier, *own] if from_agent],
        answers=_answers(questions),
        checkpoint=json.loads(origin.resumes.checkpoint) if origin.resumes else None,
        known_tool_calls=list(
            ToolCall.objects.filter(thread=thread).values_list("tool_call_id", flat=True)
        ),
        stopped=stopped,
    )


def _origin(run: Run) -> tuple[Run, Questions, list[tuple[BaseEvent, bool]], bool]:
    """
    The run whose work this one does, what it answers, its events, and whether a person stopped it.

    A run that was interrupted by a doubt about an effect is continued, not answered: the agent is
    driven with the same answers as before, and the journal knows now what happened.
    """
    events: list[tuple[BaseEvent, bool]] = []
    stopped = False
    questions: Questions = []
    while run.resumes is not None:
        questions = load_questions(run.resumes)
        if any(row.reason != Reason.OUTCOME_UNKNOWN for row, _ in questions):
            break
        answers = [question.answer.payload for _, question in questions if question.answer]
        stopped = stopped or not all(
            isinstance(answer, dict) and answer.get("outcome") in ("happened", "did_not_happen")
            for answer in answers
        )
        run = run.resumes
        events = [*committed_events(run), *events]
        questions = []  # those were about the doubt; what the run itself answers comes next
    return run, questions, events, stopped


def _answers(questions: Questions) -> list[Answer]:
    answers = []
    for row, question in questions:
        if question.answer is None:
            continue
        call = row.tool_call
        answers.append(
            Answer(
                interrupt=Interrupt.model_validate_json(row.body),
                entry=ResumeEntry.model_validate(wire_entries([question.answer])[0]),
                proposal=Proposal(call.tool_call_id, call.name, json.loads(call.approved_args))
                if call
                else None,
            )
        )
    return answers
