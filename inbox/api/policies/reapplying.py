"""REST: applying the policies in force to requests that were opened under earlier ones."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.policies.reapply import reapply_policies
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, example
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import Schema
from inbox.queries.people.teams import team_for
from inbox.queries.policies.reapplication import MAX_REQUESTS, preview_reapplication
from inbox.rules.people.access import Permission
from inbox.rules.policies.language.policy import Effect

operation = partial(describe_operation, tag="policies", scope=Permission.ADMIN)


class RulingChange(Schema):
    request: UUID
    tool: Annotated[str, example("refund_payment")]
    effect: Effect
    """What the policies in force would do."""
    rules: Annotated[list[str], example(["small-refunds"])]


class ReapplyPreview(Schema):
    requests: Annotated[int, example(12)]
    """Open requests that were evaluated."""
    changes: list[RulingChange]
    complete: bool
    """False if there are more open requests than were evaluated."""


class ReapplyInput(Schema):
    after: UUID = UNSET
    """`next_after` of the response before."""


class Reapplied(Schema):
    changed: Annotated[int, example(3)]
    """Requests that people decide by a new ruling."""
    decided: Annotated[int, example(2)]
    """Requests that the policy has allowed or denied."""
    next_after: UUID | None
    """Send it as `after` to go on; null if all open requests were handled."""


class Reapplying(ApiView):
    @operation(
        "GET",
        "Show the open requests on which the policy in force would rule differently",
        {200: ReapplyPreview},
        second_scope=Permission.READ,
        description=f"Reads up to {MAX_REQUESTS} open requests, and changes nothing.",
    )
    def preview_reapply(self, request: Request, team: str) -> Response:
        actor = self.actor
        preview = preview_reapplication(actor, team_for(actor, team))
        return Response(
            {
                "requests": preview.requests,
                "changes": [_represent(item) for item in preview.changes],
                "complete": preview.is_complete,
            }
        )

    @operation(
        "POST",
        "Apply the policy in force to open requests",
        {200: Reapplied},
        body=ReapplyInput,
        description=(
            "Requests whose ruling changes get a new view digest, and their approvals by some of "
            "several people are void. What the policy allows or denies is decided at once."
        ),
    )
    def reapply_policy(self, request: Request, team: str) -> Response:
        actor = self.actor
        after = ReapplyInput.from_request(request).after
        result = reapply_policies(
            team_id=team_for(actor, team).pk, actor=actor, after=None if after is UNSET else after
        )
        return Response(Reapplied.represent(result))


def _represent(item: Any) -> dict[str, Any]:
    return RulingChange.represent(
        item.interrupt,
        request=item.interrupt.pk,
        effect=item.after.effect,
        rules=list(item.after.rules),
    )
