"""REST: the policy of the installation, which rules on the requests of all teams."""

from functools import partial
from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.policies.installation import publish_installation_policy
from inbox.actions.policies.versions import MAX_COMMENT_CHARACTERS
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, Range, Text
from inbox.api.base.openapi_descriptions import describe_operation, page_parameters
from inbox.api.base.pagination import NUMBER_CURSOR
from inbox.api.base.schema import Page
from inbox.api.policies.policies import PolicyInput, Version, represent_version
from inbox.queries.policies import installation
from inbox.rules import errors
from inbox.rules.people.access import Permission

operation = partial(describe_operation, tag="policies", scope=Permission.ADMIN, only_people=True)

_SUPERUSERS = "For superusers only; administrators of teams get 403."


class InstallationPublication(PolicyInput):
    version: Annotated[int, Range(0, 2**31 - 1)] = UNSET
    """The number of the version that you have read, 0 for none; another one is not replaced."""
    comment: Annotated[str, Text(MAX_COMMENT_CHARACTERS, may_be_blank=True)] = ""


class InstallationPolicies(ApiView):
    @operation(
        "GET",
        "List the versions of the installation's policy, the latest first",
        {200: Page[Version]},
        parameters=page_parameters(NUMBER_CURSOR),
        description=f"{_SUPERUSERS} The first version is in force.",
    )
    def list_installation_versions(self, request: Request) -> Response:
        actor, pagination = self.actor, self.pagination
        rows = installation.installation_versions(
            actor, limit=pagination.one_more, before=pagination.after_number
        )
        return pagination.page(rows, represent_version, cursor=lambda row: row.number)

    @operation(
        "POST",
        "Put a policy in force for all teams",
        {201: Version},
        body=InstallationPublication,
        description=f"{_SUPERUSERS} Its rules ask or deny. Open requests keep their rulings.",
        refusals=(errors.InvalidValue, errors.PolicyChanged),
    )
    def publish_installation_policy(self, request: Request) -> Response:
        actor = self.actor
        body = InstallationPublication.from_request(request)
        version = publish_installation_policy(
            body=body.policy,
            actor=actor,
            comment=body.comment,
            seen_version=None if body.version is UNSET else body.version,
        )
        return Response(represent_version(version), status=201)
