"""The page of a backtest: the effects that a policy would have had on past requests."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.queries.people.members import TeamAccess, team_access
from inbox.queries.policies.backtests import policy_to_try, require_drafting, run_backtest
from inbox.queries.policies.policies import policy_state
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.backtest import Backtest, PastOutcome
from inbox.rules.policies.language.policy import Effect, Policy
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame

#: The numbers of requests to choose from, the default first.
SIZES = (1_000, 100, 10_000)
CONTRADICTIONS_LISTED = 50
EFFECTS = {
    Effect.ALLOW: gettext_noop("Allow"),
    Effect.ASK: gettext_noop("Ask"),
    Effect.DENY: gettext_noop("Deny"),
}
OUTCOMES = {
    PastOutcome.APPROVED: gettext_noop("Approved"),
    PastOutcome.EDITED: gettext_noop("Edited"),
    PastOutcome.REJECTED: gettext_noop("Rejected"),
    PastOutcome.ANSWERED: gettext_noop("Answered"),
    PastOutcome.CANCELLED: gettext_noop("Cancelled"),
    PastOutcome.EXPIRED: gettext_noop("Expired"),
    PastOutcome.BY_RULE: gettext_noop("Decided by rule"),
    PastOutcome.OPEN: gettext_noop("Open"),
}


@page
def form(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, _access(actor, team))


@post_page
def run(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = _access(actor, team)
    requests = next((size for size in SIZES if str(size) == request.POST.get("requests")), SIZES[0])
    chosen = request.POST.get("policy", "")
    choices: dict[str, Any] = {"requests": requests, "chosen": chosen}
    version = int(chosen) if chosen.isascii() and chosen.isdecimal() and len(chosen) < 9 else None
    try:
        policy = policy_to_try(access.team.pk, version=version)
        result = run_backtest(actor, access.team, policy, requests=requests)
    except errors.InvalidInput as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, access, notice=notice, status=422, **choices)
    except errors.RateLimited as refusal:
        notice = translate(refusal.message)
        return _show(request, actor, access, notice=notice, status=429, **choices)
    results = _results(result, policy.policy or Policy())
    return _show(request, actor, access, result=results, **choices)


def _access(actor: Actor, team: str) -> TeamAccess:
    access = team_access(actor, team)
    require_drafting(actor, access.team.pk)
    return access


def _show(
    request: HttpRequest, actor: Actor, access: TeamAccess, *, status: int = 200, **more: Any
) -> HttpResponse:
    state = policy_state(actor, access.team.pk)
    context = {
        "draft": state.draft,
        "version": state.version,
        "sizes": SIZES,
        "requests": SIZES[0],
        "chosen": "",
        "result": None,
        **team_frame(actor, access, "policy"),
        **more,
    }
    return show(request, actor, "policies/backtest.html", context, section="teams", status=status)


def _results(result: Backtest, policy: Policy) -> dict[str, Any]:
    titles = {rule.id: rule.title for rule in policy.rules}
    occurring = {outcome for _, outcome in result.table}
    outcomes = [outcome for outcome in PastOutcome if outcome in occurring]
    effects = [effect for effect in EFFECTS if result.count(effect)]
    return {
        "total": result.total,
        "allowed": result.count(Effect.ALLOW),
        "allowed_rejected": result.count(Effect.ALLOW, PastOutcome.REJECTED),
        "allowed_edited": result.count(Effect.ALLOW, PastOutcome.EDITED),
        "denied": result.count(Effect.DENY),
        "denied_approved": result.count(Effect.DENY, PastOutcome.APPROVED)
        + result.count(Effect.DENY, PastOutcome.EDITED),
        "effects": [gettext(EFFECTS[effect]) for effect in effects],
        "rows": [
            (gettext(OUTCOMES[outcome]), [result.count(effect, outcome) for effect in effects])
            for outcome in outcomes
        ],
        "contradictions": [
            {
                "url": reverse("interrupt", args=[row.request]),
                "effect": gettext(EFFECTS[row.effect]),
                "outcome": gettext(OUTCOMES[row.outcome]),
                "rules": ", ".join(titles.get(rule, rule) for rule in row.rules),
            }
            for row in result.contradictions[:CONTRADICTIONS_LISTED]
        ],
        "unused": [titles.get(rule, rule) for rule in result.unused],
    }
