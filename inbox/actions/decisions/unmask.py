"""Unmasking values for one person, with an audit entry each time."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
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
from inbox.queries.people.access import require_fresh_sign_in, require_person
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission

#: Limits of the places in an audit entry.
_MAX_PLACES, _MAX_PLACE_CHARACTERS = 100, 200


@transaction.atomic(durable=True)
def unmask_interrupt(*, interrupt_id: UUID, what: str, actor: Actor) -> str:
    """
    Return the part `what` of an interrupt without masks (names of `masked_values_of_interrupt`).

    Every call writes an `audit.revealed` entry with the actor and the places, never the values.

    Raises:
        NotFound: there is no such part, or nothing in it is masked.
        Forbidden: only people who decide in the team.
        ReauthenticationRequired.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    user_id = require_person(actor, thread.team_id, Permission.DECIDE)
    require_fresh_sign_in(actor, now)
    row = Interrupt.objects.select_related("tool_call").get(pk=interrupt_id)
    decision = Decision.objects.filter(interrupt=row, withdrawn_at=None).first()
    parts = masked_values_of_interrupt(row, decision)
    text = _unmask(parts, what, actor, now, thread=thread, interrupt=row, tool_call=row.tool_call)
    Unmasking.objects.get_or_create(
        interrupt=row,
        user_id=user_id,
        view_digest=row.shown_digest,
        value_set=what,
        defaults={"at": now},
    )
    return text


@transaction.atomic(durable=True)
def unmask_tool_call(*, call_id: UUID, what: str, actor: Actor) -> str:
    """Return the part `what` of a tool call without masks, like `unmask_interrupt`."""
    thread, now = lock_thread(tool_calls=call_id)
    require_person(actor, thread.team_id, Permission.DECIDE)
    require_fresh_sign_in(actor, now)
    call = ToolCall.objects.get(pk=call_id)
    started = AuditEntry.objects.filter(chain=thread.pk, tool_call=call, action="tool.started")
    entries = started.select_related("payload").order_by("seq")
    parts = masked_values_of_call(call, call.interrupts.all(), entries)
    return _unmask(parts, what, actor, now, thread=thread, tool_call=call)


def _unmask(
    parts: Mapping[str, MaskedValues], what: str, actor: Actor, now: datetime, **rows: Any
) -> str:
    """Return the text of a part, and record its masked places; raises NotFound if it has none."""
    masked_values = parts.get(what)
    if masked_values is None or not masked_values.places:
        raise NotFound()
    places = [place[:_MAX_PLACE_CHARACTERS] for place in masked_values.places[:_MAX_PLACES]]
    detail = {"what": what, "places": places, "count": len(masked_values.places)}
    audit_trail.record("audit.revealed", actor, now, **rows, **detail)
    return masked_values.text
