"""Storing the questions that a run ended with."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ag_ui.core import Interrupt as WireInterrupt

from agents.agui.interrupts import parse_expiry
from inbox.actions.audit import audit_trail
from inbox.actions.runs import tool_calls as calls
from inbox.actions.webhooks import outbox
from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.models.interrupts import NEVER
from inbox.models.moves import move_rows
from inbox.models.statements import Select, insert
from inbox.rules import errors
from inbox.rules.decisions.consent import (
    SIGNOFF,
    VIEW_VERSION,
    view_digest,
    without_signoff_metadata,
)
from inbox.rules.decisions.similarity import search_text_of, similarity_key
from inbox.rules.people.access import agent_actor
from inbox.rules.runs.headings import MAX_HEADING_CHARACTERS, heading_of
from inbox.rules.runs.proposals import Proposal, proposal_of
from inbox.rules.runs.states import InterruptStatus, Reason, ToolCallState
from inbox.rules.schema.secrets import NAMES, Secrets

#: Characters of a tool's name, as of a call's.
MAX_TOOL = 200


def build_interrupts(
    *,
    thread: Thread,
    run: Run,
    interrupts: Sequence[WireInterrupt],
    proposed: Iterable[ToolCall] = (),
    endpoint: str,
    now: datetime,
) -> list[Interrupt]:
    """
    Return the rows of the interrupts that a run ends with; `open_interrupts` stores them.

    `proposed` are the calls that were stored with them; those from before are read. `endpoint` is
    the digest of where the agent is, "" for one of this installation.
    """
    tool_calls = {call.tool_call_id: call for call in proposed}
    call_ids = {item.tool_call_id for item in interrupts if item.tool_call_id}
    if before := call_ids - tool_calls.keys():
        tool_calls |= calls.calls_by_id(thread, before)
    return [
        _interrupt(
            thread,
            run,
            item,
            tool_calls.get(item.tool_call_id or ""),
            position,
            endpoint,
            now,
            is_operators=not endpoint,
        )
        for position, item in enumerate(interrupts)
    ]


_USED_IDS = Select(
    lambda params: Interrupt.objects.filter(
        thread=params.thread, interrupt_id__in=params.each("ids")
    ).values_list("interrupt_id", flat=True)[:1]
)


def open_interrupts(*, thread: Thread, run: Run, rows: Sequence[Interrupt], now: datetime) -> None:
    """
    Store the interrupts of a run that ended interrupted; the caller holds the lock.

    Raises:
        ProtocolBroken: an id was used before on the thread.
    """
    ids = [row.interrupt_id for row in rows]
    if _USED_IDS.first(thread=thread.pk, ids=ids):
        # A retried answer to the first interrupt would answer the second.
        raise errors.ProtocolBroken("An interrupt id was used before on this thread.")
    # An agent that asks about a call it began says that the call paused before its effect. For a
    # `once` call its word is not enough: that one is in doubt by now.
    begun = [row.tool_call.pk for row in rows if row.tool_call and row.tool_call.started_at]
    if begun:
        started = ToolCall.objects.filter(pk__in=begun, state=ToolCallState.STARTED)
        move_rows(started, ToolCallState.PROPOSED)
    insert(rows)
    audit_trail.record_all(
        audit_trail.build_entry(
            action="interrupt.opened",
            actor=agent_actor(thread.agent_id),
            now=now,
            thread=thread,
            run=run,
            interrupt=row,
            tool_call=row.tool_call,
            digests=audit_trail.digests_of(row),
            state=("", InterruptStatus.OPEN),
            title=row.title,
            reason=row.reason,
            tool=row.tool,
            args=row.args and audit_trail.inline_text(row.args),
        )
        for row in rows
    )
    outbox.interrupts_opened(thread=thread, interrupts=rows, now=now)


def _interrupt(
    thread: Thread,
    run: Run,
    item: WireInterrupt,
    call: ToolCall | None,
    position: int,
    endpoint: str,
    now: datetime,
    *,
    is_operators: bool,
) -> Interrupt:
    asked = _as_asked(item)
    expires_at = parse_expiry(item.expires_at) if item.expires_at else None
    args = json.loads(call.approved_args) if call else None
    proposal = proposal_of(asked) if call is None else None
    tool = call.name if call else _tool_of(proposal)
    message = item.message or ""
    shown_args = _without_secrets(item, args)
    title = heading_of(
        reason=item.reason,
        message=message,
        is_operators=is_operators,
        tool=tool,
        values=(NAMES.masked(proposal.values) if proposal else shown_args) or {},
        written=thread.team.headings,
    )
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
        message=" ".join(message.split())[:MAX_HEADING_CHARACTERS],
        tool=tool,
        shape=_shape(thread, item, tool, args),
        search_text=search_text_of(title, message, tool, args=shown_args),
        # In the agent's order, which is that of the form's fields; only the digest is canonical.
        body=json.dumps(asked, ensure_ascii=False),
        view_digest=view_digest(
            version=VIEW_VERSION,
            asked=without_signoff_metadata(asked),
            tool=call.name if call else None,
            args=call.approved_args if call else None,
        ),
        view_version=VIEW_VERSION,
        endpoint_digest=endpoint,
        status=InterruptStatus.OPEN,
        expires_at=expires_at,
        due_at=expires_at or NEVER,
        created_at=now,
    )


def _as_asked(item: WireInterrupt) -> dict[str, Any]:
    """Return what the agent asks; of `metadata.signoff` only `present` is the agent's."""
    asked: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    metadata = asked.get("metadata")
    if isinstance(metadata, dict) and SIGNOFF in metadata:
        given = metadata.pop(SIGNOFF)
        if isinstance(given, dict) and "present" in given:
            metadata[SIGNOFF] = {"present": given["present"]}
    return asked


def _tool_of(proposal: Proposal | None) -> str:
    """The tool that is proposed without a call, for lists and filters; "" if none is."""
    return proposal.name[:MAX_TOOL] if proposal and proposal.is_call else ""


def _without_secrets(item: WireInterrupt, args: Any) -> Any:
    """The arguments with masks: nobody finds out a secret by searching, or in a heading."""
    return Secrets(item.response_schema, at="editedArgs").masked(args)


def _shape(thread: Thread, item: WireInterrupt, tool: str, args: Any) -> str:
    """Only approvals of a call are alike: whatever else is asked has an answer of its own."""
    if not tool or item.reason != Reason.TOOL_CALL:
        return ""
    return similarity_key(
        agent=str(thread.agent_id), tool=tool, args=args, schema=item.response_schema
    )
