"""REST: what reviewers do with requests besides answering one."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions import bulk
from inbox.actions.claims import claim_interrupt, release_claim
from inbox.actions.comments import comment_on
from inbox.actions.withdrawals import withdraw_decision
from inbox.api import shapes
from inbox.api.inputs import (
    BulkDecisionInput,
    BulkWithdrawalInput,
    ClaimInput,
    CommentInput,
    checked,
)
from inbox.api.views import Caller
from inbox.domain.states import EntryStatus
from inbox.selectors import interrupts, teamwork


class InterruptWithdraw(Caller, APIView):
    def post(self, request: Request, interrupt_id: UUID) -> Response:
        actor = self.actor(request)
        return Response(
            shapes.decision_json(withdraw_decision(interrupt_id=interrupt_id, actor=actor))
        )


class InterruptClaim(Caller, APIView):
    """Claimed by POST, also to renew, and given back by DELETE; for people, not for keys."""

    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given = checked(ClaimInput, request)
        claim = claim_interrupt(
            interrupt_id=interrupt_id, actor=self.actor(request), take_over=given["take_over"]
        )
        return Response(shapes.claim_json(claim))

    def delete(self, request: Request, interrupt_id: UUID) -> Response:
        release_claim(interrupt_id=interrupt_id, actor=self.actor(request))
        return Response(status=204)


class InterruptComments(Caller, APIView):
    def get(self, request: Request, interrupt_id: UUID) -> Response:
        row = interrupts.interrupt_for(self.actor(request), interrupt_id)
        return Response({"results": list(map(shapes.comment_json, teamwork.comments_on(row)))})

    def post(self, request: Request, interrupt_id: UUID) -> Response:
        given = checked(CommentInput, request)
        comment = comment_on(
            interrupt_id=interrupt_id, actor=self.actor(request), text=given["text"]
        )
        return Response(shapes.comment_json(comment), status=201)


class InterruptsDecide(Caller, APIView):
    """One answer to many, each decided or refused by itself."""

    def post(self, request: Request) -> Response:
        given = checked(BulkDecisionInput, request)
        results = bulk.decide_many(
            items=[(item["id"], item["view_digest"]) for item in given["items"]],
            status=EntryStatus(given["status"]),
            payload=given.get("payload"),
            actor=self.actor(request),
        )
        return Response({"results": list(map(shapes.result_json, results))})


class InterruptsWithdraw(Caller, APIView):
    def post(self, request: Request) -> Response:
        given = checked(BulkWithdrawalInput, request)
        results = bulk.withdraw_many(interrupt_ids=given["ids"], actor=self.actor(request))
        return Response({"results": list(map(shapes.result_json, results))})
