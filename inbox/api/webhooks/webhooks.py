"""REST: webhooks of a team, for its administrators."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.webhooks import deliveries
from inbox.actions.webhooks.endpoints import (
    add_webhook,
    change_webhook,
    remove_webhook,
    rotate_secret,
)
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import (
    BLANK_AS_NULL,
    UNSET,
    Flag,
    Id,
    TeamName,
    Text,
    TextOrNull,
    example,
    url,
)
from inbox.api.base.openapi_descriptions import (
    describe_operation,
    query,
)
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.webhooks import endpoints
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.webhooks.delivery_rules import (
    MAX_DESCRIPTION_CHARACTERS,
    DeliveryStatus,
    DisabledReason,
    EventType,
    problem_message,
)
from inbox.rules.webhooks.outgoing_urls import MAX_URL_CHARACTERS

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="webhooks", scope=Permission.ADMIN)

Url = Annotated[str, url(MAX_URL_CHARACTERS), example("https://hooks.example.com/signoff")]
Description = Annotated[str, Text(MAX_DESCRIPTION_CHARACTERS, may_be_blank=True), example("Chat")]
Events = Annotated[list[EventType], Field(min_length=1, max_length=50), example(["run.finished"])]


class WebhookChange(Schema):
    """The settings of a webhook. Those that a request leaves out stay as they are."""

    url: Url = UNSET
    description: Description = UNSET
    events: Events = UNSET
    enabled: Flag = UNSET


class WebhookInput(Schema):
    team: TeamName = ""
    """May be left out if you can change one team only."""
    url: Url
    description: Description = ""
    events: Events


class Webhook(Schema):
    """An endpoint. Its secret is only in the responses that created the secret."""

    id: Id
    team: TeamName = source("team.slug")
    url: Url
    description: Description
    events: Annotated[list[EventType], example(["run.finished"])] = source("event_types")
    """Empty for the endpoint that calls the programs of an agent back."""
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: Annotated[DisabledReason | None, BLANK_AS_NULL]
    failing_since: datetime | None
    former_secret_until: datetime | None = source("former_until")
    created_at: datetime


class WebhookWithCounts(Webhook):
    pending: int
    failed: int


Secret = Annotated[str, example("whsec_c2lnbm9mZi1leGFtcGxlLW5vdC1hLXNlY3JldA==")]


class WebhookWithSecret(Webhook):
    secret: Secret
    """Signs the messages. No other response has it."""


class MadeWebhook(Webhook):
    secret: Secret | None
    """Signs the messages; null in a replayed response: rotate it if it was lost."""


class Attempt(Schema):
    at: datetime
    status_code: int | None
    problem: TextOrNull
    message: str | None
    answer: Annotated[str, example("")] = source("response")
    milliseconds: int


class Delivery(Schema):
    id: Id = source("message_id")
    webhook_id: Annotated[str, example("msg_01934f5e7c107e4b9a520d6c6a1f0001")]
    """The header `webhook-id` of the message, the same in each attempt."""
    type: Annotated[str, example("webhook.test")]
    status: DeliveryStatus
    body: Annotated[
        str, example('{"type":"webhook.test","timestamp":"2026-11-21T09:30:00.125Z","data":{}}')
    ]
    """The JSON text that is signed and sent."""
    created_at: datetime
    delivered_at: datetime | None
    next_try_at: datetime | None
    attempts: list[Attempt]


class Count(Schema):
    count: int


_STATUS = query(
    "status", "The status of the deliveries.", {"enum": [status.value for status in DeliveryStatus]}
)


class Webhooks(ApiView):
    @operation("GET", "List the webhooks", {200: Page[Webhook]})
    def list_webhooks(self, request: Request) -> Response:
        pagination = self.pagination
        rows = endpoints.webhooks_page(
            self.actor, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, _represent)

    @operation(
        "POST",
        "Add a webhook",
        {201: MadeWebhook},
        body=WebhookInput,
        is_idempotent=True,
        refusals=(errors.InvalidValue, errors.NotFound),
    )
    def add_webhook(self, request: Request) -> Response:
        values = _values(WebhookInput.from_request(request))
        actor, idempotency = self.actor, self.idempotency
        team_id = endpoints.team_for_webhook(actor, values.pop("team", ""))
        row, secret = add_webhook(team_id=team_id, actor=actor, idempotency=idempotency, **values)
        return created_response(
            _represent(row, MadeWebhook, secret=secret or None),
            replayed=idempotency.is_replayed(row),
        )

    @operation(
        "GET",
        "Read one webhook, with the numbers of undelivered messages",
        {200: WebhookWithCounts},
    )
    def get_webhook(self, request: Request, webhook_id: UUID) -> Response:
        row = endpoints.webhook_for(self.actor, webhook_id)
        return Response(_represent(row, WebhookWithCounts, **endpoints.undelivered_counts(row)))

    @operation(
        "PATCH",
        "Change, enable or disable a webhook",
        {200: Webhook},
        body=WebhookChange,
        refusals=(errors.InvalidValue,),
        supports_if_match=True,
    )
    def change_webhook(self, request: Request, webhook_id: UUID) -> Response:
        changes = _values(WebhookChange.from_request(request))
        row = change_webhook(
            endpoint_id=webhook_id,
            actor=self.actor,
            check_seen=self.check_if_match(request),
            **changes,
        )
        return Response(_represent(row))

    @operation("DELETE", "Remove a webhook", {204: None}, supports_if_match=True)
    def remove_webhook(self, request: Request, webhook_id: UUID) -> Response:
        remove_webhook(
            endpoint_id=webhook_id,
            actor=self.actor,
            check_seen=self.check_if_match(request),
        )
        return Response(status=204)

    @operation(
        "POST",
        "Rotate the secret",
        {200: WebhookWithSecret},
        description="For 24 hours, messages carry a signature of the former secret too.",
    )
    def rotate_webhook_secret(self, request: Request, webhook_id: UUID) -> Response:
        row, secret = rotate_secret(endpoint_id=webhook_id, actor=self.actor)
        return Response(_represent(row, WebhookWithSecret, secret=secret))

    @operation("POST", "Send a test message", {202: Delivery}, refusals=(errors.WebhookDisabled,))
    def test_webhook(self, request: Request, webhook_id: UUID) -> Response:
        row = deliveries.send_test(endpoint_id=webhook_id, actor=self.actor)
        return Response(_represent_delivery(row), status=202)

    @operation(
        "POST", "Send all failed messages again", {202: Count}, refusals=(errors.WebhookDisabled,)
    )
    def replay_webhook(self, request: Request, webhook_id: UUID) -> Response:
        count = deliveries.resend_failed(endpoint_id=webhook_id, actor=self.actor)
        return Response({"count": count}, status=202)

    @operation(
        "GET",
        "List the deliveries, the latest first",
        {200: Page[Delivery]},
        parameters=[_STATUS],
        refusals=(errors.InvalidInput,),
    )
    def list_deliveries(self, request: Request, webhook_id: UUID) -> Response:
        row = endpoints.webhook_for(self.actor, webhook_id)
        pagination = self.pagination
        rows = endpoints.deliveries_of(
            row,
            limit=pagination.one_more,
            status=_status(request.query_params.get("status", "")),
            after=pagination.after_id,
        )
        return pagination.page(rows, _represent_delivery, lambda delivery: delivery.message_id)

    @operation(
        "POST",
        "Send one message again, with the same `webhook-id`",
        {202: Delivery},
        refusals=(errors.WebhookDisabled,),
    )
    def send_delivery_again(self, request: Request, message_id: UUID) -> Response:
        row = deliveries.resend_message(message_id=message_id, actor=self.actor)
        return Response(_represent_delivery(row), status=202)


def _represent(
    row: "models.WebhookEndpoint", model: type[Webhook] = Webhook, **values: Any
) -> dict[str, Any]:
    return model.represent(row, enabled=row.disabled_at is None, **values)


def _represent_delivery(row: "models.Delivery") -> dict[str, Any]:
    is_pending = row.status == DeliveryStatus.PENDING
    return Delivery.represent(
        row,
        webhook_id=f"msg_{row.message_id.hex}",
        next_try_at=row.next_try_at if is_pending else None,
        attempts=[_represent_attempt(attempt) for attempt in row.attempts.all()],
    )


def _represent_attempt(row: "models.DeliveryAttempt") -> dict[str, Any]:
    message = problem_message(row.problem, row.status_code) if row.problem else None
    return Attempt.represent(row, message=message)


def _values(body: Schema) -> dict[str, Any]:
    """Return what was sent by the names of the columns."""
    values = body.sent()
    if "events" in values:
        values["event_types"] = values.pop("events")
    return values


def _status(text: str) -> DeliveryStatus | None:
    try:
        return DeliveryStatus(text) if text else None
    except ValueError as error:
        raise errors.InvalidInput("`status` is `pending`, `delivered` or `failed`.") from error
