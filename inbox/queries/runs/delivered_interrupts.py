"""Interrupts of a thread, for older clients that answer without sending interrupt ids."""

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
    """An interrupt of a run as clients get it, with the decision in force."""

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
    Return the interrupts of the run with this interrupt, or of the latest interrupted run.

    Raises:
        NotFound, Forbidden: the actor may not decide.
        UnknownInterrupt: the thread has no such interrupt.
    """
    require(actor, agent.team_id, Permission.DECIDE, agent.pk)
    thread = _thread(agent, thread_id)
    rows = Interrupt.objects.filter(thread=thread)
    if interrupt_id:
        rows = rows.filter(interrupt_id=interrupt_id)
    latest = rows.select_related("run").order_by("-created_at", "position").first()
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
            is_open=state.is_open,
            shown_digest=row.shown_digest,
            body=wire_interrupt(row),
            messages=messages,
            answer=state.answer,
            args=json.loads(row.tool_call.args) if row.tool_call else None,
        )
        for row, state, _ in load_interrupt_states(run)
    ]


class Delivered(NamedTuple):
    """The outcome that was last delivered to a client of an older dialect."""

    interrupts: Sequence[DeliveredInterrupt]  #: all of the run
    delivered_ids: Sequence[str]  #: of the interrupts that the client received


def delivered_to(actor: Actor, agent: Agent, thread_id: str, run_id: str) -> Delivered:
    """
    Return the interrupts that an answer without interrupt ids is for.

    These are the last ones delivered to the actor on the thread. If the runId shows that the
    request is a retry, these are the ones that it answered before: later interrupts were delivered
    after it was sent.

    Raises:
        NotFound, Forbidden: the actor may not decide.
        ViewChanged: no interrupt was delivered to the actor.
        UnknownInterrupt: there is no such thread.
    """
    require(actor, agent.team_id, Permission.DECIDE, agent.pk)
    thread = _thread(agent, thread_id)
    delivered = DeliveredOutcome.objects.filter(thread=thread, actor=actor_key(actor))
    row = delivered.select_related("run").first()
    if row is None:
        raise ViewChanged("Send the id of the interrupt: none of this thread was delivered to you.")
    # Read after the delivery: a decision is stored before the next interrupt is delivered.
    rows = Decision.objects.filter(interrupt__thread=thread, client_run_id=run_id)
    decisions = [row for row in rows.select_related("interrupt__run") if row.is_by(actor)]
    if any(decision.withdrawn_at for decision in decisions):
        raise ViewChanged("This answer was withdrawn. Send a new one, with a new runId.")
    decided = [decision.interrupt for decision in decisions]
    if decided:
        interrupts = interrupts_of_run(thread, decided[0].run)
        return Delivered(interrupts, [interrupt.interrupt_id for interrupt in decided])
    return Delivered(interrupts_of_run(thread, row.run), row.interrupt_ids)


def _thread(agent: Agent, thread_id: str) -> Thread:
    thread = Thread.objects.filter(agent=agent, external_id=thread_id).first()
    if thread is None:
        raise UnknownInterrupt("No interrupt is open on this thread.")
    return thread
