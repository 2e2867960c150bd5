"""REST: trying a policy on past requests before it is published."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, Range, Text, example
from inbox.api.base.openapi_descriptions import describe_operation, query
from inbox.api.base.schema import Schema
from inbox.api.policies.policies import Document
from inbox.queries.people.teams import team_for
from inbox.queries.policies import backtests, shadow_flips, trials
from inbox.rules import errors
from inbox.rules.people.access import Permission
from inbox.rules.policies import backtest
from inbox.rules.policies.backtest import PastOutcome
from inbox.rules.policies.language.policy import Effect, Mode
from inbox.rules.policies.language.sentences import explanation, match_sentence
from inbox.rules.policies.operators import Truth

operation = partial(
    describe_operation, tag="policies", scope=Permission.ADMIN, second_scope=Permission.READ
)

_REQUESTS = query(
    "requests",
    "The number of requests, counted from the latest; 1000 by default.",
    {"type": "integer", "minimum": 1, "maximum": backtest.MAX_REQUESTS},
)
RuleKey = Annotated[str, example("small-refunds")]


class PolicyChoice(Schema):
    """The policy to try: a document, a version, or else the draft or the version in force."""

    policy: Document = UNSET
    version: Annotated[int, Range(1, 2**31 - 1)] = UNSET


class BacktestInput(PolicyChoice):
    requests: Annotated[int, Range(1, backtest.MAX_REQUESTS), example(1000)] = 1000
    """The number of requests, counted from the latest."""


class BacktestCell(Schema):
    effect: Effect
    """What the policy would have done."""
    outcome: PastOutcome
    """What happened."""
    count: int


class Contradiction(Schema):
    request: UUID
    effect: Effect
    outcome: PastOutcome
    rules: list[RuleKey]


class Backtest(Schema):
    total: int
    table: list[BacktestCell]
    contradictions: list[Contradiction]
    """Requests that people decided differently, the gravest first; 200 at most."""
    decided: dict[str, int]
    """The requests that each enforced rule would have decided."""
    unused: list[RuleKey]
    """The enforced rules that would have decided nothing."""


class TrialInput(PolicyChoice):
    """A request of the team, or else the facts of a call; what is left out is unknown."""

    request: UUID = UNSET
    tool: Annotated[str, Text(200), example("refund_payment")] = UNSET
    agent: Annotated[str, Text(50), example("refund-desk")] = UNSET
    environment: Annotated[str, Text(40), example("production")] = UNSET
    arguments: Annotated[dict[str, Any], example({"amount": 40})] = UNSET
    at: datetime = UNSET
    """The time of the request; now by default."""


class RuleResult(Schema):
    rule: RuleKey
    mode: Mode
    effect: Effect
    truth: Truth
    """Whether its conditions hold."""
    applied: bool
    """True if the rule decides."""
    explanation: Annotated[str, example("Small refunds (version 3) approved: amount 40 <= 50.")]


class TrialResult(Schema):
    effect: Effect
    rules: list[RuleKey]
    """The rules that decide."""
    grantable: bool
    explanation: list[Annotated[str, example("No rule decides this request.")]]
    results: list[RuleResult]
    """Each rule that is not off."""


class ShadowFlip(Schema):
    request: UUID
    tool: Annotated[str, example("refund_payment")]
    at: datetime
    ruled: Effect
    """The effect of the policy."""
    effect: Effect
    """The effect with the rule."""
    stricter: bool
    """True if other people would have had to decide."""
    outcome: PastOutcome


class ShadowRule(Schema):
    rule: RuleKey
    requests: int
    """The requests that the rule was evaluated for."""
    changed: int
    contradictions: int
    """The changed requests that people decided differently from the rule."""
    flips: list[ShadowFlip]
    """The latest 50 of the changed requests."""


class ShadowRules(Schema):
    rules: list[ShadowRule]


class Trying(ApiView):
    @operation(
        "POST",
        "Evaluate a policy for one request or call",
        {200: TrialResult},
        body=TrialInput,
        description="Nothing is stored. The secret arguments of a request are unknown.",
        refusals=(errors.InvalidValue,),
    )
    def test(self, request: Request, team: str) -> Response:
        row = team_for(self.actor, team)
        backtests.require_drafting(self.actor, row.pk)
        body = TrialInput.from_request(request)
        members = body.sent()
        call = trials.Call(
            **{name: members[name] for name in trials.Call.__annotations__ if name in members}
        )
        trial = trials.try_policy(
            self.actor,
            row,
            backtests.policy_to_try(row.pk, **_choice(body)),
            call=call,
            request=members.get("request"),
        )
        return Response(_represent_trial(trial))

    @operation(
        "POST",
        "Evaluate a policy for past requests",
        {200: Backtest},
        body=BacktestInput,
        description="Nothing is changed. Facts that were not stored, and secrets, are unknown.",
        refusals=(errors.InvalidValue, errors.RateLimited),
    )
    def backtest(self, request: Request, team: str) -> Response:
        row = team_for(self.actor, team)
        backtests.require_drafting(self.actor, row.pk)
        body = BacktestInput.from_request(request)
        policy = backtests.policy_to_try(row.pk, **_choice(body))
        result = backtests.run_backtest(self.actor, row, policy, requests=body.requests)
        return Response(_represent_backtest(result))

    @operation(
        "GET",
        "List what the rules in shadow would have changed",
        {200: ShadowRules},
        parameters=[_REQUESTS],
        description="Of the version in force, and of versions with the same rule.",
        refusals=(errors.RateLimited,),
    )
    def list_shadow_rules(self, request: Request, team: str) -> Response:
        row = team_for(self.actor, team)
        backtests.require_drafting(self.actor, row.pk)
        text = request.query_params.get("requests", "1000")
        is_number = text.isascii() and text.isdecimal() and len(text) < 6
        if not (is_number and 1 <= int(text) <= backtest.MAX_REQUESTS):
            raise errors.InvalidInput(
                f"`requests` is a whole number from 1 to {backtest.MAX_REQUESTS}."
            )
        rules = shadow_flips.shadow_flips(self.actor, row, requests=int(text))
        return Response({"rules": [_represent_shadow_rule(item) for item in rules]})


def _represent_shadow_rule(item: shadow_flips.ShadowRule) -> dict[str, Any]:
    flips = [ShadowFlip.represent(flip) for flip in item.flips]
    return ShadowRule.represent(item, rule=item.rule.id, flips=flips)


def _choice(body: PolicyChoice) -> dict[str, Any]:
    members = body.sent()
    return {"document": members.get("policy"), "version": members.get("version")}


def _represent_trial(trial: trials.Trial) -> dict[str, Any]:
    results = [
        RuleResult.represent(match, mode=rule.mode, explanation=match_sentence(match))
        for rule, match in trial.matches
    ]
    return TrialResult.represent(
        trial.ruling,
        rules=list(trial.ruling.rules),
        explanation=explanation(trial.ruling),
        results=results,
    )


def _represent_backtest(result: backtest.Backtest) -> dict[str, Any]:
    cells = [
        {"effect": effect, "outcome": outcome, "count": count}
        for (effect, outcome), count in result.table.items()
    ]
    contradictions = [Contradiction.represent(row) for row in result.contradictions]
    return Backtest.represent(result, table=cells, contradictions=contradictions)
