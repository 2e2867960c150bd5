"""The rows of tool calls: begun, settled, in doubt; the caller holds the thread's lock."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from inbox.actions.audit import audit_trail
from inbox.models import Decision, Interrupt, Run, Thread, ToolCall
from inbox.models.moves import Move, move_row, move_rows
from inbox.models.statements import Params, Select, insert, save_fields
from inbox.queries.decisions.verified_decisions import check_approval
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.people.access import agent_actor
from inbox.rules.runs.states import InterruptStatus, Reason, ToolCallState


class ProposedCall(NamedTuple):
    """A tool call whose arguments are complete; `args` is canonical JSON text of an object."""

    tool_call_id: str
    name: str
    args: str
    args_written: str | None = None  #: the same as the agent wrote it, where that differs


class CallAttempt(NamedTuple):
    """A tool call that an agent is about to make, with the arguments it would use."""

    tool_call_id: str
    args: str  #: canonical JSON text
    effect: str


def _calls_with_approval(params: Params) -> "QuerySet[Any, Any]":
    """Annotate calls with `is_unapproved`: people were asked, and have not approved."""
    about = Interrupt.objects.filter(tool_call=OuterRef("pk"), reason=Reason.TOOL_CALL)
    refused = Exists(about.filter(repeated_by=None).exclude(status=InterruptStatus.RESOLVED))
    rows = ToolCall.objects.filter(thread=params.thread, tool_call_id__in=params.each("ids"))
    return rows.annotate(is_unapproved=refused)


_CALLS_TO_BEGIN = Select(_calls_with_approval)
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
    """Store what an agent wants to do, and return it."""
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
            args_written=call.args_written,
            proposed_at=now,
        )
        for call in calls
    ]
    insert(rows)
    return rows


#: A call that may begin; else why not. A RunFailure ends the run, whatever its agent makes of it.
StartResult = ToolCall | errors.RequestRejected | errors.RunFailure


def start_calls(
    *, thread: Thread, run: Run, wanted: Sequence[CallAttempt], now: datetime
) -> list[StartResult]:
    """
    Let calls begin, and return their rows; settled rows have the result.

    What is refused is returned in its place: the call is unknown, not approved, in doubt, or its
    arguments are not the approved ones; the approval is not what was signed, or has lapsed.
    """
    calls, unapproved = _calls_to_begin(thread, [call.tool_call_id for call in wanted])
    failures = _failures(thread, calls.values(), now)
    answers: list[StartResult] = []
    begun: dict[str, list[UUID]] = {}
    for call in wanted:
        row = calls.get(call.tool_call_id)
        refusal = _refusal(call, row, unapproved) or (row and failures.get(row.pk))
        if refusal is not None or row is None:
            answers.append(refusal or errors.NotFound())
            continue
        answers.append(row)
        if row.state != ToolCallState.SETTLED:
            begun.setdefault(call.effect, []).append(row.pk)
    if any(isinstance(answer, errors.RunFailure) for answer in answers):
        begun = {}  # the run ends: none of them starts
    for effect, rows in begun.items():
        columns = {"effect": effect, "started_at": now}
        _CALLS.execute(ToolCallState.STARTED, columns, ids=rows)
    _record_beginnings(thread, run, wanted, answers, begun, now)
    return answers


def settle_calls(*, thread: Thread, run: Run, results: Mapping[str, str], now: datetime) -> None:
    """Keep results where there are none yet: a call that did not run keeps saying so."""
    if not results:
        return
    calls = _UNSETTLED.all(thread=thread.pk, ids=list(results))
    for call in calls:
        move_row(call, ToolCallState.SETTLED)
        call.result, call.settled_at = results[call.tool_call_id], now
    save_calls(calls, ["state", "result", "settled_at"])
    audit_trail.record_all(_of_settled(thread, run, call, now) for call in calls)


def reset_calls(*, thread: Thread, ids: Sequence[str]) -> None:
    """Make calls that were started proposals again: they have done nothing yet."""
    started = ToolCall.objects.filter(
        thread=thread, tool_call_id__in=ids, state=ToolCallState.STARTED
    )
    move_rows(started, ToolCallState.PROPOSED, effect="", started_at=None)


def calls_in_flight(thread: Thread) -> QuerySet[ToolCall]:
    """The `once` calls that were started and have no result: their effect may have happened."""
    started = ToolCall.objects.filter(thread=thread, state=ToolCallState.STARTED, effect="once")
    return started.order_by("pk")


def mark_in_doubt(thread: Thread) -> None:
    """A run that ends leaves no call started: nothing may call it again without being told."""
    move_rows(calls_in_flight(thread).order_by(), ToolCallState.IN_DOUBT)


def mark_lapsed(ids: Collection[UUID]) -> None:
    """Say of calls that were approved and have not started that their approval is used no more."""
    move_rows(ToolCall.objects.filter(pk__in=ids), ToolCallState.LAPSED)


def calls_by_id(thread: Thread, ids: Iterable[str]) -> dict[str, ToolCall]:
    """The thread's calls with these ids."""
    rows = ToolCall.objects.filter(thread=thread, tool_call_id__in=list(ids))
    return {row.tool_call_id: row for row in rows}


