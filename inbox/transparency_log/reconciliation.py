"""Reconciliation of the audit trail with the rows that its entries describe."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast
from uuid import UUID

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from inbox.actions.policies.rulings import audit_detail
from inbox.models import (
    AuditEntry,
    Decision,
    File,
    Interrupt,
    PolicyVersion,
    Ruling,
    Run,
    Thread,
    ToolCall,
)
from inbox.queries.audit.deleted_threads import DELETED, of_deleted_thread
from inbox.queries.decisions.verified_decisions import check_decision
from inbox.queries.files.files import displayed_files, with_files
from inbox.rules import errors
from inbox.rules.decisions.consent import RULED_VIEW_VERSIONS, digest
from inbox.rules.runs.states import InterruptStatus, Reason, ToolCallState
from tools.audit_verifier import Finding, Verifier

_CLOSINGS = ("interrupt.resolved", "interrupt.cancelled", "interrupt.expired")
_CHUNK_ROWS = 1_000


def reconcile(thread: Any = None) -> list[Finding]:
    """
    Compare decisions, rulings, tool calls and resumes with their entries, in both directions.

    Erased names and texts are not compared, nor are threads whose deletion is recorded. `thread` is
    the id of the only thread to compare.
    """
    return [
        *_threads_that_differ(thread),
        *_decisions_without_entry(thread),
        *_entries_without_decision(thread),
        *_decisions_that_differ(thread),
        *_arguments_that_differ(thread),
        *_interrupts_that_differ(thread),
        *_rulings_that_differ(thread),
        *_files_that_differ(thread),
        *([] if thread else _versions_that_differ()),
        *_calls_without_entry(thread),
        *_entries_without_call(thread),
        *_resumes_without_entry(thread),
    ]


def add_differences(verifier: Verifier, thread: Any = None) -> None:
    """Add the differences that `reconcile` returns to a verification."""
    for place, code, arguments in reconcile(thread):
        verifier.find(place, code, sure=True, **arguments)


def _decisions(thread: Any) -> "QuerySet[Decision]":
    rows = Decision.objects.order_by("pk")
    return rows.filter(interrupt__thread=thread) if thread else rows


def _entries(thread: Any, *actions: str) -> "QuerySet[AuditEntry]":
    rows = AuditEntry.objects.filter(action__in=actions).exclude(of_deleted_thread())
    rows = rows.order_by("pk")
    return rows.filter(chain=thread) if thread else rows


def _threads_that_differ(thread: Any) -> Iterator[Finding]:
    """Compare the threads that have entries with those that were deleted."""
    first = AuditEntry.objects.filter(seq=1, thread__isnull=False).order_by("pk")
    first = first.filter(chain=thread) if thread else first
    row = Thread.objects.filter(pk=OuterRef("chain"))
    gone = first.exclude(of_deleted_thread()).exclude(Exists(row))
    for chain in gone.values_list("chain", flat=True).iterator(_CHUNK_ROWS):
        yield Finding("chain", "thread_gone", {"chain": str(chain)})
    left = AuditEntry.objects.filter(Exists(row), action=DELETED).order_by("pk")
    left = left.filter(chain=thread) if thread else left
    for chain in left.values_list("chain", flat=True).iterator(_CHUNK_ROWS):
        yield Finding("chain", "thread_not_deleted", {"chain": str(chain)})


def _closing(**more: Any) -> "QuerySet[AuditEntry]":
    entries = AuditEntry.objects.filter(interrupt=OuterRef("interrupt"), action__in=_CLOSINGS)
    return entries.filter(at=OuterRef("created_at"), **more)


def _decisions_without_entry(thread: Any) -> Iterator[Finding]:
    unknown = _decisions(thread).exclude(Exists(_closing()))
    for pk in unknown.values_list("pk", flat=True):
        yield Finding("decision", "decision_not_recorded", {"id": str(pk)})
    withdrawal = AuditEntry.objects.filter(
        interrupt=OuterRef("interrupt"), action="decision.withdrawn", at=OuterRef("withdrawn_at")
    )
    withdrawn = _decisions(thread).exclude(withdrawn_at=None).exclude(Exists(withdrawal))
    for pk in withdrawn.values_list("pk", flat=True):
        yield Finding("decision", "withdrawal_not_recorded", {"id": str(pk)})


def _entries_without_decision(thread: Any) -> Iterator[Finding]:
    decision = Decision.objects.filter(interrupt=OuterRef("interrupt"), created_at=OuterRef("at"))
    for entry in _entries(thread, *_CLOSINGS).exclude(Exists(decision)).iterator(_CHUNK_ROWS):
        yield _in_entry(entry, "decision_gone")
    withdrawn = Decision.objects.filter(
        interrupt=OuterRef("interrupt"), withdrawn_at=OuterRef("at")
    )
    lost = _entries(thread, "decision.withdrawn").exclude(Exists(withdrawn))
    for entry in lost.iterator(_CHUNK_ROWS):
        yield _in_entry(entry, "withdrawal_gone")


def _decisions_that_differ(thread: Any) -> Iterator[Finding]:
    rows = _decisions(thread).filter(withdrawn_at=None)
    rows = rows.select_related("interrupt", "ruling__version")
    # Decisions from before the first signed one may have no signature.
    first_signed = rows.exclude(signature="").exclude(signature__contains=":upgraded:")
    since = first_signed.aggregate(at=Min("created_at"))["at"]
    for decision in rows.iterator(_CHUNK_ROWS):
        where: dict[str, int | str] = {"id": str(decision.pk)}
        entry = _closing_entry(decision)
        is_later = since is not None and decision.created_at >= since
        if decision.signature or is_later or (entry and "entrance" in entry.content["detail"]):
            try:
                check_decision(decision)
            except errors.DecisionNotVerified as problem:
                yield Finding("decision", "decision_not_verified", {**where, "error": str(problem)})
        if entry is not None and not _agrees(decision, entry):
            yield Finding("decision", "decision_differs", where)


def _arguments_that_differ(thread: Any) -> Iterator[Finding]:
    later = Decision.objects.filter(
        interrupt__tool_call=OuterRef("interrupt__tool_call"),
        withdrawn_at=None,
        created_at__gt=OuterRef("created_at"),
    )
    decided = _decisions(thread).filter(withdrawn_at=None, interrupt__repeated_by=None)
    waiting = Interrupt.objects.filter(
        tool_call=OuterRef("interrupt__tool_call"), status=InterruptStatus.OPEN
    )
    last = decided.exclude(args_digest="").exclude(Exists(later)).exclude(Exists(waiting))
    for decision in last.select_related("interrupt__tool_call").iterator(_CHUNK_ROWS):
        call = decision.interrupt.tool_call
        if call is None or digest(call.approved_args) != decision.args_digest:
            yield Finding(
                "tool_call", "arguments_not_decided", {"id": str(call.pk) if call else ""}
            )


def _closing_entry(decision: Decision) -> AuditEntry | None:
    entries = AuditEntry.objects.filter(interrupt=decision.interrupt, action__in=_CLOSINGS)
    entry = entries.filter(at=decision.created_at).select_related("payload").first()
    return entry if entry is not None and hasattr(entry, "payload") else None


def _agrees(decision: Decision, entry: AuditEntry) -> bool:
    payload = None if decision.payload is None else json.loads(decision.payload)
    approved = entry.content["digests"].get("approved", "")
    is_same_actor = (entry.actor_kind, entry.actor_id) == (
        decision.actor_kind,
        decision.ident[:64],
    )
    rulings = [decision.ruling] if decision.ruling else []
    detail = entry.content["detail"]
    is_same_ruling = detail.get("policy") == _ruling_detail(rulings)
    is_same_call = not decision.args_digest or decision.args_digest == approved
    is_same_answer = is_same_call and detail.get("payload") == payload
    return is_same_actor and is_same_ruling and is_same_answer


def _interrupts_that_differ(thread: Any) -> Iterator[Finding]:
    rows = Interrupt.objects.order_by("pk")
    rows = rows.filter(thread=thread) if thread else rows
    opened = AuditEntry.objects.filter(interrupt=OuterRef("pk"), action="interrupt.opened")
    for pk in rows.exclude(Exists(opened)).values_list("pk", flat=True):
        yield Finding("interrupt", "interrupt_not_recorded", {"id": str(pk)})
    entries = _entries(thread, "interrupt.opened").select_related("payload", "interrupt__tool_call")
    for entry, reapplied in _with_reapplied(entries):
        last = [entry, *reapplied][-1]
        view = last.content["digests"].get("view")
        proposed = entry.content["digests"].get("proposed")
        call = entry.interrupt.tool_call if entry.interrupt else None
        if call and proposed is not None and proposed != digest(call.args):
            yield Finding("tool_call", "arguments_not_proposed", {"id": str(call.pk)})
        if entry.interrupt is None:
            yield _in_entry(entry, "interrupt_gone")
        elif view is not None and _view_differs(entry.interrupt, view):
            yield Finding("interrupt", "interrupt_differs", {"id": str(entry.interrupt.pk)})


def _view_differs(row: Interrupt, view: str) -> bool:
    """Return whether a row has another view digest; `_rulings_that_differ` computes ruled ones."""
    is_ruled = row.view_version in RULED_VIEW_VERSIONS
    return view != row.view_digest or (not is_ruled and row.digest_at_creation() != view)


def _files_that_differ(thread: Any) -> Iterator[Finding]:
    """Compare the files with those that requests display, and with the stored objects."""
    rows = with_files(Interrupt.objects.order_by("pk"))
    rows = rows.filter(thread=thread) if thread else rows
    displayed: dict[UUID, set[str]] = {}
    for row in rows.iterator(_CHUNK_ROWS):
        for file_id, sha256 in displayed_files(row):
            displayed.setdefault(file_id, set()).add(sha256)
    files = File.objects.select_related("blob").order_by("pk")
    files = files.filter(thread=thread) if thread else files
    for file in files.iterator(_CHUNK_ROWS):
        digests = displayed.get(file.pk, set()) | ({file.blob.sha256} if file.blob else set())
        if digests - {file.sha256}:
            yield Finding("file", "file_differs", {"id": str(file.pk)})


def _rulings_that_differ(thread: Any) -> Iterator[Finding]:
    """Compare the rulings on each interrupt, and the last one with the interrupt's digest."""
    entries = _entries(thread, "interrupt.opened").filter(
        interrupt__view_version__in=RULED_VIEW_VERSIONS
    )
    entries = entries.select_related("payload", "interrupt__tool_call")
    entries = entries.prefetch_related(
        "interrupt__rulings__version", "interrupt__rulings__installation_version"
    )
    for entry, reapplied in _with_reapplied(entries):
        row = cast("Interrupt", entry.interrupt)
        rulings = sorted(row.rulings.all(), key=lambda ruling: ruling.number)
        row.ruling = rulings[-1] if rulings else None
        recorded = [entry, *reapplied]
        is_recorded = _are_recorded(rulings, [item.content["detail"] for item in recorded])
        if not is_recorded or row.digest_at_creation() != row.view_digest:
            yield Finding("interrupt", "ruling_differs", {"id": str(row.pk)})


