"""The people whom a request concerns: its requesters, its approvers, its assignee."""

from datetime import datetime

from inbox.models import Announcement, Assignee, Endorsement, Interrupt, Run, Subscription
from inbox.queries.notifications.recipients import Subscriber, is_chosen, is_waiting
from inbox.rules.notifications.events import AnnouncementKind, Reason
from inbox.rules.runs.retriers import retriers_from_text
from inbox.rules.runs.states import InterruptStatus


def requesters_of(run: Run) -> frozenset[int]:
    """Return the people who started or retried a run; nobody if keys did."""
    starter = frozenset[int]() if run.requester_user_id is None else {run.requester_user_id}
    return retriers_from_text(run.retriers).people | starter


def people_concerned(announcement: Announcement, interrupt: Interrupt) -> frozenset[int]:
    """Return the people who are told of a closed request, but not the one who decided it."""
    if announcement.kind == AnnouncementKind.DECIDED:
        people = requesters_of(interrupt.run)
    else:
        voided = Endorsement.objects.filter(interrupt=interrupt, voided_at=announcement.at)
        people = frozenset(voided.values_list("user", flat=True))
    return people - {interrupt.decided_by_id}


def reason_to_drop_outcome(
    interrupt: Interrupt, kind: str, subscription: Subscription | None
) -> Reason | None:
    """
    Return why a person need not be told of a closed request any more; None if they do.

    `subscription` is None if they have left the team.
    """
    if interrupt.status == InterruptStatus.OPEN:
        return Reason.REOPENED
    if subscription is None:
        return Reason.NO_ACCESS
    return None if is_chosen(interrupt, kind, subscription) else Reason.UNSUBSCRIBED


def reason_to_drop_personal(
    announcement: Announcement, interrupt: Interrupt, subscriber: Subscriber | None, now: datetime
) -> Reason | None:
    """
    Return why an assignee or a mentioned person need not be told any more; None if they do.

    `subscriber` is None if they have left the team.
    """
    if subscriber is None:
        return Reason.NO_ACCESS
    if not is_chosen(interrupt, announcement.kind, subscriber.subscription):
        return Reason.UNSUBSCRIBED
    if announcement.kind != AnnouncementKind.ASSIGNED:
        return None
    if not is_waiting(interrupt.status, interrupt.expires_at, now):
        return Reason.CLOSED
    assignees = Assignee.objects.filter(interrupt=interrupt, user=announcement.person_id)
    return None if assignees.exists() else Reason.REASSIGNED
