"""Messages to a channel: claiming what is due to it, and recording the result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F
from uuid6 import uuid7

from inbox.actions.audit import audit_trail
from inbox.actions.notifications.announcements import announce_outage
from inbox.actions.people.accounts import record_change
from inbox.actions.webhooks import outbox
from inbox.models import Channel, Decision, Interrupt, Notification, PolicyVersion, Subscription
from inbox.models.locks import lock_channel
from inbox.models.moves import settle_notifications
from inbox.platform.clock import database_now
from inbox.queries.notifications.chat_messages import ApproveButton, approve_button_of
from inbox.queries.notifications.recipients import (
    administrators_of,
    attention_to,
    confirmed_address,
    reason_to_drop,
    reason_to_drop_in_chat,
    schedule_of,
    subscribers_of,
    team_of,
)
from inbox.queries.policies.policies import load_rulings
from inbox.queries.runs.threads import HEAVY_OF_RUNS
from inbox.rules.notifications.events import (
    CHAT_KINDS,
    CHOICES,
    MANDATORY,
    MAX_FAILING_TIME,
    MAX_FAILURES,
    MAX_REFUSALS,
    MAX_REFUSED_TIME,
    MAX_WAIT,
    AnnouncementKind,
    ChannelEnd,
    ChannelKind,
    DisplayedState,
    NotificationStatus,
    Reason,
    SendProblem,
    next_message_at,
    retry_delay,
)
from inbox.rules.notifications.outcomes import Closing
from inbox.rules.notifications.schedule import NO_SCHEDULE
from inbox.rules.people.access import NOTIFIER, Actor
from inbox.rules.runs.states import InterruptStatus

#: Of an interrupt and its run, for the facts and for whoever may decide.
READ = ("team", "agent", "run__requester_user", "run__requester_key")
HEAVY = tuple(f"announcement__interrupt__run__{name}" for name in HEAVY_OF_RUNS)
#: Longer than sending takes.
LEASE = timedelta(seconds=90)
#: Notifications of one message; the rest is in the next one.
MAX_NOTIFICATIONS = 500
_MAX_ANSWER_CHARACTERS = 200
#: Requests of one message that have a button.
MAX_BUTTONS = 5


@dataclass(frozen=True)
class Item:
    """The facts about one request in a message."""

    interrupt_id: UUID
    kind: str
    team: str
    agent: str
    tool: str  #: "" if the request is about no tool call
    requester: str  #: "" if unknown
    expires_at: datetime | None
    decided_by: str = ""  #: of a decision despite the policy
    override_reason: str = ""
    is_withdrawn: bool = False  #: the decision was taken back since
    button: ApproveButton | None = None  #: None if the chat cannot approve the request
    closing: Closing | None = None  #: None of an open request


@dataclass(frozen=True)
class Publication:
    """The facts about a published policy in a message."""

    team: str  #: "" for the installation
    team_slug: str
    number: int
    publisher: str
    comment: str


@dataclass(frozen=True)
class DisabledChat:
    """The facts about a chat that was switched off, in a mail."""

    team: str
    team_slug: str
    label: str
    host: str


@dataclass(frozen=True)
class Message:
    """A mail or chat message that a worker has claimed; without items it is a test."""

    channel_id: UUID
    fence: int
    message_id: UUID
    kind: ChannelKind
    address: str  #: of a mail; of other channels encrypted
    language: str
    items: Sequence[Item]
    publications: Sequence[Publication] = ()
    disabled_chats: Sequence[DisabledChat] = ()
    is_mandatory: bool = False  #: notices for administrators
    message_ref: str = ""  #: of the sent message that this one replaces


@dataclass(frozen=True)
class SendResult:
    """The result of a try; without a problem the server has accepted the message."""

    problem: SendProblem | None = None
    answer: str = ""  #: of the server, on one line
    wait: timedelta | None = None  #: the server asks to try again after it
    message_ref: str = ""  #: of the message, where the chat can edit it


@transaction.atomic(durable=True)
def claim_message(*, channel_id: UUID) -> Message | None:
    """
    Claim all that is due to a channel, as one message; return None if nothing is to be sent now.

    What nobody needs to be told any more is dropped with the reason. If the worker is lost, the
    claim expires after LEASE, and the message is sent again under the same id.
    """
    channel = lock_channel(channel_id)
    now = database_now()
    if channel is None or channel.disabled_at is not None or _waits(channel, now):
        return None
    _drop_closed(channel, now)
    rows = _drop(channel, _postpone(channel, _due_rows(channel, now), now), now)
    address = _address_of(channel)
    if rows and not address:
        settle_notifications(rows, NotificationStatus.DROPPED, now, Reason.NO_ADDRESS)
    if not rows or not address:
        return None
    message_id = rows[0].message_id or uuid7()
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(
        message_id=message_id, tries=F("tries") + 1
    )
    channel.fence += 1
    channel.lease_until = now + LEASE
    channel.save(update_fields=["fence", "lease_until"])
    announcements = [row.announcement for row in rows]
    return Message(
        channel.pk,
        channel.fence,
        message_id,
        ChannelKind(channel.kind),
        address,
        channel.language,
        items_of(channel, rows, now),
        [_publication(row.version) for row in announcements if row.version],
        [_disabled_chat(row.channel) for row in announcements if row.channel],
        announcements[0].kind in MANDATORY,
    )


@transaction.atomic(durable=True)
def record_message(*, message: Message, result: SendResult) -> bool:
    """
    Record that a message was sent or why not; return False if another worker has claimed it.

    A message that the server cannot take now is tried again until its requests are closed. An
    address is switched off only by permanent refusals, as a mail server that is away says nothing
    about it; a chat also after a day of failures.
    """
    channel = lock_channel(message.channel_id)
    if channel is None or channel.fence != message.fence:
        return False
    now = database_now()
    rows = _rows_of(message)
    problem = result.problem
    channel.lease_until, channel.answer = None, result.answer[:_MAX_ANSWER_CHARACTERS]
    if problem is None:
        settle_notifications(rows, NotificationStatus.SENT, now, message_ref=result.message_ref)
        if result.message_ref and message.items:
            # Those that were decided meanwhile are edited at once.
            about_requests = [row.pk for row in rows if row.interrupt_id]
            Notification.objects.filter(pk__in=about_requests).update(
                displayed_state=DisplayedState.OPEN
            )
        channel.failures, channel.refusals = 0, 0
        channel.refused_since = channel.failing_since = None
        channel.next_try_at = next_message_at(_recent_messages(channel, now), channel.kind)
    elif problem is SendProblem.TEMPORARY:
        channel.failures += 1
        channel.failing_since = channel.failing_since or now
        wait = max(retry_delay(channel.failures), min(result.wait or timedelta(), MAX_WAIT))
        channel.next_try_at = now + wait
    else:
        is_refused = problem is SendProblem.REFUSED
        settle_notifications(
            rows, NotificationStatus.FAILED, now, Reason.REFUSED if is_refused else Reason.BROKEN
        )
        if is_refused:
            channel.refusals += 1
            channel.refused_since = channel.refused_since or now
    channel.save(
        update_fields=[
            *("lease_until", "answer", "failures", "refusals", "refused_since", "failing_since"),
            "next_try_at",
        ]
    )
    is_on = channel.disabled_at is None and channel.removed_at is None
    if is_on and (why := _reason_to_disable(channel, now)) is not None:
        disable_channel(channel, why, now, NOTIFIER)
    return True


def _rows_of(message: Message) -> list[Notification]:
    return list(
        Notification.objects.filter(
            channel=message.channel_id,
            message_id=message.message_id,
            status=NotificationStatus.PENDING,
        )
    )


def _reason_to_disable(channel: Channel, now: datetime) -> ChannelEnd | None:
    refused_since, failing_since = channel.refused_since, channel.failing_since
    if (
        refused_since is not None
        and channel.refusals >= MAX_REFUSALS
        and now - refused_since >= MAX_REFUSED_TIME
    ):
        return ChannelEnd.REFUSED
    if (
        channel.kind in CHAT_KINDS
        and failing_since is not None
        and channel.failures >= MAX_FAILURES
        and now - failing_since >= MAX_FAILING_TIME
    ):
        return ChannelEnd.FAILING
    return None


def disable_channel(channel: Channel, why: ChannelEnd, now: datetime, actor: Actor) -> None:
    """
    Switch a channel off, in the transaction that holds its lock.

    The administrators of a team are told of a chat that the system switches off.
    """
    channel.disabled_at, channel.disabled_reason = now, why
    channel.save(update_fields=["disabled_at", "disabled_reason"])
    drop_pending(channel, now, Reason.DISABLED)
    about = {"channel": str(channel.pk), "kind": channel.kind, "reason": why}
    if channel.user_id is not None:
        record_change(channel.user_id, "channel.disabled", actor, **about)
        return
    audit_trail.record("channel.disabled", actor, now, team_id=channel.team_id, **about)
    if why is not ChannelEnd.BY_HAND and channel.team is not None:
        announce_outage(channel, now)
        outbox.channel_disabled(channel=channel, now=now)


def enable_channel(channel: Channel) -> None:
    """
    Switch a channel on, and forget its failures; the caller holds its lock.

    It gets nothing about the time between, also if that was expanded as it was switched off.
    """
    if channel.disabled_at is not None:
        drop_pending(channel, database_now(), Reason.DISABLED)
    channel.disabled_at, channel.disabled_reason, channel.next_try_at = None, "", None
    channel.failures = channel.refusals = 0
    channel.refused_since = channel.failing_since = None
    channel.save(
        update_fields=[
            *("disabled_at", "disabled_reason", "next_try_at", "failures", "refusals"),
            *("refused_since", "failing_since"),
        ]
    )


def drop_pending(channel: Channel, now: datetime, why: Reason) -> None:
    """Drop what waits for a channel; the caller holds its lock."""
    pending = Notification.objects.filter(channel=channel, status=NotificationStatus.PENDING)
    settle_notifications(list(pending), NotificationStatus.DROPPED, now, why)


def _address_of(channel: Channel) -> str:
    if channel.kind == ChannelKind.EMAIL and channel.user_id is not None:
        return confirmed_address(channel.user_id)
    return channel.address


def _waits(channel: Channel, now: datetime) -> bool:
    return any(
        until is not None and until > now for until in (channel.lease_until, channel.next_try_at)
    )


def _due_rows(channel: Channel, now: datetime) -> list[Notification]:
    """Return what is due; a message that was tried before stays as it was, and so does a test."""
    due = Notification.objects.filter(
        channel=channel, status=NotificationStatus.PENDING, due_at__lte=now
    ).select_related(
        *(f"announcement__interrupt__{name}" for name in READ),
        *("announcement__version__team", "announcement__channel__team"),
    )
    rows = list(due.defer(*HEAVY).order_by("pk")[:MAX_NOTIFICATIONS])
    tried = [row for row in rows if row.message_id is not None]
    if tried:
        return [row for row in tried if row.message_id == tried[0].message_id]
    tests = [row for row in rows if row.announcement.kind == AnnouncementKind.TEST]
    notices = [row for row in rows if row.announcement.kind in MANDATORY]
    return tests or notices or rows


def _postpone(
    channel: Channel, rows: Sequence[Notification], now: datetime
) -> Sequence[Notification]:
    """
    Put off what came due in the quiet hours of a person, and return the rest.

    Whoever planned it knew the quiet hours, but a server that was away did not, and people change
    them. What would be too late afterwards is not put off, nor are tests, notices and a message
    that was tried before.
    """
    schedule = schedule_of(channel.user_id) if channel.user_id and rows else NO_SCHEDULE
    if not schedule.is_quiet(now):
        return rows
    end = schedule.end_of_quiet(now)
    later = [
        row
        for row in rows
        if (interrupt := row.announcement.interrupt) is not None
        and row.announcement.kind not in MANDATORY
        and row.message_id is None
        and (interrupt.expires_at is None or interrupt.expires_at > end)
    ]
    Notification.objects.filter(pk__in=[row.pk for row in later]).update(due_at=end)
    return [row for row in rows if row not in later]


def _drop_closed(channel: Channel, now: datetime) -> None:
    """Drop all that is due about closed requests, so that a message has room for others."""
    closed = Notification.objects.filter(
        channel=channel,
        status=NotificationStatus.PENDING,
        due_at__lte=now,
        announcement__kind__in=CHOICES,
    ).exclude(announcement__interrupt__status=InterruptStatus.OPEN)
    settle_notifications(list(closed), NotificationStatus.DROPPED, now, Reason.CLOSED)


def _drop(channel: Channel, rows: Sequence[Notification], now: datetime) -> list[Notification]:
    """Drop the notifications that are not needed any more, and return the others."""
    by_reason: dict[Reason | None, list[Notification]] = {}
    for row, why in zip(rows, _reasons_to_drop(channel, rows, now), strict=True):
        by_reason.setdefault(why, []).append(row)
    needed = by_reason.pop(None, [])
    for why, dropped in by_reason.items():
        settle_notifications(dropped, NotificationStatus.DROPPED, now, why)
    return needed


def _reasons_to_drop(
    channel: Channel, rows: Sequence[Notification], now: datetime
) -> list[Reason | None]:
    """Return why each notification is not needed any more, None if it is."""
    interrupts = [row.announcement.interrupt for row in rows if row.announcement.interrupt]
    load_rulings(interrupts)
    attention = attention_to(interrupts, channel.user_id, now)
    teams = {interrupt.team_id for interrupt in interrupts}
    by_team = subscribers_of(teams, channel) if teams and channel.user_id else {}
    subscription = Subscription.objects.filter(channel=channel).first()
    noticed = {team_of(row.announcement) for row in rows if row.announcement.kind in MANDATORY}
    administered = {team for team in noticed if administrators_of(team, channel.user_id)}

    def reason(row: Notification) -> Reason | None:
        announcement = row.announcement
        interrupt = announcement.interrupt
        if announcement.kind in MANDATORY:
            return None if team_of(announcement) in administered else Reason.NOT_ADMIN
        if interrupt is None:
            return None  # a test
        if subscription is None:
            return Reason.UNSUBSCRIBED
        if channel.user_id is None:
            return reason_to_drop_in_chat(
                interrupt, announcement.kind, subscription, attention, now
            )
        subscriber = next(iter(by_team.get(interrupt.team_id, ())), None)
        return reason_to_drop(interrupt, announcement.kind, subscriber, attention, now)

    return [reason(row) for row in rows]


def _recent_messages(channel: Channel, now: datetime) -> list[datetime]:
    sent = Notification.objects.filter(
        channel=channel, status=NotificationStatus.SENT, settled_at__gt=now - timedelta(hours=1)
    )
    pairs = sent.values_list("message_id", "settled_at").distinct()
    return [at for _, at in pairs if at is not None]


def items_of(channel: Channel, rows: Sequence[Notification], now: datetime) -> list[Item]:
    """Return the facts of each request once, with the latest event; of each override, too."""
    items: dict[object, Item] = {}
    for row in rows:
        announcement = row.announcement
        interrupt = announcement.interrupt
        if interrupt is None:
            continue
        if announcement.kind == AnnouncementKind.OVERRIDDEN:
            items[announcement.pk] = _override(interrupt, announcement.at)
        else:
            items[interrupt.pk] = _item(interrupt, announcement.kind)
    if channel.kind == ChannelKind.SLACK_APP:
        _add_buttons(items, rows, now)
    return list(items.values())


def _add_buttons(items: dict[object, Item], rows: Sequence[Notification], now: datetime) -> None:
    """Add the buttons of the first requests, which are those that a message describes."""
    interrupts: dict[object, Interrupt | None] = {
        row.interrupt_id: row.announcement.interrupt for row in rows
    }
    for pk in list(items)[:MAX_BUTTONS]:
        interrupt = interrupts.get(pk)
        if interrupt is not None:
            items[pk] = replace(items[pk], button=approve_button_of(interrupt, now))


def _publication(version: PolicyVersion) -> Publication:
    return Publication(
        team=version.team.name if version.team else "",
        team_slug=version.team.slug if version.team else "",
        number=version.number,
        publisher=version.publisher_label,
        comment=version.comment,
    )


def _disabled_chat(channel: Channel) -> DisabledChat:
    return DisabledChat(
        team=channel.team.name if channel.team else "",
        team_slug=channel.team.slug if channel.team else "",
        label=channel.label,
        host=channel.host,
    )


def _item(interrupt: Interrupt, kind: str) -> Item:
    requester = interrupt.run.requester_user
    return Item(
        interrupt_id=interrupt.pk,
        kind=kind,
        team=interrupt.team.name,
        agent=interrupt.agent.slug,
        tool=interrupt.tool,
        requester=requester.display_name if requester else "",
        expires_at=interrupt.expires_at,
    )


def _override(interrupt: Interrupt, at: datetime) -> Item:
    """Return the facts about the decision of this time despite the policy, also if taken back."""
    decisions = Decision.objects.filter(interrupt=interrupt, created_at=at)
    decision = decisions.exclude(override_reason="").first()
    item = _item(interrupt, AnnouncementKind.OVERRIDDEN)
    if decision is None:
        return item
    return replace(
        item,
        decided_by=decision.actor_label,
        override_reason=decision.override_reason,
        is_withdrawn=decision.withdrawn_at is not None,
    )
