"""Assigning open interrupts to people who may decide them."""

from uuid import UUID

from django.db import transaction

from inbox import wakeups
from inbox.actions.audit import audit_trail
from inbox.actions.decisions.decide import check_open
from inbox.actions.decisions.ended_snoozes import end_snoozes
from inbox.actions.notifications.announcements import announce_to
from inbox.actions.team_lock import lock_permitted_team
from inbox.models import Assignee, Interrupt
from inbox.models.locks import lock_thread
from inbox.queries.decisions.assignees import may_be_assigned
from inbox.queries.people.access import require_person
from inbox.rules.errors import InvalidValue
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage

_MAX_ID = 2**63 - 1


@transaction.atomic(durable=True)
def assign_interrupt(*, interrupt_id: UUID, user_id: int, actor: Actor) -> Assignee:
    """
    Assign an open interrupt to a member of the team who may decide it.

    The person is told; it is not a lock, as others may still decide. Safe to replay: the same
    person again changes nothing and writes no audit entry.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the person may not decide the interrupt.
        AlreadyDecided, InterruptExpired: the interrupt is closed.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    by = require_person(actor, thread.team_id, Permission.DECIDE)
    rows = Interrupt.objects.select_related("run__requester_key", "team", "assignee__user")
    interrupt = rows.get(pk=interrupt_id)
    check_open(interrupt)
    # Whoever removes a member holds this lock, and clears what is assigned to them.
    lock_permitted_team(thread.team_id, actor, Permission.DECIDE)
    if user_id > _MAX_ID or not may_be_assigned(interrupt, user_id, now):
        raise InvalidValue(TranslatableMessage("This person cannot decide the request."))
    previous: Assignee | None = getattr(interrupt, "assignee", None)
    if previous is not None and previous.user_id == user_id:
        return previous
    Assignee.objects.filter(interrupt=interrupt).delete()
    assignee = Assignee.objects.create(
        interrupt=interrupt, user_id=user_id, assigned_by_id=by, assigned_at=now
    )
    name = assignee.user.display_name
    audit_trail.record(
        "interrupt.assigned",
        actor,
        now,
        thread=thread,
        interrupt=interrupt,
        to=name,
        to_id=str(user_id),
    )
    if user_id != by:
        announce_to(AnnouncementKind.ASSIGNED, interrupt_id, [user_id], now)
    end_snoozes(interrupt_id, by=by)
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)
    return assignee


@transaction.atomic(durable=True)
def unassign_interrupt(*, interrupt_id: UUID, actor: Actor) -> None:
    """
    Assign an interrupt to nobody. Safe to replay.

    Raises:
        NotFound, Forbidden.
    """
    thread, now = lock_thread(interrupts=interrupt_id)
    require_person(actor, thread.team_id, Permission.DECIDE)
    assignee = Assignee.objects.filter(interrupt=interrupt_id).select_related("user").first()
    if assignee is None:
        return
    assignee.delete()
    audit_trail.record(
        "interrupt.unassigned",
        actor,
        now,
        thread=thread,
        interrupt=Interrupt(pk=interrupt_id),
        to=assignee.user.display_name,
        to_id=str(assignee.user_id),
    )
    wakeups.wake_open_pages_on_commit(thread.team_id, thread.pk)


def clear_assignments(team_id: UUID, user_id: int) -> None:
    """
    Assign to nobody what is assigned to a person who can no longer decide.

    The caller holds the team's lock.
    """
    Assignee.objects.filter(
        user=user_id,
        interrupt__in=Interrupt.objects.filter(team=team_id, status=InterruptStatus.OPEN),
    ).delete()
