"""What a thread has asked, for clients that do not send the ids of what they answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from inbox.actions.questions import load_questions
from inbox.domain.access import Actor, Permission
from inbox.domain.contract import Entry
from inbox.domain.errors import UnknownInterrupt
from inbox.models import Agent, Interrupt, Run, Thread
from inbox.selectors.access import require


@dataclass(frozen=True)
class Asked:
    """One interrupt of a run, with the answer that stands."""

    pk: UUID
    interrupt_id: str
    reason: str
    is_open: bool
    shown_digest: str
    body: Mapping[str, Any] = field(repr=False)
    messages: Sequence[Any] = field(repr=False)  #: of the thread
    answer: Entry | None = None
    args: Any = None  #: of the tool call, as it was proposed


def asked_on(actor: Actor, agent: Agent, thread_id: str, interrupt_id: str) -> Sequence[Asked]:
    """
    The interrupts of the run that asked this one, else of the thread's latest run that asked any.

    Raises:
        NotFound, Forbidden: the actor may not decide.
        UnknownInterrupt: nothing was asked.
    """
    require(actor, agent.team_id, Permission.DECIDE, agent.pk)
    thread = Thread.objects.filter(agent=agent, external_id=thread_id).first()
    run = _run_that_asked(thread, interrupt_id) if thread else None
    if thread is None or run is None:
        raise UnknownInterrupt("No interrupt is open on this thread.")
    messages = json.loads(thread.messages)
    return [
        Asked(
            pk=row.pk,
            interrupt_id=row.interrupt_id,
            reason=row.reason,
            is_open=question.is_open,
            shown_digest=row.shown_digest,
            body=json.loads(row.body),
            messages=messages,
            answer=question.answer,
            args=json.loads(row.tool_call.args) if row.tool_call else None,
        )
        for row, question in load_questions(run)
    ]


def _run_that_asked(thread: Thread, interrupt_id: str) -> Run | None:
    asked = Interrupt.objects.filter(thread=thread)
    if interrupt_id:
        asked = asked.filter(interrupt_id=interrupt_id)
    found = asked.select_related("run").order_by("-created_at", "position").first()
    return found.run if found else None
