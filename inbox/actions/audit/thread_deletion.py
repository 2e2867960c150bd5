"""Deleting threads by their age, and keeping single ones."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, models, transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.files.file_erasure import erase_files_of_thread
from inbox.models import (
    AgentError,
    AgentRequest,
    Announcement,
    Assignee,
    Claim,
    Comment,
    Decision,
    DecisionLink,
    DeliveredOutcome,
    Delivery,
    DeliveryAttempt,
    DueStep,
    Endorsement,
    Event,
    File,
    Grant,
    Interrupt,
    InterruptView,
    Memory,
    Notification,
    RejectionCount,
    Ruling,
    Run,
    Snooze,
    Thread,
    ToolCall,
    Unmasking,
)
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require
from inbox.queries.runs.old_threads import idle_threads, retention_of
from inbox.rules.audit.audit_entry import format_time
from inbox.rules.errors import NotFound
from inbox.rules.people.access import RETENTION, Actor, Permission

#: Every table with rows of a thread, and how a row names it; those that refer to others first.
ROWS: Mapping[type[models.Model], tuple[str, ...]] = {
    DeliveryAttempt: ("delivery__thread",),
    Delivery: ("thread",),
    Notification: ("announcement__interrupt__thread",),
    Announcement: ("interrupt__thread",),
    DecisionLink: ("interrupt__thread",),
    File: ("thread",),
    Claim: ("interrupt__thread",),
    Assignee: ("interrupt__thread",),
    Snooze: ("interrupt__thread",),
    Comment: ("interrupt__thread",),
    InterruptView: ("interrupt__thread",),
    Unmasking: ("interrupt__thread",),
    Endorsement: ("interrupt__thread",),
    Decision: ("interrupt__thread",),
    Grant: ("thread", "made_from__thread"),
    DueStep: ("ruling__interrupt__thread",),
    Ruling: ("interrupt__thread",),
    AgentRequest: ("thread",),
    Interrupt: ("thread",),
    ToolCall: ("thread",),
    DeliveredOutcome: ("thread",),
    AgentError: ("run__thread",),
    Event: ("thread",),
    Run: ("thread",),
    Memory: ("thread",),
    Thread: ("pk",),
}


@transaction.atomic(durable=True)
def delete_if_old(*, thread_id: UUID) -> bool:
    """
    Delete a thread with all that belongs to it, and return whether it was.

    It stays if it is not older than its team keeps threads, if anything of it is under way, or if
    somebody keeps it. Its audit trail stays, and records the deletion: triggers allow deleting
    events, comments and rulings of a thread after that only. Safe to replay.
    """
    try:
        thread, now = lock_thread(thread_id, with_team=True)
    except NotFound:
        return False
    days = retention_of(thread.team)
    # A run, an answer or an administrator may have come first.
    if days is None or not _is_idle(thread, since=now - timedelta(days=days)):
        return False
    erase_files_of_thread(thread=thread, actor=RETENTION, now=now)
    audit_trail.record(
        "thread.deleted",
        RETENTION,
        now,
        thread=thread,
        days=days,
        rule="installation" if thread.team.thread_days is None else "team",
        last_activity=format_time(thread.updated_at),
        agent=thread.agent.slug,
        external_id=thread.external_id,
        runs=Run.objects.filter(thread=thread).count(),
        events=thread.next_seq - 1,
    )
    _delete_rows(thread)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return True


def _is_idle(thread: Thread, **age: object) -> bool:
    return idle_threads(**age).filter(pk=thread.pk).exists()  # type: ignore[arg-type]


def _delete_rows(thread: Thread) -> None:
    subjects = [
        thread.pk,
        *Run.objects.filter(thread=thread).values_list("pk", flat=True),
        *Interrupt.objects.filter(thread=thread).values_list("pk", flat=True),
    ]
    RejectionCount.objects.filter(subject_id__in=subjects).delete()
    for model, paths in ROWS.items():
        for path in paths:
            rows = model._default_manager.filter(**{path: thread.pk})  # noqa: SLF001 - as Django documents
            # Without Django's checks of PROTECT, which reject a row that refers to one of its own
            # table; the database's foreign keys hold.
            rows._raw_delete(DEFAULT_DB_ALIAS)  # noqa: SLF001


@transaction.atomic(durable=True)
def keep_thread(*, thread_id: UUID, is_kept: bool, actor: Actor) -> Thread:
    """
    Keep a thread whatever its age, or let it be deleted by its age again.

    Safe to replay: the same again writes no audit entry.

    Raises:
        NotFound, Forbidden.
    """
    thread, now = lock_thread(thread_id)
    require(actor, thread.team_id, Permission.ADMIN, thread.agent_id)
    if thread.is_kept != is_kept:
        thread.is_kept = is_kept
        thread.save(update_fields=["is_kept"])
        audit_trail.record(
            "thread.kept" if is_kept else "thread.released", actor, now, thread=thread
        )
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return thread
