"""REST: chats of a team that get notifications, for its administrators."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from django.urls import reverse
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.notifications.team_channels import (
    ChatSettings,
    add_chat,
    change_chat,
    remove_chat,
    switch_chat,
    test_chat,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import (
    BLANK_AS_NULL,
    UNSET,
    Flag,
    Id,
    TeamName,
    Text,
    example,
    url,
)
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import List, Page, Schema, source
from inbox.queries.decisions.interrupts import interrupt_for
from inbox.queries.notifications.chats import chat_for, chats_for
from inbox.queries.notifications.delivery_metrics import delivery_metrics
from inbox.queries.notifications.notifications import log_of, recipients_of
from inbox.queries.notifications.slack_apps import slack_app_of
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.decisions.list_filters import MAX_QUERY_CHARACTERS
from inbox.rules.notifications.events import (
    DEFAULT_MINUTES,
    MAX_LABEL_CHARACTERS,
    MAX_MINUTES,
    WAITING,
    AnnouncementKind,
    ChannelEnd,
    ChannelKind,
    DeliveryMode,
    NotificationStatus,
    Reason,
)
from inbox.rules.notifications.slack_app import NO_APP, SlackApp
from inbox.rules.people.access import Permission
from inbox.rules.webhooks.outgoing_urls import MAX_URL_CHARACTERS
from inbox.sending.message_texts import link_to

if TYPE_CHECKING:
    from inbox import models

operation = partial(describe_operation, tag="notifications", scope=Permission.ADMIN)

Label = Annotated[str, Text(MAX_LABEL_CHARACTERS), example("#ops")]
Url = Annotated[
    str, url(MAX_URL_CHARACTERS), example("https://hooks.slack.com/services/T0/B0/secret")
]
Events = Annotated[
    list[AnnouncementKind], Field(min_length=1, max_length=10), example(["opened", "reminded"])
]
FilterQuery = Annotated[
    str, Text(MAX_QUERY_CHARACTERS, may_be_blank=True), example("agent=refunds&tool=refund")
]
ChatMode = Literal[DeliveryMode.AT_ONCE, DeliveryMode.IF_WAITING]
Minutes = Annotated[int, Field(ge=1, le=MAX_MINUTES), example(5)]


Token = Annotated[str, Text(250), example("xoxb-1111-2222-secret")]
SigningSecret = Annotated[str, Text(64), example("0123456789abcdef0123456789abcdef")]
Workspace = Annotated[str, Text(40), example("T012AB3CD")]
SlackChannel = Annotated[str, Text(40), example("C012AB3CD")]


class ChatChange(Schema):
    """The settings of a chat. Those that a request leaves out stay as they are."""

    label: Label = UNSET
    url: Url = UNSET
    events: Events = UNSET
    mode: ChatMode = UNSET
    minutes: Minutes = UNSET
    filter: FilterQuery = UNSET
    enabled: Flag = UNSET
    token: Token = UNSET
    signing_secret: SigningSecret = UNSET
    workspace: Workspace = UNSET
    channel: SlackChannel = UNSET


class ChatInput(Schema):
    kind: Annotated[ChannelKind, example("slack")]
    label: Label
    url: Url = UNSET
    """Of a webhook of the chat. It is stored encrypted and in no response."""
    token: Token = UNSET
    """Of the bot of a Slack app, which has no URL. It is stored encrypted and in no response."""
    signing_secret: SigningSecret = UNSET
    """Of a Slack app. It is stored encrypted and in no response."""
    workspace: Workspace = UNSET
    """Of a Slack app."""
    channel: SlackChannel = UNSET
    """To which a Slack app sends."""
    events: Events = list(WAITING)
    mode: ChatMode = DeliveryMode.IF_WAITING
    minutes: Minutes = DEFAULT_MINUTES
    filter: FilterQuery = ""
    """The query string of a list of requests, as in a saved view; empty for all requests."""


class Chat(Schema):
    """A chat of a team. Messages have arguments of calls only if the team's settings say so."""

    id: Id
    team: TeamName = source("team.slug")
    kind: ChannelKind
    label: Label
    host: Annotated[str, example("hooks.slack.com")]
    workspace: Annotated[str, example("T012AB3CD")]
    """Of a Slack app, "" for others."""
    channel: Annotated[str, example("C012AB3CD")]
    """To which a Slack app sends, "" for others."""
    request_url: Annotated[str, example("https://signoff.example.com/hooks/slack/01")]
    """The interactivity URL of a Slack app, "" for others."""
    events: Events = source("subscription.events")
    mode: DeliveryMode = source("subscription.mode")
    minutes: Minutes = source("subscription.minutes")
    filter: FilterQuery = source("subscription.filter")
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: Annotated[ChannelEnd | None, BLANK_AS_NULL]
    failing_since: datetime | None
    answer: Annotated[str, example("404 no_service")]
    """Of the server to the last message, "" if it was accepted."""
    created_at: datetime


class ChatNotification(Schema):
    kind: AnnouncementKind
    title: Annotated[str, example("Refund $85.00 for order #87990")]
    """Of the request, "" for a test."""
    at: datetime
    status: NotificationStatus
    reason: Annotated[Reason | None, BLANK_AS_NULL] = source("why")


