"""The pages of a team's API keys for its admins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from inbox.actions.people.api_keys import (
    UNCHANGED,
    make_key,
    revoke_key,
    rotate_key,
)
from inbox.platform import clock
from inbox.queries.agents.agents import agents_for
from inbox.queries.people.access import require
from inbox.queries.people.api_keys import key_for, keys_for
from inbox.queries.people.members import team_access
from inbox.rules import errors
from inbox.rules.people.access import Actor, Permission
from inbox.rules.people.api_keys import (
    DEFAULT_DAYS_VALID,
    DEFAULT_OVERLAP_HOURS,
    KeyState,
    key_state,
)
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, show
from inbox.web.base.translate import say
from inbox.web.people.teams import PERMISSIONS, frame_of

#: The lifetimes of a key, in days; "" never expires.
LIVES = {
    "7": gettext_noop("7 days"),
    "30": gettext_noop("30 days"),
    "90": gettext_noop("90 days"),
    "365": gettext_noop("1 year"),
    "": gettext_noop("No expiry, until revoked"),
}
OVERLAPS = {
    "0": gettext_noop("Immediately (if the token has leaked)"),
    "1": gettext_noop("1 hour"),
    "24": gettext_noop("24 hours"),
    "168": gettext_noop("7 days"),
}
KEEP = "keep"
_STATES = {
    KeyState.WORKING: (gettext_noop("Active"), "ok", "circle-check"),
    KeyState.UNUSED: (gettext_noop("Never used"), "warn", "circle-dashed"),
    KeyState.ENDING: (gettext_noop("Expires soon"), "warn", "timer"),
    KeyState.EXPIRED: (gettext_noop("Expired"), "bad", "timer-off"),
    KeyState.REVOKED: (gettext_noop("Revoked"), "line", "circle-x"),
}


@dataclass(frozen=True)
class KeyRow:
    """A key as displayed."""

    row: Any
    name: str
    created_by: str
    scopes: list[str]
    state: str
    tone: str
    icon: str
    has_ended: bool
    former_until: datetime | None


@dataclass(frozen=True)
class Typed:
    """The posted form."""

    name: str = ""
    scopes: Sequence[str] = (Permission.READ.value, Permission.RUN.value)
    agent: str = ""
    days: str = str(DEFAULT_DAYS_VALID)


@require_safe
@page
def key_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    mine = team_access(actor, team)
    now = clock.now()
    keys = [_key_row(row, now) for row in keys_for(actor, mine.team.pk)]
    context = {"keys": keys, **frame_of(actor, mine, "keys")}
    return show(request, actor, "people/team_keys.html", context, section="teams")


@require_safe
@page
def key(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    return _show_key(request, actor, key_id)


@require_safe
@page
def new_page(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show_form(request, actor, team, Typed())


@require_POST
@page
def add(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Create a key and display its token, in this response only."""
    mine = team_access(actor, team)
    post = request.POST
    typed = Typed(
        name=" ".join(post.get("name", "").split()),
        scopes=post.getlist("scopes"),
        agent=post.get("agent", ""),
        days=post.get("days", ""),
    )
    try:
        row, token = make_key(
            team_id=mine.team.pk,
            name=typed.name,
            scopes={scope for scope in Permission if scope.value in typed.scopes},
            agent=typed.agent,
            days=_days(typed.days),
            actor=actor,
        )
    except errors.InvalidInput as refusal:
        return _show_form(request, actor, team, typed, refusal)
    return _show_key(request, actor, row.pk, token=token)


@require_POST
@page
def rotate(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    """Rotate the key and display its new token, in this response only."""
    days, hours = request.POST.get("days", KEEP), request.POST.get("overlap", "")
    try:
        _, token = rotate_key(
            key_id=key_id,
            actor=actor,
            overlap_hours=int(hours) if hours in OVERLAPS else DEFAULT_OVERLAP_HOURS,
            days=_days(days) if days in LIVES else UNCHANGED,
        )
    except errors.KeyEnded as refusal:
        return _show_key(request, actor, key_id, notice=say(refusal.message), status=409)
    return _show_key(request, actor, key_id, token=token)


@require_POST
@page
def revoke(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    revoke_key(key_id=key_id, actor=actor)
    return HttpResponseRedirect(reverse("key", args=[key_id]), status=303)


def _show_key(
    request: HttpRequest,
    actor: Actor,
    key_id: UUID,
    *,
    token: str = "",
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render a key; `token` is displayed once, `notice` is the error of an action."""
    row = key_for(actor, key_id)
    context = {
        "key": _key_row(row, clock.now()),
        "token": token,
        "notice": notice,
        "overlaps": _choices(OVERLAPS, str(DEFAULT_OVERLAP_HOURS)),
        "lives": [(KEEP, gettext("Unchanged"), True), *_choices(LIVES, None)],
        **frame_of(actor, team_access(actor, row.team.slug), "keys"),
    }
    return show(request, actor, "people/team_key.html", context, section="teams", status=status)


def _show_form(
    request: HttpRequest,
    actor: Actor,
    team: str,
    typed: Typed,
    refusal: errors.InvalidInput | None = None,
) -> HttpResponse:
    mine = team_access(actor, team)
    require(actor, mine.team.pk, Permission.ADMIN)
    problems = refusal.detail["problems"] if refusal else {}
    context = {
        "typed": typed,
        "problems": {name: say(texts[0]) for name, texts in problems.items()},
        "scopes": [
            (scope.value, gettext(name), gettext(allows), scope.value in typed.scopes)
            for scope, (name, allows) in PERMISSIONS.items()
        ],
        "agents": [row.slug for row in agents_for(actor) if row.team_id == mine.team.pk],
        "lives": _choices(LIVES, typed.days),
        **frame_of(actor, mine, "keys"),
    }
    status = 422 if refusal else 200
    return show(
        request, actor, "people/team_key_form.html", context, section="teams", status=status
    )


def _key_row(row: Any, now: datetime) -> KeyRow:
    state = key_state(
        revoked_at=row.revoked_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        now=now,
    )
    words, tone, icon = _STATES[state]
    has_former = row.former_until is not None and now < row.former_until
    return KeyRow(
        row=row,
        name=escape_invisible(row.name),
        created_by=escape_invisible(row.created_by),
        scopes=[
            gettext(PERMISSIONS[scope][0]) for scope in Permission if scope in row.permissions()
        ],
        state=gettext(words),
        tone=tone,
        icon=icon,
        has_ended=state in (KeyState.EXPIRED, KeyState.REVOKED),
        former_until=row.former_until if has_former else None,
    )


def _choices(offered: dict[str, str], chosen: str | None) -> list[tuple[str, str, bool]]:
    return [(value, gettext(words), value == chosen) for value, words in offered.items()]


def _days(text: str) -> int | None:
    """Parse a lifetime; return None for no expiry and 0, which is rejected, if invalid."""
    if text not in LIVES:
        return 0
    return int(text) if text else None
