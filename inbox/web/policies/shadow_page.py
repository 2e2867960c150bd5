"""The page of shadow rules: the requests that they would have changed."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.queries.people.members import team_access
from inbox.queries.policies.shadow_flips import ShadowRule, shadow_flips
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.language.policy import Effect
from inbox.rules.policies.language.sentences import rule_sentence
from inbox.web.base.pages import page, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame
from inbox.web.policies.backtest_page import EFFECTS, OUTCOMES, SIZES

_EFFECTS = {**EFFECTS, Effect.GRANT: gettext_noop("Grant")}


@page
def shadow_rules(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    chosen = request.GET.get("requests", "")
    requests = next((size for size in SIZES if str(size) == chosen), SIZES[0])
    notice, status, rules = "", 200, []
    try:
        rules = shadow_flips(actor, access.team, requests=requests)
    except errors.RateLimited as refusal:
        notice, status = translate(refusal.message), 429
    context = {
        "sizes": SIZES,
        "requests": requests,
        "rules": [_row(item) for item in rules],
        **team_frame(actor, access, "policy"),
        "notice": notice,
    }
    return show(request, actor, "policies/shadow.html", context, section="teams", status=status)


def _row(item: ShadowRule) -> dict[str, Any]:
    return {
        "id": item.rule.id,
        "title": item.rule.title,
        "sentence": rule_sentence(item.rule, translate),
        "requests": item.requests,
        "changed": item.changed,
        "contradictions": item.contradictions,
        "flips": [
            {
                "url": reverse("interrupt", args=[flip.request]),
                "tool": flip.tool,
                "at": flip.at,
                "ruled": gettext(_EFFECTS[flip.ruled]),
                "effect": gettext(_EFFECTS[flip.effect]),
                "stricter": flip.stricter,
                "outcome": gettext(OUTCOMES[flip.outcome]),
                "is_contradiction": flip.is_contradiction,
            }
            for flip in sorted(item.flips, key=lambda flip: not flip.is_contradiction)
        ],
    }
