"""Showing what is masked to one person, once, and writing it down."""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import AuditEntry, Decision, Interrupt, ToolCall, Unmasking
from inbox.models.locks import lock_thread
from inbox.queries.decisions.masked_values import (
    MaskedValues,
    masked_values_of_call,
    masked_values_of_interrupt,
)
from inbox.queries.people.access import require_person
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission

#: So many places are named in the trail, and of each so much.
_MOST_PLACES, _LONGEST_PLACE = 100, 200


@transaction.atomic(durable=True)
def unmask_interrupt(*, interrupt_id: UUID, what: str, actor: Actor) -> str:
    """
    Return what a request has under this name of `masked_values_of_interrupt`, without masks.

    Each time anew an `audit.revealed` in the trail: who, what, and where, never the values.

    Raises:
        NotFound: also where nothing is masked.
        Forbidden: only people who decide in the team.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    row = Interrupt.objects.select_related("tool_call").get(pk=interrupt_id)
    decision = Decision.objects.filter(interrupt=row, withdrawn_at=None).first()
    veiled = _masked(masked_values_of_interrupt(row, decision), what)
    Unmasking.objects.get_or_create(
        interrupt=row,
        user_id=user_id,
        view_digest=row.shown_digest,
        what=what,
        defaults={"at": now},
    )
    audit_trail.record(
        action="audit.revealed",
        actor=actor,
        now=now,
        thread=thread,
        interrupt=row,
        tool_call=row.tool_call,
        **_told(what, veiled),
    )
    return veiled.text


@transaction.atomic(durable=True)
def unmask_tool_call(*, call_id: UUID, what: str, actor: Actor) -> str:
    """The same for what a tool call has under this name of `masked_values_of_call`."""
    thread, now = lock_thread(tool_calls=call_id)
    require_person(actor, thread.team_id, Permission.DECIDE)
    call = ToolCall.objects.get(pk=call_id)
    started = AuditEntry.objects.filter(chain=thread.pk, tool_call=call, action="tool.started")
    entries = started.select_related("payload").order_by("seq")
    veiled = _masked(masked_values_of_call(call, call.interrupts.all(), entries), what)
    audit_trail.record(
        action="audit.revealed",
        actor=actor,
        now=now,
        thread=thread,
        tool_call=call,
        **_told(what, veiled),
    )
    return veiled.text


def _masked(known: Mapping[str, MaskedValues], what: str) -> MaskedValues:
    veiled = known.get(what)
    if veiled is None or not veiled.places:
        raise NotFound()
    return veiled


def _told(what: str, veiled: MaskedValues) -> dict[str, object]:
    places = [place[:_LONGEST_PLACE] for place in veiled.places[:_MOST_PLACES]]
    return {"what": what, "places": places, "count": len(veiled.places)}
