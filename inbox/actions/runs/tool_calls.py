"""Changing the rows of tool calls; the caller of every function holds the thread's lock."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from inbox.actions.audit import audit_trail
from inbox.models import Decision, Interrupt, Run, Thread, ToolCall
from inbox.models.moves import Move, move_row, move_rows
from inbox.models.statements import Params, Select, insert, save_fields
from inbox.queries.decisions.verified_decisions import check_approval
from inbox.queries.policies.policies import denying_rules
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import Actor, agent_actor
from inbox.rules.runs.states import CLIENT_EFFECT, InterruptStatus, Reason, ToolCallState


class ProposedCall(NamedTuple):
    """A tool call whose arguments are complete; `args` is canonical JSON text of an object."""

    tool_call_id: str
    name: str
    args: str
    original_args: str | None = None  #: as the agent wrote them, if that differs


class CallAttempt(NamedTuple):
    """A tool call that an agent is about to make, with the arguments it would use."""

    tool_call_id: str
    args: str  #: canonical JSON text
    effect: str


def _calls_with_approval(params: Params) -> "QuerySet[Any, Any]":
    """Annotate calls with `is_unapproved`: people were asked, and have not approved."""
    about = Interrupt.objects.filter(tool_call=OuterRef("pk"), reason=Reason.TOOL_CALL)
    not_approved = Exists(about.filter(repeated_by=None).exclude(status=InterruptStatus.RESOLVED))
    rows = ToolCall.objects.filter(thread=params.thread, tool_call_id__in=params.each("ids"))
    return rows.annotate(is_unapproved=not_approved)


_CALLS_TO_START = Select(_calls_with_approval)
_DECISIONS_ABOUT_CALLS = Select(
    lambda params: Decision.objects.filter(
        interrupt__tool_call__pk__in=params.each("ids"),
        interrupt__reason=Reason.TOOL_CALL,
        interrupt__repeated_by=None,
        withdrawn_at=None,
    ).select_related("interrupt")
)
_UNSETTLED = Select(
    lambda params: ToolCall.objects.filter(
        thread=params.thread,
        tool_call_id__in=params.each("ids"),
        state__in=(ToolCallState.PROPOSED, ToolCallState.STARTED),
    )
)
_CALLS = Move(lambda params: ToolCall.objects.filter(pk__in=params.each("ids")))


def store_proposals(
    *, thread: Thread, run: Run, calls: Collection[ProposedCall], now: datetime
) -> list[ToolCall]:
    """Store the tool calls that an agent proposes, and return their rows."""
    if not calls:
        return []
    rows = [
        ToolCall(
            team_id=thread.team_id,
            agent_id=thread.agent_id,
            thread=thread,
            run=run,
            tool_call_id=call.tool_call_id,
            name=call.name,
            args=call.args,
            original_args=call.original_args,
            proposed_at=now,
        )
        for call in calls
    ]
    insert(rows)
    return rows


#: The row of a call that may start, or the reason why not; a RunFailure ends the run.
StartResult = ToolCall | errors.RequestRejected | errors.RunFailure


def start_calls(
    *, thread: Thread, run: Run, attempts: Sequence[CallAttempt], now: datetime
) -> list[StartResult]:
    """
    Start calls, and return for each its row, or the reason why it may not start.

    A settled row has the result, and is not started again. A call is rejected if it is unknown, in
    doubt or not approved, if its arguments differ from the approved ones, if the approval has
    lapsed or does not match its signature, or if the policy in force denies it.
    """
    ids = [call.tool_call_id for call in attempts]
    rows = _CALLS_TO_START.all(thread=thread.pk, ids=ids) if ids else ()
    calls = {row.tool_call_id: row for row in rows}
    failures = _failures(thread, calls.values(), now) | _denials(thread, run, calls.values(), now)
    results: list[StartResult] = []
    started_ids: dict[str, list[UUID]] = {}
    for call in attempts:
        row = calls.get(call.tool_call_id)
        is_unapproved = row is not None and row.is_unapproved
        rejection = _rejection(call, row, is_unapproved=is_unapproved) or (
            row and failures.get(row.pk)
        )
        if rejection is not None or row is None:
            results.append(rejection or errors.NotFound())
            continue
        results.append(row)
        if row.state != ToolCallState.SETTLED:
            started_ids.setdefault(call.effect, []).append(row.pk)
    if any(isinstance(result, errors.RunFailure) for result in results):
        started_ids = {}  # the run ends, so none of the calls starts
    for effect, pks in started_ids.items():
        columns = {"effect": effect, "started_at": now}
        _CALLS.execute(ToolCallState.STARTED, columns, ids=pks)
    _record_starts(thread, run, attempts, results, started_ids, now)
    return results


def settle_calls(
    *,
    thread: Thread,
    run: Run,
    results: Mapping[str, str],
    now: datetime,
    client: Actor | None = None,
) -> None:
    """
    Store results of calls that have none; a call that was not run keeps its state.

    `client` has made the calls itself, else the agent has.
    """
    if not results:
        return
    calls = _UNSETTLED.all(thread=thread.pk, ids=list(results))
    for call in calls:
        move_row(call, ToolCallState.SETTLED)
        call.result, call.settled_at = results[call.tool_call_id], now
        if client is not None:
            call.effect = CLIENT_EFFECT
    save_calls(calls, ["state", "result", "settled_at", "effect"])
    actor = client or agent_actor(thread.agent_id)
    audit_trail.record_all(_settled_entry(thread, run, call, actor, now) for call in calls)


def reset_calls(*, thread: Thread, ids: Sequence[str]) -> None:
    """Set started calls back to proposals; they have had no effect."""
    started = ToolCall.objects.filter(
        thread=thread, tool_call_id__in=ids, state=ToolCallState.STARTED
    )
    move_rows(started, ToolCallState.PROPOSED, effect="", started_at=None)


def calls_in_flight(thread: Thread) -> QuerySet[ToolCall]:
    """Return the `once` calls that were started and have no result."""
    started = ToolCall.objects.filter(thread=thread, state=ToolCallState.STARTED, effect="once")
    return started.order_by("pk")


def mark_in_doubt(thread: Thread) -> None:
    """Mark `once` calls that are still in flight as IN_DOUBT, when their run ends."""
    move_rows(calls_in_flight(thread).order_by(), ToolCallState.IN_DOUBT)


def mark_lapsed(ids: Collection[UUID]) -> None:
    """Mark approved calls that have not started as LAPSED."""
    move_rows(ToolCall.objects.filter(pk__in=ids), ToolCallState.LAPSED)


def calls_by_id(thread: Thread, ids: Iterable[str]) -> dict[str, ToolCall]:
    rows = ToolCall.objects.filter(thread=thread, tool_call_id__in=list(ids))
    return {row.tool_call_id: row for row in rows}


def save_calls(calls: Collection[ToolCall], fields: Sequence[str]) -> None:
    if len(calls) == 1:
        for call in calls:
            save_fields(call, *fields)
    elif calls:
        # An upsert that only ever updates: `bulk_update` builds a CASE per field and row.
        insert(list(calls), update=fields)


def _record_starts(
    thread: Thread,
    run: Run,
    attempts: Sequence[CallAttempt],
    results: Sequence[StartResult],
    started_ids: Mapping[str, Sequence[UUID]],
    now: datetime,
) -> None:
    """Audit the calls that start, with their arguments, and those that are rejected."""
    drafts = []
    started = {pk for pks in started_ids.values() for pk in pks}
    for call, result in zip(attempts, results, strict=True):
        row = result if isinstance(result, ToolCall) else None
        if row and row.pk not in started:
            continue  # it is settled already, or the run ends
        rejection = {"effect": call.effect, "refused": "" if row else str(result)}
        action = "tool.started" if row else "tool.refused"
        attempted = (call.tool_call_id, call.args)
        drafts.append(_attempt_entry(action, thread, run, row, attempted, now, **rejection))
    audit_trail.record_all(drafts)


def record_argument_mismatch(
    *, thread: Thread, run: Run, mismatch: errors.ArgumentsDiffer, now: datetime
) -> None:
    """Audit that an agent repeated a call with other arguments than the approved ones."""
    call = calls_by_id(thread, [mismatch.tool_call_id]).get(mismatch.tool_call_id)
    attempted = (mismatch.tool_call_id, mismatch.arguments)
    draft = _attempt_entry("tool.refused", thread, run, call, attempted, now, refused=str(mismatch))
    audit_trail.record_all([draft])


def _attempt_entry(
    action: str,
    thread: Thread,
    run: Run,
    call: ToolCall | None,
    attempted: tuple[str, str],
    now: datetime,
    **detail: Any,
) -> audit_trail.EntryDraft:
    """Build the entry of a call that was `attempted`, as (tool call id, arguments)."""
    tool_call_id, args = attempted
    return audit_trail.build_entry(
        action,
        agent_actor(thread.agent_id),
        now,
        thread=thread,
        run=run,
        tool_call=call,
        digests={"executed": digest(args)},
        tool=call.name if call else "",
        tool_call_id=tool_call_id,
        args=audit_trail.inline_text(args),
        **detail,
    )


def _settled_entry(
    thread: Thread, run: Run, call: ToolCall, actor: Actor, now: datetime
) -> audit_trail.EntryDraft:
    result = call.result or ""
    return audit_trail.build_entry(
        "tool.settled",
        actor,
        now,
        thread=thread,
        run=run,
        tool_call=call,
        digests={"result": digest(result)},
        tool=call.name,
        tool_call_id=call.tool_call_id,
        result=audit_trail.inline_text(result),
    )


def _failures(
    thread: Thread, calls: Iterable[ToolCall], now: datetime
) -> dict[UUID, errors.RunFailure]:
    """Check the decisions about these calls, and return the failures by call."""
    states = (ToolCallState.PROPOSED, ToolCallState.STARTED)
    waiting = {call.pk: call for call in calls if call.state in states}
    decisions: dict[UUID, list[Decision]] = {}
    for row in _DECISIONS_ABOUT_CALLS.all(ids=list(waiting)) if waiting else ():
        decisions.setdefault(row.interrupt.tool_call_id, []).append(row)  # type: ignore[arg-type]
    failures: dict[UUID, errors.RunFailure] = {}
    for pk, about in decisions.items():
        try:
            check_approval(thread, waiting[pk], about, now)
        except errors.RunFailure as failure:
            failures[pk] = failure
    lapsed = [pk for pk, failure in failures.items() if isinstance(failure, errors.ApprovalLapsed)]
    if lapsed:
        mark_lapsed(lapsed)
    return failures


def _denials(
    thread: Thread, run: Run, calls: Iterable[ToolCall], now: datetime
) -> dict[UUID, errors.RunFailure]:
    """Return the failures of calls that the policy in force denies, whoever approved them."""
    calls = [call for call in calls if call.state != ToolCallState.SETTLED]
    return {
        pk: errors.CallDenied(f"The policy in force denies the call: {', '.join(rules)}.")
        for pk, rules in denying_rules(thread, run.pk, calls, now).items()
    }


def _rejection(
    attempt: CallAttempt, call: ToolCall | None, *, is_unapproved: bool
) -> errors.RequestRejected | None:
    """Return the reason why a call may not start, or None."""
    name = f"Tool call {attempt.tool_call_id!r}"
    if call is None:
        return errors.NotFound(f"{name} was never proposed.")
    if call.state in (ToolCallState.NOT_RUN, ToolCallState.IN_DOUBT, ToolCallState.LAPSED):
        problem = f"may not run: it is {call.state}"
    elif call.state == ToolCallState.STARTED and call.effect == "once":
        problem = "was started before"
    elif is_unapproved and call.state != ToolCallState.SETTLED:
        problem = "was not approved"
    elif attempt.args != call.approved_args:
        return errors.ArgumentsNotApproved(
            f"{name} may not run: these are not the approved arguments."
        )
    else:
        return None
    return errors.Forbidden(f"{name} {problem}.")
