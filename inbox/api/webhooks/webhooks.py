"""REST about webhooks, for administrators of their team."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.webhooks import deliveries
from inbox.actions.webhooks.endpoints import (
    add_webhook,
    change_webhook,
    remove_webhook,
    rotate_secret,
)
from inbox.api.base.base_view import Caller, made
from inbox.api.base.fields import (
    SLUG,
    Flag,
    Text,
    url_field,
)
from inbox.api.base.openapi_descriptions import (
    IDEMPOTENCY_KEY,
    IF_MATCH,
    operation,
    query,
)
from inbox.api.base.pagination import Window
from inbox.api.base.response_models import (
    Count,
    Delivery,
    MadeWebhook,
    Page,
    Webhook,
    WebhookWithCounts,
    WebhookWithSecret,
)
from inbox.queries.webhooks import endpoints
from inbox.rules.errors import (
    IdempotencyConflict,
    InvalidInput,
    InvalidValue,
    NotFound,
    WebhookDisabled,
)
from inbox.rules.people.access import Permission
from inbox.rules.webhooks.delivery_rules import (
    LONGEST_DESCRIPTION,
    LONGEST_URL,
    DeliveryStatus,
    EventType,
    sentence_of,
)


def _events(**more: Any) -> serializers.ListField:
    child = serializers.ChoiceField([kind.value for kind in EventType])
    return serializers.ListField(child=child, min_length=1, max_length=50, **more)


class _Input(serializers.Serializer[Any]):
    description = Text(required=False, allow_blank=True, max_length=LONGEST_DESCRIPTION)


class WebhookInput(_Input):
    """The body of POST /api/webhooks."""

    team = Text(SLUG, required=False, default="")
    url = url_field(max_length=LONGEST_URL)
    events = _events()


class WebhookChange(_Input):
    """The body of PATCH /api/webhooks/<id>; what is left out stays."""

    url = url_field(required=False, max_length=LONGEST_URL)
    events = _events(required=False)
    enabled = Flag(required=False)


_STATUS = query(
    "status", "Those in this state only.", {"enum": [status.value for status in DeliveryStatus]}
)


class Webhooks(Caller, APIView):
    @operation(
        "listWebhooks",
        "List the webhooks",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={200: Page[Webhook]},
    )
    def get(self, request: Request) -> Response:
        window = Window.of(request.query_params)
        found = endpoints.some_webhooks_for(
            self.actor(request), limit=window.one_more, after=window.after_id
        )
        return window.page(found, webhook_json)

    @operation(
        "addWebhook",
        "Add a webhook",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={201: MadeWebhook},
        takes=WebhookInput,
        refuses=(InvalidValue, NotFound, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        body = WebhookInput(data=request.data)
        body.is_valid(raise_exception=True)
        given, actor, idempotency = _given(body), self.actor(request), self.idempotency(request)
        team_id = endpoints.team_for_webhook(actor, given.pop("team"))
        row, secret = add_webhook(team_id=team_id, actor=actor, idempotency=idempotency, **given)
        answer = {**webhook_json(row), "secret": secret or None}
        return made(answer, replayed=idempotency.is_replayed(row))


class WebhookDetail(Caller, APIView):
    takes_if_match = True

    @operation(
        "getWebhook",
        "Read one webhook, with what it has not got",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={200: WebhookWithCounts},
        refuses=(NotFound,),
    )
    def get(self, request: Request, webhook_id: UUID) -> Response:
        row = endpoints.webhook_for(self.actor(request), webhook_id)
        return Response({**webhook_json(row), **endpoints.undelivered_counts(row)})

    @operation(
        "changeWebhook",
        "Change a webhook, or switch it on or off",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={200: Webhook},
        takes=WebhookChange,
        refuses=(InvalidValue, NotFound),
        more=IF_MATCH,
    )
    def patch(self, request: Request, webhook_id: UUID) -> Response:
        body = WebhookChange(data=request.data)
        body.is_valid(raise_exception=True)
        row = change_webhook(
            endpoint_id=webhook_id,
            actor=self.actor(request),
            check_seen=self.as_seen(request),
            **_given(body),
        )
        return Response(webhook_json(row))

    @operation(
        "removeWebhook",
        "Remove a webhook",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={204: None},
        refuses=(NotFound,),
        more=IF_MATCH,
    )
    def delete(self, request: Request, webhook_id: UUID) -> Response:
        remove_webhook(
            endpoint_id=webhook_id, actor=self.actor(request), check_seen=self.as_seen(request)
        )
        return Response(status=204)


class WebhookRotate(Caller, APIView):
    @operation(
        "rotateWebhookSecret",
        "Make a new secret",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={200: WebhookWithSecret},
        refuses=(NotFound,),
        more="The one before signs beside it for 24 hours.",
    )
    def post(self, request: Request, webhook_id: UUID) -> Response:
        row, secret = rotate_secret(endpoint_id=webhook_id, actor=self.actor(request))
        return Response({**webhook_json(row), "secret": secret})


class WebhookTest(Caller, APIView):
    @operation(
        "testWebhook",
        "Send a `webhook.test`",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={202: Delivery},
        refuses=(NotFound, WebhookDisabled),
    )
    def post(self, request: Request, webhook_id: UUID) -> Response:
        row = deliveries.send_test(endpoint_id=webhook_id, actor=self.actor(request))
        return Response(delivery_json(row), status=202)


class WebhookReplay(Caller, APIView):
    @operation(
        "replayWebhook",
        "Send all that was given up once more",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={202: Count},
        refuses=(NotFound, WebhookDisabled),
    )
    def post(self, request: Request, webhook_id: UUID) -> Response:
        count = deliveries.replay(endpoint_id=webhook_id, actor=self.actor(request))
        return Response({"count": count}, status=202)


class WebhookDeliveries(Caller, APIView):
    @operation(
        "listDeliveries",
        "List what was sent, the latest first",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={200: Page[Delivery]},
        refuses=(InvalidInput, NotFound),
        parameters=[_STATUS],
    )
    def get(self, request: Request, webhook_id: UUID) -> Response:
        row = endpoints.webhook_for(self.actor(request), webhook_id)
        window = Window.of(request.query_params)
        found = endpoints.deliveries_of(
            row,
            limit=window.one_more,
            status=_status(request.query_params.get("status", "")),
            after=window.after_id,
        )
        return window.page(found, delivery_json, lambda one: one.message_id)


class DeliverySendAgain(Caller, APIView):
    @operation(
        "sendDeliveryAgain",
        "Send one message once more, under the same `webhook-id`",
        tag="webhooks",
        scope=Permission.ADMIN,
        answers={202: Delivery},
        refuses=(NotFound, WebhookDisabled),
    )
    def post(self, request: Request, message_id: UUID) -> Response:
        row = deliveries.send_again(message_id=message_id, actor=self.actor(request))
        return Response(delivery_json(row), status=202)


def webhook_json(row: Any) -> Webhook:
    """An endpoint; its secret is in the answer that made it and in no other."""
    return {
        "id": str(row.pk),
        "team": row.team.slug,
        "url": row.url,
        "description": row.description,
        "events": row.event_types,
        "enabled": row.disabled_at is None,
        "disabled_at": row.disabled_at,
        "disabled_reason": row.disabled_reason or None,
        "failing_since": row.failing_since,
        "former_secret_until": row.former_until,
        "created_at": row.created_at,
    }


def delivery_json(row: Any) -> Delivery:
    return {
        "id": str(row.message_id),
        "webhook_id": f"msg_{row.message_id.hex}",
        "type": row.type,
        "status": row.status,
        "body": row.body,
        "created_at": row.created_at,
        "delivered_at": row.delivered_at,
        "next_try_at": row.next_try_at if row.status == DeliveryStatus.PENDING else None,
        "attempts": [
            {
                "at": attempt.at,
                "status_code": attempt.status_code,
                "problem": attempt.problem or None,
                "message": sentence_of(attempt.problem, attempt.status_code)
                if attempt.problem
                else None,
                "answer": attempt.answer,
                "milliseconds": attempt.milliseconds,
            }
            for attempt in row.attempts.all()
        ],
    }


def _given(body: serializers.Serializer[Any]) -> dict[str, Any]:
    given = dict(body.validated_data)
    if "events" in given:
        given["event_types"] = given.pop("events")
    return given


def _status(text: str) -> DeliveryStatus | None:
    try:
        return DeliveryStatus(text) if text else None
    except ValueError as error:
        raise InvalidInput("`status` is `pending`, `delivered` or `failed`.") from error
