"""REST: decide interrupts, one or many, and withdraw decisions."""

import json
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, cast
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.decisions import bulk
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.endorsements import withdraw_endorsement
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.api.base.base_view import ApiView
from inbox.api.base.error_responses import Problem, body_of
from inbox.api.base.field_types import Flag, Id, PersonName, Text, example
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import List, Schema, source
from inbox.api.policies.grants import GrantInput
from inbox.queries.policies.quorum import endorsement_progress
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Permission
from inbox.rules.runs.states import EntryStatus
from inbox.rules.schema.mask_agui import secrets_of_answers

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="interrupts", scope=Permission.DECIDE)

DIGEST = "9f2c6ab51b3a4f0c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
#: Without it, the action says that it is required.
ViewDigest = Annotated[str, Text(64, may_be_blank=True), example(DIGEST)]
Payload = Annotated[Any, example({"approved": True})]


class AnswerInput(Schema):
    status: EntryStatus
    payload: Payload = None


class DecisionInput(AnswerInput):
    view_digest: ViewDigest = ""
    """The `view_digest` of the interrupt as it was read."""
    unseen: Flag = False
    """People: approve without having seen the masked values. Keys that decide see all values."""
    despite_restore: Flag = False
    """You have checked that the call of a restored request did not run after the backup."""
    grant: GrantInput | None = None
    """People: allow further calls, too."""


class OverrideInput(Schema):
    reason: Annotated[str, Text(500), example("The production database is down.")]
    """For the audit trail and the page of the request."""
    payload: Payload = None
    """An approval; null stands for `{"approved": true}`."""
    view_digest: ViewDigest = ""
    unseen: Flag = False
    despite_restore: Flag = False
    """You have checked that the call of a restored request did not run after the backup."""


class InterruptVersion(Schema):
    """An interrupt as it was read."""

    id: Id
    view_digest: ViewDigest = ""


class BulkDecisionInput(AnswerInput):
    items: Annotated[list[InterruptVersion], Field(min_length=1, max_length=bulk.MAX_ITEMS)]


class BulkWithdrawalInput(Schema):
    ids: Annotated[list[Id], Field(min_length=1, max_length=bulk.MAX_ITEMS)]


class Decision(Schema):
    id: Id
    status: EntryStatus
    payload: Payload
    unseen: bool
    """True if a person approved explicitly without having seen the masked values."""
    grant: Id | None = source("grant_id")
    """The grant that approved the call, null if a person, key or rule decided."""
    override_reason: Annotated[str, example("")]
    """The reason of an approval despite the policy; "" for other decisions."""
    by: PersonName = source("actor_label")
    """The name at that time. Names change; the ids do not."""
    user_id: int | None
    """The person who decided; null for keys and the system."""
    key_id: Id | None = source("api_key_id")
    at: datetime = source("created_at")
    withdrawn_at: datetime | None


class EndorsementState(Schema):
    """The approvals of an interrupt that several people have to approve."""

    endorsed: Annotated[int, example(1)]
    """The number of required people who have approved."""
    of: Annotated[int, example(2)]
    """The number of people that the policy requires."""
    missing: Annotated[list[str], example(["finance"])]
    """The groups or roles of which one person each is missing."""


class Result(Schema):
    """The result for one of many: the decision, or the error that a single request would get."""

    id: Id
    decision: Decision | None
    error: Problem | None


#: The errors of an approval by one person, whatever the policy requires.
_REFUSALS: Final = (
    errors.AlreadyDecided,
    errors.Claimed,
    errors.DeniedByPolicy,
    errors.InboxOnly,
    errors.InterruptExpired,
    errors.InvalidPayload,
    errors.EditsNotOffered,
    errors.InvalidValue,
    errors.MaskedNotSeen,
    errors.RestoreNotChecked,
    errors.AuditSinkLags,
    errors.SignInTooOld,
    errors.ViewChanged,
    errors.ViewDigestRequired,
)


