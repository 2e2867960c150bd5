"""The input of a worker that drives a run."""

import json
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from ag_ui.core import BaseEvent, Interrupt, Message, ResumeEntry
from django.conf import settings
from pydantic import TypeAdapter

from agents.agui.conversation import Conversation
from agents.agui.turn_ids import EarlierCalls
from agents.port import InterruptAnswer, Proposal
from inbox.models import Decision, Memory, Run, Thread, ToolCall
from inbox.models import Interrupt as InterruptRow
from inbox.models.statements import Select
from inbox.queries.files.files import with_file_links
from inbox.queries.runs.conversations import (
    calls_of_clients,
    committed_events,
    conversation_before,
)
from inbox.queries.runs.interrupt_states import InterruptWithDecision
from inbox.queries.runs.run_lineage import Lineage, lineage_of
from inbox.rules.agents.remote_agents import is_remote
from inbox.rules.decisions.consent import SIGNOFF, canonical_json
from inbox.rules.files.references import MARK
from inbox.rules.runs.checkpoints import read_checkpoint
from inbox.rules.runs.contract import InterruptState, wire_entries
from inbox.rules.runs.states import EntryStatus, InterruptStatus, Reason, ToolCallState
from inbox.rules.schema.answer_forms import answer_form

_MESSAGES = TypeAdapter(list[Message])
_MEMORY = Select(
    lambda params: Memory.objects.filter(thread=params.thread).values_list("body", flat=True)
)
_CALL_IDS = Select(
    lambda params: ToolCall.objects.filter(thread=params.thread).values_list(
        "tool_call_id", "run_id", "state"
    )
)
_UNFINISHED = (ToolCallState.PROPOSED, ToolCallState.STARTED)


@dataclass(frozen=True)
class Assignment:
    """A claimed run, ready to be driven."""

    thread_id: str
    thread_key: str  #: unique, unlike `thread_id`, which is unique for one agent only
    run_id: str
    run_key: str  #: of the attempt that this run continues, so that derived ids are the same
    implementation: str
    request_expiry: timedelta | None  #: for interrupts to which the agent gives no expiry
    run_input: dict[str, Any]  #: tools, context and forwardedProps
    conversation: Conversation
    state: Any  #: before the changes of this run, which the agent makes again
    own_events: Sequence[BaseEvent]  #: committed by this run before this attempt
    replayed: Sequence[BaseEvent]  #: that the agent will yield again
    answers: Sequence[InterruptAnswer]
    checkpoint: Any
    memory: Any
    known_tool_calls: Sequence[str]
    earlier_calls: EarlierCalls
    is_resume: bool  #: or a retry
    has_history: bool  #: the thread may have calls and interrupts of earlier runs or attempts
    stopped: bool  #: a person answered "stop" about an unknown outcome
    endpoint_digest: str  #: of a remote agent, else ""
    messages: Sequence[Message]  #: copies, whose files the agent can load


def load_assignment(run: Run, *, restartable: bool, endpoint_digest: str) -> Assignment:
    """
    Return the assignment of a claimed run, from committed rows only.

    `endpoint_digest` is that of the endpoint that will be called, "" for a local agent.

    A restartable agent that retries a failed run does not repeat its events. Any other agent starts
    from the beginning, with the same decisions and new ids.
    """
    thread = run.thread
    run_input = json.loads(run.input)
    own_events = committed_events(run) if run.attempt > 1 else []
    lineage = lineage_of(run)
    lineage.check(thread, run.started_at or run.queued_at, endpoint=endpoint_digest)
    replayable = lineage if restartable else Lineage([run])
    replayable_ids = {earlier.pk for earlier in replayable.runs}
    # The first attempt at a thread's first run finds neither tool calls nor memory.
    has_history = run.first_seq > 1 or run.attempt > 1
    calls = _CALL_IDS.all(thread=thread.pk) if has_history else []
    conversation = conversation_before(run, thread)
    message_ids = {message.id for message in conversation.messages}
    call_ids = conversation.tool_call_ids
    state = deepcopy(conversation.state)
    for event, _ in own_events:
        conversation.apply(event)
    resumed = lineage.origin.resumes
    checkpoint = read_checkpoint(json.loads(resumed.checkpoint) if resumed else None)
    # The same in every attempt, which repeats what the agent says.
    loads_until = (run.started_at or run.queued_at) + timedelta(seconds=settings.FILE_LINK_SECONDS)
    hours = thread.team.request_expiry_hours
    answers = _answers(thread, lineage.interrupts, loads_until)
    own_ids = {name for name, run_id, _ in calls if run_id in replayable_ids}
    resumed_calls = checkpoint.calls
    if resumed is not None and resumed_calls is None:
        resumed_calls = _calls_without_ids(resumed, calls, answers)
    return Assignment(
        thread_id=thread.external_id,
        thread_key=str(thread.pk),
        run_id=run.external_id,
        run_key=str(replayable.origin.pk),
        implementation=thread.agent.implementation,
        request_expiry=timedelta(hours=hours) if hours else None,
        run_input=run_input,
        conversation=conversation,
        state=state,
        own_events=[event for event, _ in own_events],
        replayed=[event for event, from_agent in [*replayable.events, *own_events] if from_agent],
        answers=answers,
        checkpoint=checkpoint.saved,
        memory=_memory_of(thread) if has_history else None,
        known_tool_calls=[name for name, _, _ in calls],
        earlier_calls=EarlierCalls(
            ids={name for name, _, _ in calls} - own_ids,
            spoken=call_ids - own_ids,
            messages=message_ids,
            resumed=resumed_calls or {},
            finished={name for name, _, state in calls if state not in _UNFINISHED},
            approved={
                answer.proposal.tool_call_id
                for answer in answers
                if answer.proposal is not None and answer.proposal.is_approved
            },
            answered=calls_of_clients(thread, run_input),
        ),
        is_resume=run.resumes is not None or run.retries is not None,
        has_history=has_history,
        stopped=lineage.stopped,
        endpoint_digest=endpoint_digest,
        messages=_messages_with_links(run, thread, conversation, loads_until),
    )


