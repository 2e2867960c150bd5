"""REST about the keys of a team, for its administrators."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.people.api_keys import (
    UNCHANGED,
    make_key,
    revoke_key,
    rotate_key,
)
from inbox.api.base.base_view import Caller, made
from inbox.api.base.fields import (
    SLUG,
    Line,
    Text,
    Whole,
)
from inbox.api.base.openapi_descriptions import IDEMPOTENCY_KEY, operation
from inbox.api.base.pagination import Window
from inbox.api.base.request_models import checked
from inbox.api.base.response_models import (
    Key,
    KeyWithToken,
    MadeKey,
    Page,
)
from inbox.queries.people import api_keys
from inbox.queries.people.teams import team_for
from inbox.rules.errors import (
    IdempotencyConflict,
    InvalidValue,
    KeyEnded,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people.access import Permission
from inbox.rules.people.api_keys import (
    LONGEST_NAME,
    MOST_DAYS,
    MOST_OVERLAP_HOURS,
    USUAL_DAYS,
    USUAL_OVERLAP_HOURS,
)

_SCOPES = [permission.value for permission in Permission]


class KeyInput(serializers.Serializer[Any]):
    """The body of POST /api/teams/<slug>/keys; `expires_in_days: null` is a key without an end."""

    name = Line(max_length=LONGEST_NAME)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(_SCOPES), min_length=1, max_length=20
    )
    agent = Text(SLUG, required=False, default="", allow_null=True)
    expires_in_days = Whole(
        required=False, default=USUAL_DAYS, allow_null=True, min_value=1, max_value=MOST_DAYS
    )


class RotationInput(serializers.Serializer[Any]):
    """The body of POST /api/keys/<id>/rotate; without `expires_in_days` the end stays."""

    overlap_hours = Whole(
        required=False, default=USUAL_OVERLAP_HOURS, min_value=0, max_value=MOST_OVERLAP_HOURS
    )
    expires_in_days = Whole(required=False, allow_null=True, min_value=1, max_value=MOST_DAYS)


class TeamKeys(Caller, APIView):
    @operation(
        "listKeys",
        "List the keys of a team",
        tag="keys",
        scope=Permission.ADMIN,
        answers={200: Page[Key]},
        refuses=(NotFound,),
    )
    def get(self, request: Request, team: str) -> Response:
        actor, window = self.actor(request), Window.of(request.query_params)
        team_id = team_for(actor, team).pk
        rows = api_keys.api_keys_page(actor, team_id, limit=window.one_more, after=window.after_id)
        return window.page(rows, key_json)

    @operation(
        "makeKey",
        "Make a key",
        tag="keys",
        scope=Permission.ADMIN,
        answers={201: MadeKey},
        takes=KeyInput,
        refuses=(InvalidValue, NotFound, MoreThanOwn, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, team: str) -> Response:
        actor = self.actor(request)
        team_id = team_for(actor, team).pk
        given, once = checked(KeyInput, request), self.once(request)
        row, token = make_key(
            team_id=team_id,
            name=given["name"],
            scopes={Permission(scope) for scope in given["scopes"]},
            agent=given["agent"] or "",
            days=given["expires_in_days"],
            actor=actor,
            once=once,
        )
        answer = {**key_json(row), "token": token or None}
        return made(answer, replayed=once.is_replayed(row))


class KeyDetail(Caller, APIView):
    @operation(
        "getKey",
        "Read one key",
        tag="keys",
        scope=Permission.ADMIN,
        answers={200: Key},
        refuses=(NotFound,),
    )
    def get(self, request: Request, key_id: UUID) -> Response:
        return Response(key_json(api_keys.key_for(self.actor(request), key_id)))


class KeyRotate(Caller, APIView):
    @operation(
        "rotateKey",
        "Give a key a new token",
        tag="keys",
        scope=Permission.ADMIN,
        answers={200: KeyWithToken},
        takes=RotationInput,
        refuses=(NotFound, MoreThanOwn, KeyEnded),
        more="The token before works on for `overlap_hours`, from 0 to 168.",
    )
    def post(self, request: Request, key_id: UUID) -> Response:
        given = checked(RotationInput, request)
        row, token = rotate_key(
            key_id=key_id,
            actor=self.actor(request),
            overlap_hours=given["overlap_hours"],
            days=given.get("expires_in_days", UNCHANGED),
        )
        return Response({**key_json(row), "token": token})


class KeyRevoke(Caller, APIView):
    @operation(
        "revokeKey",
        "End a key, with all that it has open",
        tag="keys",
        scope=Permission.ADMIN,
        answers={200: Key},
        refuses=(NotFound,),
    )
    def post(self, request: Request, key_id: UUID) -> Response:
        return Response(key_json(revoke_key(key_id=key_id, actor=self.actor(request))))


def key_json(row: Any) -> dict[str, Any]:
    """A key; its token is in the answer that made it and in no other."""
    return {
        "id": str(row.pk),
        "team": row.team.slug,
        "name": row.name,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "agent": row.agent.slug if row.agent else None,
        "made_by": row.made_by,
        "created_at": row.created_at,
        "rotated_at": row.rotated_at,
        "former_token_until": row.former_until,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
        "last_used_at": row.last_used_at,
        "last_refused_at": row.last_refused_at,
    }
