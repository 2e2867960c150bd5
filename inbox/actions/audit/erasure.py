"""Erasing the names and texts of audit entries; an entry about each erasure stays."""

from datetime import timedelta
from itertools import groupby, takewhile
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.files.file_erasure import erase_files_of_thread
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import AgentError, AuditEntry, AuditPayload, Team, Thread
from inbox.models.locks import lock_team, lock_thread
from inbox.platform.clock import database_now
from inbox.queries.audit.deleted_threads import deletion_of
from inbox.queries.people.access import require
from inbox.rules.errors import InvalidValue, NotFound
from inbox.rules.people.access import RETENTION, Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

ERASED = "audit.erased"
MAX_DAYS = 36_500
AT_ONCE = 1_000


@transaction.atomic(durable=True)
def set_retention(*, team_id: UUID, days: int | None, actor: Actor) -> Team:
    """
    Set after how many days a team's audit payloads are erased; None keeps them.

    Safe to replay: the same period again writes no audit entry.

    Raises:
        NotFound, Forbidden, InvalidValue: it is 1 to MAX_DAYS days.
    """
    team = lock_permitted_team(team_id, actor, Permission.ADMIN)
    if days is not None and not 1 <= days <= MAX_DAYS:
        problem = TranslatableMessage("Enter 1 to {most} days.", most=MAX_DAYS)
        raise InvalidValue(problem, problems={"audit_days": [problem]})
    if team.audit_days != days:
        audit_trail.record(
            "team.retention_set",
            actor,
            database_now(),
            team_id=team_id,
            before=team.audit_days,
            days=days,
        )
        team.audit_days = days
        team.save(update_fields=["audit_days"])
    return team


def erase_expired(*, team_id: UUID) -> int:
    """
    Erase up to AT_ONCE payloads that are older than the team's retention; return how many.

    One transaction for each chain. Safe to replay. Entries about erasures are never erased, as each
    erasure would write another one.
    """
    team = Team.objects.get(pk=team_id)
    if team.audit_days is None:
        return 0
    oldest = database_now() - timedelta(days=team.audit_days)
    later = AuditEntry.objects.filter(team=team, pk__gt=team.audit_erased_to).order_by("pk")
    entries = list(later.only("chain", "seq", "thread", "at")[:AT_ONCE])
    old = list(takewhile(lambda entry: entry.at < oldest, entries))
    by_chain = sorted(old, key=lambda entry: (entry.chain, entry.seq))
    erased = 0
    for _, chain_entries in groupby(by_chain, key=lambda entry: entry.chain):
        *_, last = chain_entries
        erased += _erase(team, last)
    if old:
        # Last, so that an interrupted erasure starts again from the same entry.
        Team.objects.filter(pk=team.pk).update(audit_erased_to=old[-1].pk)
    return erased


@transaction.atomic(durable=True)
def _erase(team: Team, last: AuditEntry) -> int:
    thread = _lock_chain(last.thread_id, team.pk) if last.thread_id else None
    payloads = AuditPayload.objects.filter(entry__chain=last.chain, entry__seq__lte=last.seq)
    payloads = payloads.exclude(entry__action=ERASED)
    if not payloads.exists():
        return 0
    about = {"thread": thread} if thread else {"team_id": team.pk}
    audit_trail.record_erasure(
        1, last.seq, actor=RETENTION, now=database_now(), days=team.audit_days, **about
    )
    return payloads.delete()[0]


def _lock_chain(thread_id: UUID, team_id: UUID) -> Thread:
    """Lock a thread, or the team of a deleted one, to which only erasures add entries."""
    try:
        return lock_thread(thread_id)[0]
    except NotFound:
        lock_team(team_id)
        return Thread(pk=thread_id, team_id=team_id)


@transaction.atomic(durable=True)
def erase_thread(*, thread_id: UUID, reason: str, actor: Actor) -> int:
    """
    Erase the payloads of all entries of a thread, and its files; return how many payloads.

    Also of a deleted thread. Safe to replay: without payloads no audit entry is written.

    Raises:
        NotFound, Forbidden.
    """
    deletion = deletion_of(thread_id)
    thread = _lock_chain(thread_id, deletion.team_id) if deletion else lock_thread(thread_id)[0]
    require(actor, thread.team_id, Permission.ADMIN)
    now = database_now()
    erase_files_of_thread(thread=thread, actor=actor, now=now)
    AgentError.objects.filter(run__thread=thread).delete()
    payloads = AuditPayload.objects.filter(entry__chain=thread.pk)
    if not payloads.exists():
        return 0
    last: int = AuditEntry.objects.filter(chain=thread.pk).latest("seq").seq
    audit_trail.record_erasure(1, last, actor=actor, now=now, thread=thread, reason=reason[:500])
    erased, _ = payloads.filter(entry__seq__lte=last).delete()
    return erased
