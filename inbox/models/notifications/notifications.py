"""Announcements of events, and the notifications that people get of them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from inbox.models.agents.agents import Agent
from inbox.models.fields import EncryptedTextField, choices, id_field, known_states
from inbox.models.people.teams import Team
from inbox.models.policies.policies import PolicyVersion
from inbox.models.runs.interrupts import Interrupt
from inbox.rules.notifications.events import (
    DEFAULT_MINUTES,
    AnnouncementKind,
    ChannelEnd,
    ChannelKind,
    DeliveryMode,
    DisplayedState,
    NotificationStatus,
    Reason,
)
from inbox.rules.notifications.schedule import Schedule

_PENDING = Q(status=NotificationStatus.PENDING)


class Announcement(models.Model):
    """
    An event that people are notified of, stored in the transaction of the event.

    The sweeper expands it into one notification for each subscriber, without the thread's lock.
    """

    id = models.BigAutoField(primary_key=True)
    interrupt = models.ForeignKey(
        Interrupt, null=True, on_delete=models.PROTECT, related_name="announcements", db_index=False
    )
    version = models.ForeignKey(
        PolicyVersion,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="that was published",
    )
    channel = models.ForeignKey(
        "Channel",
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="that was switched off",
    )
    agent = models.ForeignKey(
        Agent,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="that was paused",
    )
    team = models.ForeignKey(
        Team,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="whose setting it is about",
    )
    setting = models.TextField(
        blank=True,
        db_default="",
        default="",
        help_text="of the team, JSON: its `name`, the value `before`, the new `value`, `by` whom",
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="whom it is for, of the kinds in `PERSONAL`",
    )
    kind = models.CharField(max_length=20, choices=choices(AnnouncementKind))
    at = models.DateTimeField()
    expanded_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"], condition=Q(expanded_at=None), name="announcements_to_expand"
            ),
            models.Index(fields=["at"], name="announcements_by_age"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["interrupt"],
                condition=Q(kind=AnnouncementKind.EXPIRING),
                name="one_expiry_announcement",
            ),
        ]


class Channel(models.Model):
    """
    A way to reach a person or a team; its row is the lock of its notifications.

    People who subscribe have one, and administrators of whom there were mandatory notices: mails go
    to the confirmed primary address of the account. A team has chats, each with the URL of a
    webhook, or an app in it. A removed chat remains as a row without its address, for the log.

    One worker at a time sends to a channel. A transaction that locks one then takes the locks of
    teams only, for audit entries.
    """

    id = id_field()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="channels"
    )
    team = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="channels")
    kind = models.CharField(max_length=20, choices=choices(ChannelKind))
    label = models.CharField(max_length=80, blank=True, help_text="of a chat, for people")
    address = EncryptedTextField(
        blank=True, help_text="of all but mails, encrypted: whoever has it can send messages"
    )
    host = models.CharField(max_length=255, blank=True, help_text="of the address")
    address_digest = models.CharField(
        max_length=64, blank=True, help_text="of a browser's endpoint, which has one channel"
    )
    language = models.CharField(max_length=10)
    fence = models.IntegerField(default=0, help_text="incremented by each claim of a worker")
    lease_until = models.DateTimeField(null=True)
    next_try_at = models.DateTimeField(null=True, help_text="not before, after a failure or a mail")
    failures = models.PositiveIntegerField(default=0, help_text="consecutive failures")
    refusals = models.PositiveIntegerField(default=0, help_text="consecutive permanent refusals")
    refused_since = models.DateTimeField(null=True)
    answer = models.CharField(max_length=200, blank=True, help_text="the server's last answer")
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=10, choices=choices(ChannelEnd), blank=True)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user"], condition=Q(kind=ChannelKind.EMAIL), name="one_mail_channel"
            ),
            models.UniqueConstraint(
                fields=["address_digest"],
                condition=~Q(address_digest=""),
                name="one_channel_per_browser",
            ),
            models.CheckConstraint(
                condition=Q(user=None, team__isnull=False) | Q(user__isnull=False, team=None),
                name="channel_has_one_owner",
            ),
            known_states("kind", ChannelKind, "channel_kind_is_known"),
        ]


class Subscription(models.Model):
    """The events that a channel gets, and when."""

    channel = models.OneToOneField(
        Channel, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    events = models.JSONField()
    mode = models.CharField(max_length=10, choices=choices(DeliveryMode))
    minutes = models.PositiveSmallIntegerField(default=DEFAULT_MINUTES)
    filter = models.TextField(
        blank=True, help_text="URL query string of a saved view; blank: all requests"
    )

    class Meta:
        constraints = [known_states("mode", DeliveryMode, "delivery_mode_is_known")]


class NotificationSchedule(models.Model):
    """
    The times at which a person wants messages; see `inbox.rules.notifications.schedule`.

    While a person is away, their deputy is told instead.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="notification_schedule",
    )
    zone = models.CharField(max_length=64)
    quiet_from = models.TimeField()
    quiet_to = models.TimeField(help_text="the same as `quiet_from` without quiet hours")
    digest_at = models.TimeField()
    away_until = models.DateTimeField(null=True)
    deputy = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="deputy_of"
    )

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.zone, self.quiet_from, self.quiet_to, self.digest_at)


class Notification(models.Model):
    """An announcement to one channel; the notifications with one `message_id` are one mail."""

    id = models.BigAutoField(primary_key=True)
    announcement = models.ForeignKey(
        Announcement, on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    channel = models.ForeignKey(
        Channel, on_delete=models.PROTECT, related_name="notifications", db_index=False
    )
    interrupt = models.ForeignKey(
        Interrupt,
        null=True,
        on_delete=models.PROTECT,
        related_name="notifications",
        db_index=False,
        help_text="of the announcement",
    )
    away = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="the person whose deputy is told",
    )
    due_at = models.DateTimeField()
    status = models.CharField(
        max_length=10, choices=choices(NotificationStatus), default=NotificationStatus.PENDING
    )
    why = models.CharField(max_length=20, choices=choices(Reason), blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    message_id = models.UUIDField(null=True, help_text="the same in every try")
    message_ref = models.CharField(
        max_length=200, blank=True, help_text="of the sent message, where the chat can edit it"
    )
    displayed_state = models.CharField(
        max_length=10,
        choices=choices(DisplayedState),
        default=DisplayedState.FINAL.value,
        blank=True,
        help_text="state of the request in the sent message, where the chat can edit it",
    )
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["announcement", "channel"], name="one_notification_per_channel"
            ),
            known_states("status", NotificationStatus, "notification_status_is_known"),
        ]
        indexes = [
            models.Index(
                fields=["channel", "due_at"], condition=_PENDING, name="notifications_by_time"
            ),
            models.Index(fields=["channel", "-id"], name="notifications_of_channel"),
            models.Index(
                fields=["interrupt"],
                condition=Q(interrupt__isnull=False),
                name="notifications_of_interrupt",
            ),
            # Not partial: SQLite does not use a partial index for states that are parameters.
            models.Index(fields=["displayed_state", "channel"], name="messages_to_edit"),
        ]