def _are_recorded(rulings: Sequence[Ruling], details: Sequence[dict[str, Any]]) -> bool:
    """Return whether entries contain the rulings in their order; erased ones are not compared."""
    if not all(details):
        return True
    recorded = [detail["policy"] for detail in details if "policy" in detail]
    return recorded == [_ruling_detail([ruling]) for ruling in rulings]


def _with_reapplied(
    entries: QuerySet[AuditEntry],
) -> Iterator[tuple[AuditEntry, Sequence[AuditEntry]]]:
    """Yield entries about opened interrupts, each with those about the new rulings on it."""
    rows = entries.iterator(_CHUNK_ROWS)
    while chunk := list(islice(rows, _CHUNK_ROWS)):
        later: dict[Any, list[AuditEntry]] = {}
        ids = [entry.interrupt_id for entry in chunk]
        reapplied = _entries(None, "policy.reapplied").filter(interrupt__in=ids)
        for entry in reapplied.select_related("payload"):
            later.setdefault(entry.interrupt_id, []).append(entry)
        for entry in chunk:
            yield entry, later.get(entry.interrupt_id, ())


def _ruling_detail(rulings: Sequence[Ruling]) -> Any:
    """Return what entries contain of a ruling, None without one; of a forged text, the error."""
    try:
        return audit_detail(rulings[0]) if rulings else None
    except (ValueError, LookupError, TypeError) as error:
        return repr(error)


