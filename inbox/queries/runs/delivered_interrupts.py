"""What a thread has asked, for clients that do not send the ids of what they answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from inbox.models import Agent, Decision, DeliveredOutcome, Interrupt, Run, Thread
from inbox.queries.people.access import require
from inbox.queries.runs.interrupt_states import load_interrupt_states, wire_interrupt
from inbox.rules.errors import UnknownInterrupt, ViewChanged
from inbox.rules.people.access import Actor, Permission, actor_key
from inbox.rules.runs.contract import ResumeEntry


@dataclass(frozen=True)
class DeliveredInterrupt:
    """One interrupt of a run, with the answer that stands."""

    pk: UUID
    run: Run = field(repr=False)
    interrupt_id: str
    reason: str
    is_open: bool
    shown_digest: str
    body: Mapping[str, Any] = field(repr=False)
    messages: Sequence[Any] = field(repr=False)  #: of the thread
    answer: ResumeEntry | None = None
    args: Any = None  #: of the tool call, as it was proposed


def interrupts_to_answer(
    actor: Actor, agent: Agent, thread_id: str, interrupt_id: str
) -> Sequence[DeliveredInterrupt]:
    """
    The interrupts of the run that asked this one, else of the thread's latest run that asked any.

    Raises:
        NotFound, Forbidden: the actor may not decide.
        UnknownInterrupt: nothing was asked.
    """
    require(actor, agent.team_id, Permission.DECIDE, agent.pk)
    thread = _thread(agent, thread_id)
    asked = Interrupt.objects.filter(thread=thread)
    if interrupt_id:
        asked = asked.filter(interrupt_id=interrupt_id)
    latest = asked.select_related("run").order_by("-created_at", "position").first()
    if latest is None:
        raise UnknownInterrupt("No interrupt is open on this thread.")
    return interrupts_of_run(thread, latest.run)


def interrupts_of_run(thread: Thread, run: Run) -> Sequence[DeliveredInterrupt]:
    """Return the interrupts of a run of the thread, as clients get them now."""
    messages = json.loads(thread.messages)
    return [
        DeliveredInterrupt(
            pk=row.pk,
            run=run,
            interrupt_id=row.interrupt_id,
            reason=row.reason,
            is_open=question.is_open,
            shown_digest=row.shown_digest,
            body=wire_interrupt(row),
            messages=messages,
            answer=question.answer,
            args=json.loads(row.tool_call.args) if row.tool_call else None,
        )
        for row, question, _ in load_interrupt_states(run)
    ]


class Delivered(NamedTuple):
    """What a client of an older dialect was told of last."""

    asked: Sequence[DeliveredInterrupt]  #: the interrupts of the run
    told: Sequence[str]  #: the ids of those that the client was told of


def delivered_to(actor: Actor, agent: Agent, thread_id: str, run_id: str) -> Delivered:
    """
    Return what an answer of this actor counts for that names no interrupt.

    That is what was delivered to the actor last on the thread. If the request is a repeat, which
    its runId tells, it is what the request answered before: later interrupts were delivered after
    it was sent.

    Raises:
        NotFound, Forbidden: the actor may not decide.
        ViewChanged: the actor was told of none.
        UnknownInterrupt: there is no such thread.
    """
    require(actor, agent.team_id, Permission.DECIDE, agent.pk)
    thread = _thread(agent, thread_id)
    delivered = DeliveredOutcome.objects.filter(thread=thread, actor=actor_key(actor))
    row = delivered.select_related("run").first()
    if row is None:
        raise ViewChanged("Name the interrupt that this answers: none was delivered to you here.")
    # Read after the delivery: a decision is stored before the next interrupt is delivered.
    rows = Decision.objects.filter(interrupt__thread=thread, client_run_id=run_id)
    decisions = [one for one in rows.select_related("interrupt__run") if one.is_by(actor)]
    if any(one.withdrawn_at for one in decisions):
        raise ViewChanged("This answer was withdrawn. Send a new one, with a new runId.")
    before = [one.interrupt for one in decisions]
    if before:
        return Delivered(
            interrupts_of_run(thread, before[0].run), [one.interrupt_id for one in before]
        )
    return Delivered(interrupts_of_run(thread, row.run), row.interrupt_ids)


def _thread(agent: Agent, thread_id: str) -> Thread:
    thread = Thread.objects.filter(agent=agent, external_id=thread_id).first()
    if thread is None:
        raise UnknownInterrupt("No interrupt is open on this thread.")
    return thread