class Decisions(ApiView):
    @operation(
        "POST",
        "Decide one interrupt",
        {200: Decision, 202: EndorsementState},
        body=DecisionInput,
        description=(
            "The last decision that a run waits for resumes it. 202 if the team's policy requires "
            "approvals of more people."
        ),
        refusals=(*_REFUSALS, errors.RequirementNotMet, errors.SelfApproval),
    )
    def decide_interrupt(self, request: Request, interrupt_id: UUID) -> Response:
        body = DecisionInput.from_request(request)
        row = decide(
            interrupt_id=interrupt_id,
            status=body.status,
            payload=body.payload,
            view_digest=body.view_digest,
            actor=self.actor,
            entrance=Entrance.REST,
            unseen=body.unseen,
            grant=body.grant.to_request() if body.grant else None,
            despite_restore=body.despite_restore,
        )
        progress = endorsement_progress(row)
        if progress is not None:
            return Response(EndorsementState.represent(progress), status=202)
        return _response(cast("models.Decision", row), may_see_secrets=self.may_see_secrets)

    @operation(
        "POST",
        "Approve despite the team's policy",
        {200: Decision},
        body=OverrideInput,
        only_people=True,
        description=(
            "For emergencies: members of the team's `override_group` who have signed in in the "
            "last 5 minutes approve alone. Not what the policy denies."
        ),
        refusals=_REFUSALS,
    )
    def override_policy(self, request: Request, interrupt_id: UUID) -> Response:
        body = OverrideInput.from_request(request)
        row = decide(
            interrupt_id=interrupt_id,
            status=EntryStatus.RESOLVED,
            payload={"approved": True} if body.payload is None else body.payload,
            view_digest=body.view_digest,
            actor=self.actor,
            entrance=Entrance.OVERRIDE_REST,
            unseen=body.unseen,
            override_reason=body.reason,
            despite_restore=body.despite_restore,
        )
        return _response(cast("models.Decision", row), may_see_secrets=self.may_see_secrets)

    @operation(
        "POST",
        "Withdraw your own decision",
        {200: Decision},
        description="Possible while the run waits for others; also for a policy's approval.",
        refusals=(errors.AlreadyResumed, errors.InterruptExpired),
    )
    def withdraw_decision(self, request: Request, interrupt_id: UUID) -> Response:
        row = withdraw_decision(interrupt_id=interrupt_id, actor=self.actor)
        return _response(row, may_see_secrets=self.may_see_secrets)

    @operation(
        "DELETE",
        "Withdraw your own approval of an open interrupt",
        {204: None},
        description="For approvals as one of several people.",
        refusals=(errors.AlreadyDecided,),
    )
    def withdraw_endorsement(self, request: Request, interrupt_id: UUID) -> Response:
        withdraw_endorsement(interrupt_id=interrupt_id, actor=self.actor)
        return Response(status=204)

    @operation(
        "POST",
        "Decide up to 100 interrupts the same way",
        {200: List[Result]},
        body=BulkDecisionInput,
        description="Each is decided or rejected on its own.",
    )
    def decide_interrupts(self, request: Request) -> Response:
        body = BulkDecisionInput.from_request(request)
        results = bulk.decide_many(
            items=[(item.id, item.view_digest) for item in body.items],
            status=body.status,
            payload=body.payload,
            actor=self.actor,
            entrance=Entrance.BULK_REST,
        )
        return _results(results)

    @operation(
        "POST",
        "Withdraw up to 100 of your own decisions",
        {200: List[Result]},
        body=BulkWithdrawalInput,
        description="Each is withdrawn or rejected on its own.",
    )
    def withdraw_decisions(self, request: Request) -> Response:
        body = BulkWithdrawalInput.from_request(request)
        results = bulk.withdraw_many(interrupt_ids=body.ids, actor=self.actor)
        return _results(results)


def represent_decision(row: "models.Decision", interrupt_body: str | None) -> dict[str, Any]:
    """Return a decision; its payload masked for the AG-UI interrupt, or unmasked for None."""
    payload = None if row.payload is None else json.loads(row.payload)
    if interrupt_body is not None:
        payload = secrets_of_answers(interrupt_body).masked(payload)
    return Decision.represent(row, payload=payload)


def _response(row: "models.Decision", *, may_see_secrets: bool) -> Response:
    return Response(represent_decision(row, None if may_see_secrets else row.interrupt.body))


def _results(results: list[bulk.BulkResult]) -> Response:
    return Response({"results": [_represent_result(result) for result in results]})


def _represent_result(result: bulk.BulkResult) -> dict[str, Any]:
    return Result.represent(
        result,
        id=result.interrupt_id,
        decision=represent_decision(result.decision, "{}") if result.decision else None,
        error=body_of(result.refusal) if result.refusal else None,
    )