def _versions_that_differ() -> Iterator[Finding]:
    """Compare each published policy with the entry about its publication."""
    entries = AuditEntry.objects.filter(action="policy.published").select_related("payload")
    details = [(entry.team_id, entry.content["detail"]) for entry in entries]
    recorded = {(team, detail.get("version"), detail.get("digest")) for team, detail in details}
    erased = {team for team, detail in details if not detail}
    for row in PolicyVersion.objects.order_by("pk").iterator(_CHUNK_ROWS):
        is_recorded = row.team_id in erased or (row.team_id, row.number, row.digest) in recorded
        if not is_recorded or digest(row.body) != row.digest:
            yield Finding("policy_version", "version_differs", {"id": str(row.pk)})


def _calls_without_entry(thread: Any) -> Iterator[Finding]:
    rows = ToolCall.objects.order_by("pk")
    rows = rows.filter(thread=thread) if thread else rows
    started = AuditEntry.objects.filter(tool_call=OuterRef("pk"), action="tool.started")
    unknown = rows.exclude(started_at=None).exclude(Exists(started))
    for pk in unknown.values_list("pk", flat=True):
        yield Finding("tool_call", "start_not_recorded", {"id": str(pk)})
    settled = AuditEntry.objects.filter(tool_call=OuterRef("pk"), action="tool.settled")
    decided_by_person = Decision.objects.filter(  # a person decided the outcome
        interrupt__tool_call=OuterRef("pk"), interrupt__reason=Reason.OUTCOME_UNKNOWN
    )
    unknown = rows.filter(state=ToolCallState.SETTLED).exclude(
        Exists(settled) | Exists(decided_by_person)
    )
    for pk in unknown.values_list("pk", flat=True):
        yield Finding("tool_call", "result_not_recorded", {"id": str(pk)})