def save_calls(calls: Collection[ToolCall], fields: Sequence[str]) -> None:
    """Save these fields of rows that exist."""
    if len(calls) == 1:
        for call in calls:
            save_fields(call, *fields)
    elif calls:
        # An upsert that only ever updates: `bulk_update` builds a CASE per field and row.
        ToolCall.objects.bulk_create(
            calls, update_conflicts=True, update_fields=fields, unique_fields=["id"]
        )


def _record_beginnings(
    thread: Thread,
    run: Run,
    wanted: Sequence[CallAttempt],
    answers: Sequence[StartResult],
    begun: Mapping[str, Sequence[UUID]],
    now: datetime,
) -> None:
    """Write down what begins, with the arguments it is given, and what was refused."""
    drafts = []
    for call, answer in zip(wanted, answers, strict=True):
        row = answer if isinstance(answer, ToolCall) else None
        if row and row.pk not in begun.get(call.effect, ()):
            continue  # it is settled, and told again what came of it; or the run ends
        drafts.append(
            audit_trail.build_entry(
                action="tool.started" if row else "tool.refused",
                actor=agent_actor(thread.agent_id),
                now=now,
                thread=thread,
                run=run,
                tool_call=row,
                digests={"executed": digest(call.args)},
                tool=row.name if row else "",
                tool_call_id=call.tool_call_id,
                effect=call.effect,
                args=audit_trail.inline_text(call.args),
                refused="" if isinstance(answer, ToolCall) else str(answer),
            )
        )
    audit_trail.record_all(drafts)


def record_argument_mismatch(
    *, thread: Thread, run: Run, found: errors.ArgumentsDiffer, now: datetime
) -> None:
    """Write down that an agent repeated a call with arguments that nobody approved."""
    call = calls_by_id(thread, [found.tool_call_id]).get(found.tool_call_id)
    audit_trail.record(
        action="tool.refused",
        actor=agent_actor(thread.agent_id),
        now=now,
        thread=thread,
        run=run,
        tool_call=call,
        digests={"executed": digest(found.arguments)},
        tool=call.name if call else "",
        tool_call_id=found.tool_call_id,
        args=audit_trail.inline_text(found.arguments),
        refused=str(found),
    )


def _of_settled(thread: Thread, run: Run, call: ToolCall, now: datetime) -> audit_trail.EntryDraft:
    result = call.result or ""
    return audit_trail.build_entry(
        action="tool.settled",
        actor=agent_actor(thread.agent_id),
        now=now,
        thread=thread,
        run=run,
        tool_call=call,
        digests={"result": digest(result)},
        tool=call.name,
        tool_call_id=call.tool_call_id,
        result=audit_trail.inline_text(result),
    )


def _calls_to_begin(
    thread: Thread, ids: Sequence[str]
) -> tuple[Mapping[str, ToolCall], Container[UUID]]:
    """Return the calls by their ids, and those that were asked about and not approved."""
    rows = _CALLS_TO_BEGIN.all(thread=thread.pk, ids=list(ids)) if ids else []
    calls = {row.tool_call_id: row for row in rows}
    return calls, {row.pk for row in rows if row.is_unapproved}


def _failures(
    thread: Thread, calls: Iterable[ToolCall], now: datetime
) -> dict[UUID, errors.RunFailure]:
    """Check the decisions about calls that were asked about; what fails, by call."""
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
    lapsed = [pk for pk, why in failures.items() if isinstance(why, errors.ApprovalLapsed)]
    mark_lapsed(lapsed)
    return failures


def _refusal(
    wanted: CallAttempt, call: ToolCall | None, unapproved: Container[UUID]
) -> errors.RequestRejected | None:
    name = f"Tool call {wanted.tool_call_id!r}"
    if call is None:
        return errors.NotFound(f"{name} was never proposed.")
    if call.state in (ToolCallState.NOT_RUN, ToolCallState.IN_DOUBT, ToolCallState.LAPSED):
        problem = f"may not run: it is {call.state}"
    elif call.state == ToolCallState.STARTED and call.effect == "once":
        problem = "was started before"
    elif call.pk in unapproved and call.state != ToolCallState.SETTLED:
        problem = "was not approved"
    elif wanted.args != call.approved_args:
        return errors.ArgumentsNotApproved(
            f"{name} may not run: these are not the approved arguments."
        )
    else:
        return None
    return errors.Forbidden(f"{name} {problem}.")
