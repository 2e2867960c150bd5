"""Applying the policies in force to requests that were opened under earlier ones."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.decisions.endorsements import void_endorsements
from inbox.actions.notifications.announcements import announce
from inbox.actions.policies.policy_decisions import decide_by_policy
from inbox.actions.policies.rulings import audit_detail, set_ruling, store_rulings
from inbox.models import Thread
from inbox.models.locks import lock_thread
from inbox.queries.people.access import require, require_current
from inbox.queries.policies.policies import is_answered_by_policy, policies_in_force
from inbox.queries.policies.reapplication import (
    ChangedRuling,
    changed_rulings,
    open_interrupts_of,
    threads_with_open_interrupts,
)
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import Actor, Permission

#: Threads of one call of `reapply_policies`, which then takes a few seconds.
MAX_THREADS = 200


@dataclass(frozen=True)
class Reapplied:
    """The interrupts that have a new ruling."""

    changed: int = 0  #: people still decide
    decided: int = 0  #: the policy has decided
    next_after: UUID | None = None  #: the last thread, if more are left

    @property
    def total(self) -> int:
        return self.changed + self.decided


def reapply_policies(*, team_id: UUID, actor: Actor, after: UUID | None = None) -> Reapplied:
    """
    Apply the policies in force to a team's open interrupts, in a transaction for each thread.

    Handles up to MAX_THREADS threads behind the thread `after`. Safe to replay: a ruling that would
    be the same stays.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.ADMIN)
    threads = threads_with_open_interrupts(team_id, after=after, limit=MAX_THREADS + 1)
    changed = decided = 0
    for thread_id in threads[:MAX_THREADS]:
        result = reapply_to_thread(thread_id=thread_id, actor=actor)
        changed, decided = changed + result.changed, decided + result.decided
    is_last = len(threads) <= MAX_THREADS
    return Reapplied(changed, decided, None if is_last else threads[MAX_THREADS - 1])


@transaction.atomic(durable=True)
def reapply_to_thread(*, thread_id: UUID, actor: Actor) -> Reapplied:
    """
    Apply the policies in force to a thread's open interrupts.

    A new ruling changes the view digest, so that answers to the old view are refused, and voids
    endorsements. What the policy answers now is decided at once. An expiry never gets later.

    Raises:
        Unauthenticated, NotFound, Forbidden.
    """
    thread, now = lock_thread(thread_id, with_team=True)
    require_current(actor, thread.team_id, Permission.ADMIN, now=now)
    changed = decided = 0
    rows = open_interrupts_of(thread, now)
    for _, group in groupby(rows, key=lambda row: row.run_id):
        changes = list(changed_rulings(thread, list(group), now))
        for change in changes:
            _replace(thread, change, actor, now)
        by_policy = [item.interrupt for item in changes if is_answered_by_policy(item.interrupt)]
        changed, decided = changed + len(changes) - len(by_policy), decided + len(by_policy)
        announce(
            AnnouncementKind.OPENED,
            [item.interrupt for item in changes if item.interrupt not in by_policy],
            now,
        )
        decide_by_policy(thread=thread, rows=by_policy, now=now)
    if changed:
        wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return Reapplied(changed, decided)


def _replace(thread: Thread, change: ChangedRuling, actor: Actor, now: datetime) -> None:
    """Store a new ruling on an open interrupt, and its view digest."""
    row = change.interrupt
    voided = void_endorsements(row, now)
    versions = [version for version, _ in policies_in_force(thread.team)]
    set_ruling(row, change.after, change.facts, versions=versions, now=now)
    row.endorsed_payload = None
    row.view_digest = row.digest_at_creation()
    row.save(
        update_fields=[
            *("body", "expires_at", "due_at", "people_needed"),
            *("endorsed_payload", "view_version", "view_digest"),
        ]
    )
    store_rulings([row])
    audit_trail.record(
        "policy.reapplied",
        actor,
        now,
        thread=thread,
        run=row.run,
        interrupt=row,
        tool_call=row.tool_call,
        digests=audit_trail.digests_of(row),
        policy=row.ruling and audit_detail(row.ruling),
        voided=voided,
    )