def _entries_without_call(thread: Any) -> Iterator[Finding]:
    unsettled = ~Q(tool_call__state=ToolCallState.SETTLED) | Q(tool_call=None)
    for entry in _entries(thread, "tool.settled").filter(unsettled).iterator(_CHUNK_ROWS):
        yield _in_entry(entry, "result_gone")
    started = _entries(thread, "tool.started").filter(tool_call=None)
    for entry in started.iterator(_CHUNK_ROWS):
        yield _in_entry(entry, "call_gone")


def _resumes_without_entry(thread: Any) -> Iterator[Finding]:
    rows = Run.objects.exclude(resumes=None).order_by("pk")
    rows = rows.filter(thread=thread) if thread else rows
    queued = AuditEntry.objects.filter(run=OuterRef("pk"), action="resume.queued")
    for pk in rows.exclude(Exists(queued)).values_list("pk", flat=True):
        yield Finding("run", "resume_not_recorded", {"id": str(pk)})
    entries = _entries(thread, "resume.queued")
    for entry in entries.filter(run__resumes=None).iterator(_CHUNK_ROWS):
        yield _in_entry(entry, "resume_gone")


def _in_entry(entry: AuditEntry, code: str) -> Finding:
    return Finding("entry", code, {"chain": str(entry.chain), "seq": entry.seq})
