"""The page that applies the policy in force to open requests."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.policies.reapply import Reapplied, reapply_policies
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.queries.policies.reapplication import ChangedRuling, preview_reapplication
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.policies.language.policy import Effect
from inbox.web.base.pages import page, post_page, show
from inbox.web.people.teams import team_frame

EFFECTS = {
    Effect.ALLOW: (gettext_noop("Allow"), "ok", "check"),
    Effect.ASK: (gettext_noop("Ask"), "line", "circle-question-mark"),
    Effect.DENY: (gettext_noop("Deny"), "bad", "ban"),
}
#: Requests that the page lists; it counts all.
LISTED = 100


@page
def form(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team)


@post_page
def run(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    after = _thread_id(request.POST.get("after", ""))
    result = reapply_policies(team_id=team_for(actor, team).pk, actor=actor, after=after)
    return _show(request, actor, team, result)


def _show(
    request: HttpRequest, actor: Actor, team: str, result: Reapplied | None = None
) -> HttpResponse:
    access = team_access(actor, team)
    preview = preview_reapplication(actor, access.team)
    context = {
        "result": result,
        "requests": preview.requests,
        "count": len(preview.changes),
        "changes": [_row(item) for item in preview.changes[:LISTED]],
        "listed": LISTED,
        "is_complete": preview.is_complete,
        "may_apply": bool(preview.changes) or not preview.is_complete,
        **team_frame(actor, access, "policy"),
    }
    return show(request, actor, "policies/reapply.html", context, section="teams")


def _row(item: ChangedRuling) -> dict[str, Any]:
    words, tone, icon = EFFECTS[item.after.effect]
    slots = item.after.requirement.slots if item.after.requirement else ()
    return {
        "url": reverse("interrupt", args=[item.interrupt.pk]),
        "title": item.interrupt.title,
        "opened_at": item.interrupt.created_at,
        "effect": gettext(words),
        "tone": tone,
        "icon": icon,
        "people": len(slots),
        "rules": ", ".join(item.after.rules),
    }


def _thread_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise errors.NotFound() from error