def _calls_without_ids(
    resumed: Run, calls: Iterable[tuple[str, UUID, str]], answers: Sequence[InterruptAnswer]
) -> dict[str, Any]:
    """Return the calls of a run that an earlier version interrupted, which had the agent's ids."""
    ids = {name for name, run_id, _ in calls if run_id == resumed.pk}
    ids |= {answer.proposal.tool_call_id for answer in answers if answer.proposal is not None}
    return {name: {"id": name, "args": "", "result": None} for name in ids}


def _messages_with_links(
    run: Run, thread: Thread, conversation: Conversation, loads_until: datetime
) -> Sequence[Message]:
    """Return copies of the messages; those that are stored keep addresses without a query."""
    if MARK not in run.input and MARK not in thread.messages:
        return conversation.copy_messages()
    messages = conversation.to_json()["messages"]
    linked = with_file_links(messages, thread_id=thread.pk, expires_at=loads_until)
    return _MESSAGES.validate_python(linked)


def _memory_of(thread: Thread) -> Any:
    body = _MEMORY.first(thread=thread.pk)
    return None if body is None else json.loads(body)


def _answers(
    thread: Thread, interrupts: Sequence[InterruptWithDecision], loads_until: datetime
) -> list[InterruptAnswer]:
    answers = []
    with_names = not is_remote(thread.agent.implementation) or thread.team.names_deciders
    approved = _approved(interrupts)
    for row, state, decision in interrupts:
        if state.answer is None or decision is None:
            continue
        signoff = {SIGNOFF: _decision_metadata(decision, with_name=with_names)}
        entry = replace(
            state.answer,
            payload=_agent_payload(
                state, _payload_with_links(thread, decision, state.answer.payload, loads_until)
            ),
            metadata={**(state.answer.metadata or {}), **signoff},
        )
        call = row.tool_call
        interrupt = Interrupt.model_validate_json(row.body)  # with the agent's own id
        if state.agent_schema is not None:
            interrupt.response_schema = dict(state.agent_schema)
        entry = replace(entry, interrupt_id=interrupt.id)
        answers.append(
            InterruptAnswer(
                interrupt=interrupt,
                resume_entry=ResumeEntry.model_validate(wire_entries([entry])[0]),
                proposal=(
                    _proposal(call, state.answer.payload, is_approved=call.pk in approved)
                    if call
                    else None
                ),
            )
        )
    return answers


def _payload_with_links(
    thread: Thread, decision: Decision, payload: Any, loads_until: datetime
) -> Any:
    """Return an answer whose files the agent can load; edited arguments stay as approved."""
    if MARK not in (decision.payload or ""):
        return payload
    linked = with_file_links(payload, thread_id=thread.pk, expires_at=loads_until)
    if isinstance(payload, dict) and "editedArgs" in payload:
        return {**linked, "editedArgs": payload["editedArgs"]}
    return linked


def _agent_payload(state: InterruptState, payload: Any) -> Any:
    """Return an answer in the form that the agent's response schema has for it."""
    form = answer_form(state.agent_schema)
    is_resolved = state.answer is not None and state.answer.status is EntryStatus.RESOLVED
    return form.answer(payload) if form is not None and is_resolved else payload


def _decision_metadata(decision: Decision, *, with_name: bool) -> dict[str, Any]:
    """Return `metadata.signoff` of a resume entry: the actor and time of the decision."""
    by = {"kind": decision.actor_kind, "id": decision.ident}
    if with_name:
        by["name"] = decision.actor_label
    return {"by": by, "at": decision.created_at.isoformat()}


def _approved(interrupts: Sequence[InterruptWithDecision]) -> set[UUID]:
    """
    Return the ids of the calls that were approved by these decisions or earlier ones.

    A denied call is never among them, whatever else was decided about it.
    """
    calls = [item.row.tool_call for item in interrupts if item.row.tool_call]
    may_run = {call.pk for call in calls if call.state != ToolCallState.NOT_RUN}
    approved = {item.row.tool_call_id for item in interrupts if _is_approval(item.row)} & may_run
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
    # If this decision edited the arguments, use them as the reviewer wrote them.
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
    """Return the registry name of a run's agent, "" without such a run; checks no permission."""
    names = Run.objects.filter(pk=run_id).values_list("thread__agent__implementation", flat=True)
    return names.first() or ""
