"""Threads that are old enough to be deleted."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from inbox.models import (
    AgentRequest,
    Decision,
    Delivery,
    Grant,
    Interrupt,
    Notification,
    Run,
    Team,
    Thread,
    ToolCall,
)
from inbox.platform.clock import database_now
from inbox.rules.notifications.events import NotificationStatus
from inbox.rules.people.team_settings import days_of_threads
from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.runs.states import ACTIVE_RUN_STATUSES, InterruptStatus, ToolCallState
from inbox.rules.webhooks.delivery_rules import DeliveryStatus

#: Threads of one team that are deleted in one sweep, each in a transaction of its own.
AT_ONCE = 100


def threads_to_delete() -> list[UUID]:
    """Return up to AT_ONCE threads of each team that its retention deletes, the oldest first."""
    now = database_now()
    ids: list[UUID] = []
    for team in Team.objects.all():
        if days := retention_of(team):
            rows = idle_threads(since=now - timedelta(days=days)).filter(team=team)
            ids += rows.order_by("updated_at").values_list("pk", flat=True)[:AT_ONCE]
    return ids


def retention_of(team: Team) -> int | None:
    """Return after how many days without activity a team's threads are deleted; None: never."""
    return days_of_threads(team.thread_days, default=settings.THREAD_DAYS)


def idle_threads(*, since: datetime) -> "QuerySet[Thread]":
    """Return threads without activity since then, with nothing under way, that nobody keeps."""
    thread = OuterRef("pk")
    is_under_way = (
        Run.objects.filter(
            Q(status__in=ACTIVE_RUN_STATUSES) | Q(resume_at__isnull=False), thread=thread
        ),
        Interrupt.objects.filter(thread=thread, status=InterruptStatus.OPEN),
        AgentRequest.objects.filter(
            thread=thread, status__in=(RequestStatus.OPEN, RequestStatus.DECIDED)
        ),
        ToolCall.objects.filter(
            Q(state__in=(ToolCallState.STARTED, ToolCallState.IN_DOUBT))
            | Q(state=ToolCallState.PROPOSED, start_before__isnull=False),
            thread=thread,
        ),
        # A disabled webhook's messages are sent when it is enabled again, which may be never.
        Delivery.objects.filter(
            thread=thread,
            status=DeliveryStatus.PENDING,
            endpoint__disabled_at=None,
            endpoint__removed_at=None,
        ),
        Notification.objects.filter(interrupt__thread=thread, status=NotificationStatus.PENDING),
        *_grants(thread),
    )
    rows = Thread.objects.filter(updated_at__lt=since, is_kept=False)
    for unfinished in is_under_way:
        rows = rows.filter(~Exists(unfinished))
    return rows


def _grants(thread: OuterRef) -> "tuple[QuerySet[Grant], QuerySet[Decision]]":
    """
    Return the grants of a thread that may be used, and the decisions of other threads by them.

    Those decisions refer to the request that was approved, so its thread stays as long as they do.
    """
    is_of_thread = Q(thread=thread) | Q(made_from__thread=thread)
    used_elsewhere = Decision.objects.filter(
        ~Q(interrupt__thread=thread), grant__made_from__thread=thread
    )
    return Grant.objects.filter(is_of_thread, ended_at=None), used_elsewhere