class InterruptNotification(Schema):
    name: Annotated[str, example("#ops")]
    """Of the person or chat."""
    is_chat: bool
    kind: AnnouncementKind
    status: NotificationStatus
    reason: Annotated[Reason | None, BLANK_AS_NULL] = source("why")
    at: datetime


class InterruptNotifications(ApiView):
    @describe_operation(
        "GET",
        "List who was told of an interrupt",
        {200: List[InterruptNotification]},
        tag="notifications",
        scope=Permission.READ,
        description="Without those whom nobody needed to tell any more.",
    )
    def list_interrupt_notifications(self, request: Request, interrupt_id: UUID) -> Response:
        rows = recipients_of(interrupt_for(self.actor, interrupt_id))
        return Response({"results": [InterruptNotification.represent(row) for row in rows]})


class DeliveryMetrics(Schema):
    """Notifications about requests of a team in the last 7 days, to one kind of channel."""

    kind: ChannelKind
    sent_count: int = source("sent")
    dropped_count: int = source("dropped")
    """Not needed any more when they were due."""
    failed_count: int = source("failed")
    pending_count: int = source("pending")
    median_seconds: Annotated[float | None, example(0.8)]
    """From the time at which a notification was due to the acceptance by the server."""
    p95_seconds: Annotated[float | None, example(2.5)]


class Chats(ApiView):
    @operation("GET", "List the chats of a team", {200: Page[Chat]})
    def list_chats(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = chats_for(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            after=pagination.after_id,
        )
        return pagination.page(rows, partial(_represent, request))

    @operation(
        "POST",
        "Add a chat",
        {201: Chat},
        body=ChatInput,
        refusals=(errors.InvalidValue,),
        description="The chat gets messages about all requests of the team.",
    )
    def add_chat(self, request: Request, team: str) -> Response:
        actor = self.actor
        body = ChatInput.from_request(request)
        values = ChatSettings(
            label=body.label,
            url=body.url or "",
            events=body.events,
            mode=body.mode,
            minutes=body.minutes,
            only=body.filter,
            slack=SlackApp(**{name: getattr(body, name) or "" for name in _SLACK}),
        )
        row = add_chat(
            team_id=team_for(actor, team).pk,
            kind=body.kind,
            values=values,
            language="en",
            actor=actor,
        )
        return Response(_represent(request, chat_for(actor, row.pk)), status=201)

    @operation("GET", "Get a chat", {200: Chat})
    def get_chat(self, request: Request, channel_id: UUID) -> Response:
        return Response(_represent(request, chat_for(self.actor, channel_id)))

    @operation(
        "PATCH",
        "Change a chat",
        {200: Chat},
        body=ChatChange,
        refusals=(errors.InvalidValue,),
        description="`enabled` switches it on or off. It gets nothing about the time between.",
    )
    def change_chat(self, request: Request, channel_id: UUID) -> Response:
        actor = self.actor
        changes = ChatChange.from_request(request).model_dump(exclude_unset=True)
        enabled = changes.pop("enabled", None)
        app = SlackApp(**{name: changes.pop(name) for name in _SLACK if name in changes})
        if "filter" in changes:
            changes["only"] = changes.pop("filter")
        change_chat(channel_id=channel_id, actor=actor, slack=app, **changes)
        if enabled is not None:
            switch_chat(channel_id=channel_id, is_on=enabled, actor=actor)
        return Response(_represent(request, chat_for(actor, channel_id)))

    @operation("DELETE", "Remove a chat", {204: None})
    def remove_chat(self, request: Request, channel_id: UUID) -> Response:
        remove_chat(channel_id=channel_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "POST",
        "Send a test message",
        {202: None},
        refusals=(errors.InvalidValue,),
        description="The chat's `answer` and its notifications show the result.",
    )
    def test_chat(self, request: Request, channel_id: UUID) -> Response:
        test_chat(channel_id=channel_id, actor=self.actor)
        return Response(status=202)

    @operation("GET", "Get the metrics of notifications of a team", {200: List[DeliveryMetrics]})
    def get_delivery_metrics(self, request: Request, team: str) -> Response:
        rows = delivery_metrics(self.actor, team_for(self.actor, team).pk)
        return Response({"results": [DeliveryMetrics.represent(row) for row in rows]})

    @operation("GET", "List the last notifications to a chat", {200: List[ChatNotification]})
    def list_chat_notifications(self, request: Request, channel_id: UUID) -> Response:
        rows = log_of(chat_for(self.actor, channel_id))
        return Response({"results": [ChatNotification.represent(row) for row in rows]})


#: The settings of a Slack app.
_SLACK = ("token", "signing_secret", "workspace", "channel")


def _represent(request: Request, row: "models.Channel") -> dict[str, Any]:
    is_app = row.kind == ChannelKind.SLACK_APP
    app = slack_app_of(row) if is_app else NO_APP
    path = reverse("slack_hook", args=[row.pk])
    return Chat.represent(
        row,
        enabled=row.disabled_at is None,
        workspace=app.workspace,
        channel=app.channel,
        request_url=(link_to(path) or request.build_absolute_uri(path)) if is_app else "",
    )
