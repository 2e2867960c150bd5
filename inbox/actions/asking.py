"""Storing the questions that a run ended with."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ag_ui.core import Interrupt as WireInterrupt

from agents.agui.interrupts import parse_expiry
from inbox.actions import audit, calls, outbox
from inbox.domain import errors
from inbox.domain.access import agent_actor
from inbox.domain.consent import canonical, view_digest
from inbox.domain.likeness import search_text_of, shape_of
from inbox.domain.masks import Secrets
from inbox.domain.states import InterruptStatus, Reason, ToolCallState
from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.models.interrupts import NEVER

LONGEST_EXPIRY = timedelta(days=30)


def ask(*, thread: Thread, run: Run, interrupts: Sequence[WireInterrupt], now: datetime) -> None:
    """Store the questions of a run that ended interrupted; the caller holds the lock."""
    ids = [item.id for item in interrupts]
    if Interrupt.objects.filter(thread=thread, interrupt_id__in=ids).exists():
        # A retried answer to the first question would answer the second (threats, row 53).
        raise errors.ProtocolBroken("An interrupt id was used before on this thread.")
    asked_about = calls.by_id(
        thread, [item.tool_call_id for item in interrupts if item.tool_call_id]
    )
    # An agent that asks about a call it began says that the call paused before its effect. For a
    # `once` call its word is not enough: that one is in doubt by now.
    paused = [call.pk for call in asked_about.values() if call.state == ToolCallState.STARTED]
    if paused:
        ToolCall.objects.filter(pk__in=paused).update(state=ToolCallState.PROPOSED)
    asked = Interrupt.objects.bulk_create(
        _interrupt(thread, run, item, asked_about.get(item.tool_call_id or ""), position, now)
        for position, item in enumerate(interrupts)
    )
    audit.record_all(
        audit.entry(
            action="interrupt.opened",
            actor=agent_actor(thread.agent_id),
            now=now,
            thread=thread,
            run=run,
            interrupt=row,
            tool_call=row.tool_call,
            digests=audit.digests_of(row),
            state=("", InterruptStatus.OPEN),
            title=row.title,
            reason=row.reason,
            tool=row.tool,
            args=row.args and audit.kept(row.args),
        )
        for row in asked
    )
    outbox.interrupts_opened(thread=thread, interrupts=asked, now=now)


def _interrupt(
    thread: Thread,
    run: Run,
    item: WireInterrupt,
    call: ToolCall | None,
    position: int,
    now: datetime,
) -> Interrupt:
    asked = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    expires_at = (
        min(parse_expiry(item.expires_at), now + LONGEST_EXPIRY) if item.expires_at else None
    )
    args = json.loads(call.approved_args) if call else None
    title = _title(item, call)
    tool = call.name if call else ""
    return Interrupt(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=thread,
        run=run,
        tool_call=call,
        interrupt_id=item.id,
        position=position,
        reason=item.reason,
        args=call.approved_args if call else None,
        title=title,
        tool=tool,
        shape=_shape(thread, item, tool, args),
        search_text=search_text_of(title, item.message or "", tool, args=_searchable(item, args)),
        # In the agent's order, which is that of the form's fields; only the digest is canonical.
        body=json.dumps(asked, ensure_ascii=False),
        view_digest=view_digest(
            {
                "interrupt": canonical(asked),
                "tool": call.name if call else None,
                "args": call.approved_args if call else None,
            }
        ),
        status=InterruptStatus.OPEN,
        expires_at=expires_at,
        due_at=expires_at or NEVER,
        created_at=now,
    )


def _searchable(item: WireInterrupt, args: Any) -> Any:
    """The arguments without their secrets: nobody finds out one by searching for it."""
    return Secrets(item.response_schema, at="editedArgs").masked(args)


def _shape(thread: Thread, item: WireInterrupt, tool: str, args: Any) -> str:
    """Only approvals of a call are alike: whatever else is asked has an answer of its own."""
    if not tool or item.reason != Reason.TOOL_CALL:
        return ""
    return shape_of(agent=str(thread.agent_id), tool=tool, args=args, schema=item.response_schema)


def _title(item: WireInterrupt, call: ToolCall | None) -> str:
    text = item.message or (f"Call {call.name}" if call else item.reason)
    return " ".join(text.split())[:300] or item.reason[:300]
