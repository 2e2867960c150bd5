"""REST about webhooks, for administrators of their team."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions import deliveries
from inbox.actions.webhooks import add_webhook, change_webhook, remove_webhook, rotate_secret
from inbox.api.views import PAGE, Caller
from inbox.domain.errors import InvalidInput
from inbox.domain.webhooks import DeliveryStatus, sentence_of
from inbox.selectors import webhooks


class _Input(serializers.Serializer[Any]):
    """What the texts may be is for the action to say."""

    url = serializers.CharField(trim_whitespace=False)
    events = serializers.ListField(child=serializers.CharField(max_length=40), max_length=50)
    description = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)


class WebhookInput(_Input):
    """The body of POST /api/webhooks."""

    team = serializers.SlugField(required=False, default="")


class WebhookChange(_Input):
    """The body of PATCH /api/webhooks/<id>; what is left out stays."""

    enabled = serializers.BooleanField(required=False)


class Webhooks(Caller, APIView):
    def get(self, request: Request) -> Response:
        rows = webhooks.webhooks_for(self.actor(request))
        return Response({"results": [webhook_json(row) for row in rows]})

    def post(self, request: Request) -> Response:
        body = WebhookInput(data=request.data)
        body.is_valid(raise_exception=True)
        given, actor = _given(body), self.actor(request)
        team_id = webhooks.team_for_webhook(actor, given.pop("team"))
        row, secret = add_webhook(team_id=team_id, actor=actor, **given)
        return Response({**webhook_json(row), "secret": secret}, status=201)


class WebhookDetail(Caller, APIView):
    def get(self, request: Request, webhook_id: UUID) -> Response:
        row = webhooks.webhook_for(self.actor(request), webhook_id)
        return Response({**webhook_json(row), **webhooks.undelivered_counts(row)})

    def patch(self, request: Request, webhook_id: UUID) -> Response:
        body = WebhookChange(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        row = change_webhook(endpoint_id=webhook_id, actor=self.actor(request), **_given(body))
        return Response(webhook_json(row))

    def delete(self, request: Request, webhook_id: UUID) -> Response:
        remove_webhook(endpoint_id=webhook_id, actor=self.actor(request))
        return Response(status=204)


class WebhookRotate(Caller, APIView):
    def post(self, request: Request, webhook_id: UUID) -> Response:
        row, secret = rotate_secret(endpoint_id=webhook_id, actor=self.actor(request))
        return Response({**webhook_json(row), "secret": secret})


class WebhookTest(Caller, APIView):
    def post(self, request: Request, webhook_id: UUID) -> Response:
        row = deliveries.send_test(endpoint_id=webhook_id, actor=self.actor(request))
        return Response(delivery_json(row), status=202)


class WebhookReplay(Caller, APIView):
    def post(self, request: Request, webhook_id: UUID) -> Response:
        count = deliveries.replay(endpoint_id=webhook_id, actor=self.actor(request))
        return Response({"count": count}, status=202)


class WebhookDeliveries(Caller, APIView):
    def get(self, request: Request, webhook_id: UUID) -> Response:
        row = webhooks.webhook_for(self.actor(request), webhook_id)
        query = request.query_params
        found = webhooks.deliveries_of(
            row,
            limit=PAGE + 1,
            status=_status(query.get("status", "")),
            before=_message_id(query.get("before", "")),
        )
        shown = found[:PAGE]
        following = str(shown[-1].message_id) if len(found) > PAGE else None
        return Response(
            {"results": [delivery_json(one) for one in shown], "next_before": following}
        )


class DeliverySendAgain(Caller, APIView):
    def post(self, request: Request, message_id: UUID) -> Response:
        row = deliveries.send_again(message_id=message_id, actor=self.actor(request))
        return Response(delivery_json(row), status=202)


def webhook_json(row: Any) -> dict[str, Any]:
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


def delivery_json(row: Any) -> dict[str, Any]:
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


def _message_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise InvalidInput("`before` is the id of a delivery.") from error
