"""REST: claims on interrupts, and comments about them."""

from datetime import datetime
from functools import partial
from typing import Annotated
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.decisions.assignees import assign_interrupt, unassign_interrupt
from inbox.actions.decisions.claims_and_comments import add_comment, claim_interrupt, release_claim
from inbox.actions.decisions.snoozes import end_snooze, snooze_interrupt
from inbox.api.base.base_view import ApiView, created_response
from inbox.api.base.field_types import Flag, Id, PersonName, Text, example
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import Page, Schema, source
from inbox.queries.decisions import collaboration, interrupts
from inbox.rules import errors
from inbox.rules.decisions.teamwork.collaboration import MAX_COMMENT_CHARACTERS
from inbox.rules.people.access import Permission

operation = partial(describe_operation, tag="interrupts", scope=Permission.DECIDE)


class ClaimInput(Schema):
    take_over: Annotated[Flag, example(True)] = False
    """Take over the claim of another person."""


class Claim(Schema):
    by: PersonName = source("holder.name")
    user_id: int
    at: datetime = source("claimed_at")
    until: datetime


class AssigneeInput(Schema):
    user: Annotated[int, example(2)]
    """The id of a member of the team who may decide the interrupt."""


class Assignee(Schema):
    user: Annotated[int, example(2)] = source("user_id")
    name: PersonName = source("user.display_name")
    at: datetime = source("assigned_at")


class SnoozeInput(Schema):
    until: datetime


class Snooze(SnoozeInput):
    interrupt: Id = source("interrupt_id")


class CommentInput(Schema):
    text: Annotated[
        str,
        Text(MAX_COMMENT_CHARACTERS, r"\S", "The comment is empty."),
        example("Kim has asked for it by phone."),
    ]


class Comment(CommentInput):
    id: Id
    by: PersonName = source("user.display_name")
    user_id: int
    at: datetime = source("created_at")


class Collaboration(ApiView):
    @operation(
        "POST",
        "Claim an interrupt for ten minutes, or renew the claim",
        {200: Claim},
        body=ClaimInput,
        only_people=True,
        refusals=(errors.AlreadyDecided, errors.Claimed, errors.InterruptExpired),
    )
    def claim_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        body = ClaimInput.from_request(request)
        claim = claim_interrupt(
            interrupt_id=interrupt_id, actor=self.actor, take_over=body.take_over
        )
        return Response(Claim.represent(claim))

    @operation("DELETE", "Release the claim on an interrupt", {204: None}, only_people=True)
    def release_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        release_claim(interrupt_id=interrupt_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "PUT",
        "Assign an interrupt to a member of the team, who is told",
        {200: Assignee},
        body=AssigneeInput,
        only_people=True,
        refusals=(errors.AlreadyDecided, errors.InterruptExpired, errors.InvalidValue),
    )
    def assign_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        body = AssigneeInput.from_request(request)
        assignee = assign_interrupt(interrupt_id=interrupt_id, user_id=body.user, actor=self.actor)
        return Response(Assignee.represent(assignee))

    @operation("DELETE", "Assign an interrupt to nobody", {204: None}, only_people=True)
    def unassign_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        unassign_interrupt(interrupt_id=interrupt_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "PUT",
        "Hide an interrupt from your own lists on pages until a time",
        {200: Snooze},
        body=SnoozeInput,
        scope=Permission.READ,
        only_people=True,
        refusals=(errors.AlreadyDecided, errors.InterruptExpired, errors.InvalidValue),
    )
    def snooze_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        body = SnoozeInput.from_request(request)
        snooze = snooze_interrupt(interrupt_id=interrupt_id, until=body.until, actor=self.actor)
        return Response(Snooze.represent(snooze))

    @operation(
        "DELETE",
        "Show a snoozed interrupt again",
        {204: None},
        scope=Permission.READ,
        only_people=True,
    )
    def end_snooze(self, request: Request, interrupt_id: UUID) -> Response:
        end_snooze(interrupt_id=interrupt_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "GET",
        "List the comments of reviewers about an interrupt",
        {200: Page[Comment]},
        scope=Permission.READ,
    )
    def list_comments(self, request: Request, interrupt_id: UUID) -> Response:
        row = interrupts.interrupt_for(self.actor, interrupt_id)
        pagination = self.pagination
        rows = collaboration.comments_page(
            self.actor, row, limit=pagination.one_more, after=pagination.after_id
        )
        return pagination.page(rows, Comment.represent)

    @operation(
        "POST",
        "Comment on an interrupt; agents do not see comments",
        {201: Comment},
        body=CommentInput,
        only_people=True,
        is_idempotent=True,
    )
    def add_comment(self, request: Request, interrupt_id: UUID) -> Response:
        body, idempotency = CommentInput.from_request(request), self.idempotency
        comment = add_comment(
            interrupt_id=interrupt_id,
            actor=self.actor,
            text=body.text,
            idempotency=idempotency,
        )
        return created_response(
            Comment.represent(comment), replayed=idempotency.is_replayed(comment)
        )
