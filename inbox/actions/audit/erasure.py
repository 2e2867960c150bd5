"""Erasing the names and texts of audit entries; that it was done, and of which, stays."""

from datetime import timedelta
from itertools import groupby, takewhile
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import AuditEntry, AuditPayload, Team
from inbox.models.clock import database_now
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import RETENTION, Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

ERASED = "audit.erased"
MAX_DAYS = 36_500
AT_ONCE = 1_000


@transaction.atomic(durable=True)
def set_retention(*, team_id: UUID, days: int | None, actor: Actor) -> Team:
    """
    Let names and texts leave a team's audit trail after so many days; None keeps them.

    Safe to replay: the same period again leaves no audit entry.

    Raises:
        NotFound, Forbidden, InvalidValue: it is 1 to MAX_DAYS days.
    """
    team = lock_permitted_team(team_id, actor, Permission.ADMIN)
    if days is not None and not 1 <= days <= MAX_DAYS:
        problem = TranslatableMessage("Enter 1 to {most} days.", most=MAX_DAYS)
        raise InvalidValue(problem, problems={"audit_days": [problem]})
    if team.audit_days != days:
        audit_trail.record(
            action="team.retention_set",
            actor=actor,
            now=database_now(),
            team_id=team_id,
            before=team.audit_days,
            days=days,
        )
        team.audit_days = days
        team.save(update_fields=["audit_days"])
    return team


def erase_expired(*, team_id: UUID) -> int:
    """
    Erase what has been in a team's audit trail for longer than it is to be; return of how many.

    A bounded piece of it, one chain a transaction. Safe to replay. That payloads were erased is not
    erased: every erasure would need another one.
    """
    team = Team.objects.get(pk=team_id)
    if team.audit_days is None:
        return 0
    oldest = database_now() - timedelta(days=team.audit_days)
    later = AuditEntry.objects.filter(team=team, pk__gt=team.audit_erased_to).order_by("pk")
    found = list(later.only("chain", "seq", "thread", "at")[:AT_ONCE])
    old = list(takewhile(lambda entry: entry.at < oldest, found))
    by_chain = sorted(old, key=lambda entry: (entry.chain, entry.seq))
    erased = 0
    for _, of_chain in groupby(by_chain, key=lambda entry: entry.chain):
        *_, last = of_chain
        erased += _erase(team, last)
    if old:
        # Behind all of it: what is begun again finds nothing left, and goes on from there.
        Team.objects.filter(pk=team.pk).update(audit_erased_to=old[-1].pk)
    return erased


@transaction.atomic(durable=True)
def _erase(team: Team, last: AuditEntry) -> int:
    thread = lock_thread(last.thread_id)[0] if last.thread_id else None
    kept = AuditPayload.objects.filter(entry__chain=last.chain, entry__seq__lte=last.seq)
    kept = kept.exclude(entry__action=ERASED)
    if not kept.exists():
        return 0
    about = {"thread": thread} if thread else {"team_id": team.pk}
    audit_trail.record_erasure(
        1, last.seq, actor=RETENTION, now=database_now(), days=team.audit_days, **about
    )
    return kept.delete()[0]


@transaction.atomic(durable=True)
def erase_thread(*, thread_id: UUID, reason: str, actor: Actor) -> int:
    """
    Erase the names and texts of all entries of a thread so far; return how many had any.

    Safe to replay: where nothing is left to erase, nothing is written down.

    Raises:
        NotFound, Forbidden.
    """
    thread, now = lock_thread(thread_id)
    require(actor, thread.team_id, Permission.ADMIN)
    kept = AuditPayload.objects.filter(entry__chain=thread.pk)
    if not kept.exists():
        return 0
    last: int = AuditEntry.objects.filter(chain=thread.pk).latest("seq").seq
    audit_trail.record_erasure(1, last, actor=actor, now=now, thread=thread, reason=reason[:500])
    erased, _ = kept.filter(entry__seq__lte=last).delete()
    return erased
