"""REST: claims on interrupts, and comments about them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.decisions.claims import claim_interrupt, release_claim
from inbox.actions.decisions.comments import add_comment
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import Flag, Id, PersonName, Text, example
from inbox.api.base.openapi_descriptions import IDEMPOTENCY_KEY, operation
from inbox.api.base.pagination import Pagination
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.decisions import collaboration, interrupts
from inbox.rules.decisions.collaboration import MAX_COMMENT_CHARACTERS
from inbox.rules.errors import (
    AlreadyDecided,
    Claimed,
    IdempotencyConflict,
    InterruptExpired,
    NotFound,
)
from inbox.rules.people.access import Permission


class ClaimInput(Schema):
    take_over: Annotated[Flag, example(True)] = False
    """Take the claim of another person over."""


class Claim(Schema):
    by: PersonName = source("holder.name")
    at: datetime = source("claimed_at")
    until: datetime


class CommentInput(Schema):
    text: Annotated[
        str,
        Text(MAX_COMMENT_CHARACTERS, r"\S", "The comment is empty."),
        example("Kim has asked for it by phone."),
    ]


class Comment(CommentInput):
    id: Id
    by: PersonName = source("user.display_name")
    at: datetime = source("created_at")


class InterruptClaim(ApiView):
    @operation(
        "claimInterrupt",
        "Claim an interrupt for ten minutes, or renew the claim",
        tag="interrupts",
        scope=Permission.DECIDE,
        responses={200: Claim},
        body=ClaimInput,
        refusals=(NotFound, AlreadyDecided, Claimed, InterruptExpired),
        only_people=True,
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        body = ClaimInput.from_request(request)
        claim = claim_interrupt(
            interrupt_id=interrupt_id, actor=self.actor(request), take_over=body.take_over
        )
        return Response(Claim.represent(claim))

    @operation(
        "releaseInterrupt",
        "Release the claim on an interrupt",
        tag="interrupts",
        scope=Permission.DECIDE,
        responses={204: None},
        refusals=(NotFound,),
        only_people=True,
    )
    def delete(self, request: Request, interrupt_id: UUID) -> Response:
        release_claim(interrupt_id=interrupt_id, actor=self.actor(request))
        return Response(status=204)


class InterruptComments(ApiView):
    @operation(
        "listComments",
        "List the comments of reviewers about an interrupt",
        tag="interrupts",
        scope=Permission.READ,
        responses={200: Page[Comment]},
        refusals=(NotFound,),
    )
    def get(self, request: Request, interrupt_id: UUID) -> Response:
        row = interrupts.interrupt_for(self.actor(request), interrupt_id)
        pagination = Pagination.of(request.query_params)
        rows = collaboration.comments_page(
            row, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, Comment.represent)

    @operation(
        "addComment",
        "Comment on an interrupt; agents do not see comments",
        tag="interrupts",
        scope=Permission.DECIDE,
        responses={201: Comment},
        body=CommentInput,
        refusals=(NotFound, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
        only_people=True,
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        body, idempotency = CommentInput.from_request(request), self.idempotency(request)
        comment = add_comment(
            interrupt_id=interrupt_id,
            actor=self.actor(request),
            text=body.text,
            idempotency=idempotency,
        )
        return created_response(
            Comment.represent(comment), replayed=idempotency.is_replayed(comment)
        )
