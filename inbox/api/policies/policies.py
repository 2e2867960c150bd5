"""REST: the policy of a team, its draft, its versions, and trying it."""

import json
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.policies.versions import (
    MAX_COMMENT_CHARACTERS,
    discard_draft,
    publish_draft,
    save_draft,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import PersonName, Text, example
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR
from inbox.api.base.schema import Page, Schema
from inbox.queries.people.teams import team_for
from inbox.queries.policies import policies
from inbox.rules import errors
from inbox.rules.people.access import Permission

if TYPE_CHECKING:
    from inbox.models import PolicyDraft, PolicyVersion

operation = partial(describe_operation, tag="policies", scope=Permission.READ)

_EXAMPLE = {
    "rules": [
        {
            "id": "small-refunds",
            "effect": "allow",
            "when": [
                {"path": "/tool", "op": "is", "value": "refund_payment"},
                {"path": "/args/amount", "op": "lte", "value": 50},
            ],
        }
    ]
}
Document = Annotated[dict[str, Any], example(_EXAMPLE)]


class PolicyInput(Schema):
    policy: Document
    """The document of rules; docs/policies.md describes the language."""


class Publication(Schema):
    digest: Annotated[str, Text(64, may_be_blank=True)] = ""
    """The digest of the draft that you have read; a changed draft is then not published."""
    comment: Annotated[str, Text(MAX_COMMENT_CHARACTERS, may_be_blank=True)] = ""


class Draft(PolicyInput):
    digest: Annotated[str, example("3f5a...")]
    """SHA-256 of the canonical JSON of the policy (RFC 8785)."""
    author: PersonName
    """The last person or key to change the draft."""
    changed_at: datetime


class Version(PolicyInput):
    number: int
    digest: Annotated[str, example("3f5a...")]
    """SHA-256 of the canonical JSON of the policy (RFC 8785), as in the audit trail."""
    comment: Annotated[str, example("Refunds up to 50 EUR run")]
    author: PersonName
    publisher: PersonName
    published_at: datetime


class PolicyState(Schema):
    version: Version | None
    """The version in force; null: people decide everything."""
    draft: Draft | None
    """The unpublished changes."""
    unreadable: bool
    """True if the version in force cannot be read, so that people decide everything."""


class Policies(ApiView):
    @operation("GET", "Read the policy of a team", {200: PolicyState})
    def get_policy(self, request: Request, team: str) -> Response:
        actor = self.actor
        state = policies.policy_state(actor, team_for(actor, team).pk)
        return Response(
            PolicyState.represent(
                state,
                version=state.version and represent_version(state.version),
                draft=state.draft and _represent_draft(state.draft),
                unreadable=state.is_unreadable,
            )
        )

    @operation(
        "PUT",
        "Save the draft of a team's policy",
        {200: Draft},
        scope=Permission.ADMIN,
        body=PolicyInput,
        supports_if_match=True,
        description="The draft rules on nothing until it is published.",
        refusals=(errors.InvalidValue,),
    )
    def save_draft(self, request: Request, team: str) -> Response:
        actor = self.actor
        draft = save_draft(
            team_id=team_for(actor, team).pk,
            body=PolicyInput.from_request(request).policy,
            actor=actor,
            check_seen=self.check_if_match(request),
        )
        return Response(_represent_draft(draft))

    @operation(
        "DELETE",
        "Discard the draft of a team's policy",
        {204: None},
        scope=Permission.ADMIN,
    )
    def discard_draft(self, request: Request, team: str) -> Response:
        actor = self.actor
        discard_draft(team_id=team_for(actor, team).pk, actor=actor)
        return Response(status=204)

    @operation(
        "POST",
        "Put the draft in force as the next version",
        {201: Version},
        scope=Permission.ADMIN,
        body=Publication,
        description="Open requests keep the rule they were asked under.",
        refusals=(
            errors.InvalidValue,
            errors.PolicyChanged,
            errors.SecondAdministratorRequired,
        ),
    )
    def publish_draft(self, request: Request, team: str) -> Response:
        actor = self.actor
        body = Publication.from_request(request)
        version = publish_draft(
            team_id=team_for(actor, team).pk,
            actor=actor,
            comment=body.comment,
            seen_digest=body.digest,
        )
        return Response(represent_version(version), status=201)

    @operation(
        "GET",
        "List the versions of a team's policy, the latest first",
        {200: Page[Version]},
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def list_versions(self, request: Request, team: str) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = policies.policy_versions(
            actor,
            team_for(actor, team).pk,
            limit=pagination.one_more,
            before=pagination.after_number,
        )
        return pagination.page(rows, represent_version, cursor=lambda row: row.number)

    @operation("GET", "Read one version of a team's policy", {200: Version})
    def get_version(self, request: Request, team: str, number: int) -> Response:
        actor = self.actor
        version = policies.policy_version(actor, team_for(actor, team).pk, number)
        return Response(represent_version(version))


def _represent_draft(draft: "PolicyDraft") -> dict[str, Any]:
    return Draft.represent(draft, policy=_document(draft.body), author=draft.author_label)


def represent_version(version: "PolicyVersion") -> dict[str, Any]:
    return Version.represent(
        version,
        policy=_document(version.body),
        author=version.author_label,
        publisher=version.publisher_label,
    )


def _document(body: str) -> Any:
    """Return the document, or an empty one if the row cannot be read."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return {}
