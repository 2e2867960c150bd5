"""Storing the interrupts that a run ended with."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ag_ui.core import Interrupt as WireInterrupt

from agents.agui.interrupts import parse_expiry
from inbox.actions.audit import audit_trail
from inbox.actions.files.attachments import attach_files
from inbox.actions.notifications.announcements import announce
from inbox.actions.policies.rulings import audit_detail, rule_on, store_rulings
from inbox.actions.runs import tool_calls as calls
from inbox.actions.webhooks import outbox
from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.models.moves import move_rows
from inbox.models.runs.interrupts import NEVER
from inbox.models.statements import Select, insert
from inbox.platform.monitoring.metrics import REQUESTS_OPENED
from inbox.queries.policies.policies import is_answered_by_policy
from inbox.rules.decisions.approvals import takes_approval
from inbox.rules.decisions.consent import SIGNOFF, view_version
from inbox.rules.decisions.similarity import search_text_of, similarity_key
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import agent_actor
from inbox.rules.presentations.metadata_values import risk_of
from inbox.rules.presentations.vocabulary import present_of
from inbox.rules.runs.headings import MAX_HEADING_CHARACTERS, heading_of
from inbox.rules.runs.proposals import proposal_of
from inbox.rules.runs.questions import with_answer_schema, with_approval_schema
from inbox.rules.runs.states import InterruptStatus, ToolCallState
from inbox.rules.schema.mask_agui import SECRETS, argument_schemas
from inbox.rules.schema.secrets import NAMES, Secrets

MAX_TOOL_NAME_CHARACTERS = 200
_INTERRUPTS_BY_ID = Select(
    lambda params: Interrupt.objects.filter(
        thread=params.thread, interrupt_id__in=params.each("ids")
    ).values_list("interrupt_id", flat=True)
)
#: The members of `metadata.signoff` that are the agent's.
AGENT_MEMBERS = ("present", "files", SECRETS)


def build_interrupts(
    *,
    thread: Thread,
    run: Run,
    interrupts: Sequence[WireInterrupt],
    proposed: Iterable[ToolCall] = (),
    endpoint: str,
    now: datetime,
    has_history: bool = True,
) -> list[Interrupt]:
    """
    Return the rows of the interrupts that a run ends with; `open_interrupts` stores them.

    Without `has_history` the thread has no earlier interrupts.

    `proposed` are the tool calls stored in the same transaction; earlier ones are read here.
    `endpoint` is the digest of a remote agent's address, "" for an agent of this installation.
    """
    tool_calls = {call.tool_call_id: call for call in proposed}
    call_ids = {interrupt.tool_call_id for interrupt in interrupts if interrupt.tool_call_id}
    if earlier_ids := call_ids - tool_calls.keys():
        tool_calls |= calls.calls_by_id(thread, earlier_ids)
    used_ids = _used_ids(thread, interrupts) if has_history else set()
    rows = [
        _interrupt(
            thread,
            run,
            interrupt,
            # An agent's id is a name inside one turn; `body` keeps it for the agent.
            f"{run.pk}-{position}" if interrupt.id in used_ids else interrupt.id,
            tool_calls.get(interrupt.tool_call_id or ""),
            position,
            endpoint,
            now,
        )
        for position, interrupt in enumerate(interrupts)
    ]
    rule_on(thread=thread, run=run, rows=rows, now=now)
    attach_files(thread, rows)
    for row in rows:
        row.view_digest = row.digest_at_creation()
    return rows


def open_interrupts(*, thread: Thread, run: Run, rows: Sequence[Interrupt], now: datetime) -> None:
    """Store the interrupts of a run that ended interrupted; the caller holds the lock."""
    insert(rows)
    REQUESTS_OPENED.add_on_commit(number=len(rows))
    # An interrupt about a started call means that the call paused before its effect. A `once` call
    # is IN_DOUBT by now, and stays so: the agent's word is not enough for it.
    begun = [row.tool_call.pk for row in rows if row.tool_call and row.tool_call.started_at]
    if begun:
        started = ToolCall.objects.filter(pk__in=begun, state=ToolCallState.STARTED)
        move_rows(started, ToolCallState.PROPOSED)
    store_rulings(rows)
    audit_trail.record_all(
        audit_trail.build_entry(
            "interrupt.opened",
            agent_actor(thread.agent_id),
            now,
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
            **_ruling_detail(row),
        )
        for row in rows
    )
    # People need not be told of what the policy answers in this transaction.
    for_people = [row for row in rows if not is_answered_by_policy(row)]
    outbox.interrupts_opened(thread=thread, interrupts=for_people, now=now)
    announce(AnnouncementKind.OPENED, for_people, now)


def _used_ids(thread: Thread, interrupts: Sequence[WireInterrupt]) -> set[str]:
    """Return those ids of the interrupts that earlier ones of the thread have."""
    ids = [interrupt.id for interrupt in interrupts]
    return set(_INTERRUPTS_BY_ID.all(thread=thread.pk, ids=ids)) if ids else set()


def _ruling_detail(row: Interrupt) -> dict[str, Any]:
    if row.ruling is None:
        return {}
    return {"policy": audit_detail(row.ruling)}


def _interrupt(
    thread: Thread,
    run: Run,
    interrupt: WireInterrupt,
    interrupt_id: str,
    call: ToolCall | None,
    position: int,
    endpoint: str,
    now: datetime,
) -> Interrupt:
    body = with_answer_schema(_agent_body(interrupt))
    if not run.pulled:  # a program gets the answer as it was given
        body = with_approval_schema(body)
    expires_at = parse_expiry(interrupt.expires_at) if interrupt.expires_at else None
    args = json.loads(call.approved_args) if call else None
    proposal = proposal_of(body) if call is None else None
    tool = call.name if call else ""
    if proposal is not None and proposal.is_call:
        tool = proposal.name[:MAX_TOOL_NAME_CHARACTERS]
    # Only approvals are similar to each other.
    similarity = ""
    is_approval = takes_approval(reason=interrupt.reason, schema=interrupt.response_schema)
    if call and is_approval:
        similarity = similarity_key(
            agent=str(thread.agent_id), tool=tool, args=args, schema=interrupt.response_schema
        )
    message = interrupt.message or ""
    # Sentences of programs outside of this installation are no headings.
    is_operators = not (endpoint or run.pulled)
    present = present_of(body)
    risk = risk_of(body, present)
    # Masked: neither a heading nor a search may reveal a secret.
    masked_args = Secrets(*argument_schemas(body), at="editedArgs").masked(args)
    title = heading_of(
        reason=interrupt.reason,
        message=(is_operators and present.title) or message,
        is_operators=is_operators,
        tool=tool,
        values=(NAMES.masked(proposal.values) if proposal else masked_args) or {},
        agent=thread.agent.slug,
        is_approval=is_approval,
        is_program=run.pulled,
        templates=thread.team.headings,
    )
    return Interrupt(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=thread,
        run=run,
        tool_call=call,
        interrupt_id=interrupt_id,
        position=position,
        reason=interrupt.reason,
        args=call.approved_args if call else None,
        title=title,
        message=" ".join(message.split())[:MAX_HEADING_CHARACTERS],
        tool=tool,
        similarity_key=similarity,
        search_text=search_text_of(title, message, tool, args=masked_args),
        # Not canonical: the agent's order of members is the order of the form's fields.
        body=json.dumps(body, ensure_ascii=False),
        endpoint_digest=endpoint,
        view_version=view_version(
            has_present=SIGNOFF in (body.get("metadata") or {}), has_ruling=False
        ),
        severity=risk.severity or "",
        is_reversible=risk.is_reversible,
        status=InterruptStatus.OPEN,
        expires_at=expires_at,
        due_at=expires_at or NEVER,
        created_at=now,
    )


def _agent_body(interrupt: WireInterrupt) -> dict[str, Any]:
    """Return the interrupt as JSON, with only the agent's part of `metadata.signoff`."""
    body: dict[str, Any] = interrupt.model_dump(mode="json", by_alias=True, exclude_none=True)
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and SIGNOFF in metadata:
        signoff = metadata.pop(SIGNOFF)
        if isinstance(signoff, dict):
            stored = {name: signoff[name] for name in AGENT_MEMBERS if name in signoff}
            if stored:
                metadata[SIGNOFF] = stored
    return body
