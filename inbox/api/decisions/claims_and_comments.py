"""REST: what reviewers do with requests besides answering one."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.decisions import bulk
from inbox.actions.decisions.claims import claim_interrupt, release_claim
from inbox.actions.decisions.comments import add_comment
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.api.base import serializers
from inbox.api.base.base_view import Caller, made
from inbox.api.base.openapi_descriptions import IDEMPOTENCY_KEY, operation
from inbox.api.base.pagination import Window
from inbox.api.base.request_models import (
    BulkDecisionInput,
    BulkWithdrawalInput,
    ClaimInput,
    CommentInput,
    checked,
)
from inbox.api.base.response_models import (
    Claim,
    Comment,
    Decision,
    Listed,
    Page,
    Result,
)
from inbox.queries.decisions import collaboration, interrupts
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import (
    AlreadyDecided,
    AlreadyResumed,
    Claimed,
    IdempotencyConflict,
    InterruptExpired,
    NotFound,
)
from inbox.rules.people.access import Permission
from inbox.rules.runs.states import EntryStatus


class InterruptWithdraw(Caller, APIView):
    @operation(
        "withdrawDecision",
        "Take one's own answer back",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={200: Decision},
        refuses=(NotFound, AlreadyResumed, InterruptExpired),
        more="Possible while the run waits for other answers.",
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        actor = self.actor(request)
        decision = withdraw_decision(interrupt_id=interrupt_id, actor=actor)
        return Response(serializers.told_decision_json(decision, actor))


class InterruptClaim(Caller, APIView):
    """Claimed by POST, also to renew, and given back by DELETE; for people, not for keys."""

    @operation(
        "claimInterrupt",
        "Take an interrupt for ten minutes, or renew that",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={200: Claim},
        takes=ClaimInput,
        refuses=(NotFound, AlreadyDecided, Claimed, InterruptExpired),
        only_people=True,
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given = checked(ClaimInput, request)
        claim = claim_interrupt(
            interrupt_id=interrupt_id, actor=self.actor(request), take_over=given["take_over"]
        )
        return Response(serializers.claim_json(claim))

    @operation(
        "releaseInterrupt",
        "Give an interrupt back for others to take",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={204: None},
        refuses=(NotFound,),
        only_people=True,
    )
    def delete(self, request: Request, interrupt_id: UUID) -> Response:
        release_claim(interrupt_id=interrupt_id, actor=self.actor(request))
        return Response(status=204)


class InterruptComments(Caller, APIView):
    @operation(
        "listComments",
        "Read what reviewers said about an interrupt",
        tag="interrupts",
        scope=Permission.READ,
        answers={200: Page[Comment]},
        refuses=(NotFound,),
    )
    def get(self, request: Request, interrupt_id: UUID) -> Response:
        row = interrupts.interrupt_for(self.actor(request), interrupt_id)
        window = Window.of(request.query_params)
        found = collaboration.comments_page(row, limit=window.one_more, after=window.after_id)
        return window.page(found, serializers.comment_json)

    @operation(
        "addComment",
        "Say something about an interrupt, which no agent gets",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={201: Comment},
        takes=CommentInput,
        refuses=(NotFound, IdempotencyConflict),
        parameters=[IDEMPOTENCY_KEY],
        only_people=True,
    )
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given, idempotency = checked(CommentInput, request), self.idempotency(request)
        comment = add_comment(
            interrupt_id=interrupt_id,
            actor=self.actor(request),
            text=given["text"],
            idempotency=idempotency,
        )
        return made(serializers.comment_json(comment), replayed=idempotency.is_replayed(comment))


class InterruptsDecide(Caller, APIView):
    """One answer to many, each decided or refused by itself."""

    @operation(
        "decideInterrupts",
        "Give up to 100 interrupts the same answer",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={200: Listed[Result]},
        takes=BulkDecisionInput,
        more="Each is decided or refused by itself.",
    )
    def post(self, request: Request) -> Response:
        given = checked(BulkDecisionInput, request)
        results = bulk.decide_many(
            items=[(item["id"], item["view_digest"]) for item in given["items"]],
            status=EntryStatus(given["status"]),
            payload=given.get("payload"),
            actor=self.actor(request),
            entrance=Entrance.BULK_REST,
        )
        return Response({"results": list(map(serializers.result_json, results))})


class InterruptsWithdraw(Caller, APIView):
    @operation(
        "withdrawDecisions",
        "Take up to 100 of one's own answers back",
        tag="interrupts",
        scope=Permission.DECIDE,
        answers={200: Listed[Result]},
        takes=BulkWithdrawalInput,
        more="Each is taken back or refused by itself.",
    )
    def post(self, request: Request) -> Response:
        given = checked(BulkWithdrawalInput, request)
        results = bulk.withdraw_many(interrupt_ids=given["ids"], actor=self.actor(request))
        return Response({"results": list(map(serializers.result_json, results))})
