"""REST: the warnings about a team's policy, and the differences between its versions."""

from functools import partial
from typing import Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import example
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.schema import Schema
from inbox.queries.people.teams import team_for
from inbox.queries.policies import reviews
from inbox.rules.errors import InvalidInput
from inbox.rules.people.access import Permission
from inbox.rules.policies.implication import WarningCode, warning_message
from inbox.rules.policies.language.changes import have_calendars_changed, rule_changes
from inbox.rules.policies.language.policy import Rule
from inbox.rules.policies.language.sentences import rule_sentence

operation = partial(describe_operation, tag="policies")

RuleKey = Annotated[str, example("small-refunds")]
_VERSION = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}


class PolicyWarning(Schema):
    rule: RuleKey
    code: WarningCode
    detail: Annotated[str, example("refund_paymnet")]
    """The other rule, or the unknown name."""
    message: Annotated[str, example("Small refunds can never hold.")]


class PolicyWarnings(Schema):
    version: list[PolicyWarning] | None
    """Of the version in force; null without one, or if it cannot be read."""
    draft: list[PolicyWarning] | None


class ChangedRule(Schema):
    rule: RuleKey
    before: Annotated[dict[str, Any], example({"id": "small-refunds", "effect": "ask"})] | None
    """The rule; null if it was added."""
    after: Annotated[dict[str, Any], example({"id": "small-refunds", "effect": "deny"})] | None
    """The rule; null if it was removed."""
    before_sentence: Annotated[str, example("When any agent makes a request, ask one reviewer.")]
    after_sentence: Annotated[str, example("When any agent makes a request, deny.")]


class PolicyChanges(Schema):
    before: Annotated[int, example(3)] | None
    """The number of the version; null if no version is in force."""
    after: Annotated[int, example(4)] | None
    """The number of the version; null for the draft."""
    rules: list[ChangedRule]
    calendars_changed: bool


class PolicyReviews(ApiView):
    @operation(
        "GET",
        "Read the warnings about a team's policy and draft",
        {200: PolicyWarnings},
        scope=Permission.ADMIN,
        second_scope=Permission.READ,
    )
    def get_policy_warnings(self, request: Request, team: str) -> Response:
        version, draft = reviews.policy_warnings(self.actor, team_for(self.actor, team).pk)
        return Response(
            {"version": _represent_warnings(version), "draft": _represent_warnings(draft)}
        )

    @operation(
        "GET",
        "Compare the draft with the policy in force, or two versions",
        {200: PolicyChanges},
        scope=Permission.READ,
        parameters=[
            query("before", "The number of a version; the one in force by default.", _VERSION),
            query("after", "The number of a version; the draft by default.", _VERSION),
        ],
        description="A version that cannot be read is compared as if it had no rules.",
    )
    def compare_policies(self, request: Request, team: str) -> Response:
        numbers = {name: _version(request, name) for name in ("before", "after")}
        result = reviews.compare_policies(self.actor, team_for(self.actor, team).pk, **numbers)
        changes = rule_changes(result.before, result.after)
        return Response(
            {
                "before": result.before_number,
                "after": result.after_number,
                "rules": [_represent_change(item.before, item.after) for item in changes],
                "calendars_changed": have_calendars_changed(result.before, result.after),
            }
        )


def _version(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:11]) < 2**31):
        raise InvalidInput(f"`{name}` is the number of a version.")
    return int(text)


def _represent_warnings(result: reviews.PolicyWarnings | None) -> list[dict[str, Any]] | None:
    if result is None:
        return None
    return [
        PolicyWarning.represent(item, message=str(warning_message(item, result.policy)))
        for item in result.warnings
    ]


def _represent_change(before: Rule | None, after: Rule | None) -> dict[str, Any]:
    rule = after or before
    return {
        "rule": rule and rule.id,
        "before": before and before.to_json(),
        "after": after and after.to_json(),
        "before_sentence": rule_sentence(before) if before else "",
        "after_sentence": rule_sentence(after) if after else "",
    }
