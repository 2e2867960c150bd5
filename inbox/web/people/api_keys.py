"""The pages of a team's API keys for its admins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.people.api_keys import (
    UNCHANGED,
    change_networks,
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
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import PERMISSIONS, team_frame

if TYPE_CHECKING:
    from inbox.models import ApiKey


#: The lifetimes of a key, in days; "" never expires.
LIFETIMES = {
    "7": gettext_noop("7 days"),
    "30": gettext_noop("30 days"),
    "90": gettext_noop("90 days"),
    "365": gettext_noop("1 year"),
    "": gettext_noop("No expiry, until revoked"),
}
OVERLAP_HOURS = {
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

    row: ApiKey
    scopes: list[str]
    state: str
    tone: str
    icon: str
    has_ended: bool
    former_until: datetime | None


@dataclass(frozen=True)
class KeyForm:
    """The posted form."""

    name: str = ""
    scopes: Sequence[str] = (Permission.READ.value, Permission.RUN.value)
    agent: str = ""
    days: str = str(DEFAULT_DAYS_VALID)
    networks: str = ""  #: one in a line


@page
def key_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    now = clock.now()
    keys = [_key_row(row, now) for row in keys_for(actor, access.team.pk)]
    context = {"keys": keys, **team_frame(actor, access, "keys")}
    return show(request, actor, "people/team_keys.html", context, section="teams")


@page
def key(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    return _show_key(request, actor, key_id)


@page
def new_page(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show_form(request, actor, team, KeyForm(agent=request.GET.get("agent", "")))


@post_page
def add(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """Create a key and display its token, in this response only."""
    access = team_access(actor, team)
    post = request.POST
    form = KeyForm(
        name=" ".join(post.get("name", "").split()),
        scopes=post.getlist("scopes"),
        agent=post.get("agent", ""),
        days=post.get("days", ""),
        networks=post.get("networks", ""),
    )
    try:
        row, token = make_key(
            team_id=access.team.pk,
            name=form.name,
            scopes={scope for scope in Permission if scope.value in form.scopes},
            agent=form.agent,
            days=_days(form.days),
            networks=form.networks.split(),
            actor=actor,
        )
    except errors.InvalidInput as refusal:
        return _show_form(request, actor, team, form, refusal)
    return _show_key(request, actor, row.pk, token=token)


@post_page
def rotate(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    """Rotate the key and display its new token, in this response only."""
    days, hours = request.POST.get("days", KEEP), request.POST.get("overlap", "")
    try:
        _, token = rotate_key(
            key_id=key_id,
            actor=actor,
            overlap_hours=int(hours) if hours in OVERLAP_HOURS else DEFAULT_OVERLAP_HOURS,
            days=_days(days) if days in LIFETIMES else UNCHANGED,
        )
    except errors.KeyEnded as refusal:
        return _show_key(request, actor, key_id, notice=translate(refusal.message), status=409)
    return _show_key(request, actor, key_id, token=token)


@post_page
def save_networks(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    typed = request.POST.get("networks", "")
    try:
        change_networks(key_id=key_id, networks=typed.split(), actor=actor)
    except errors.InvalidInput as refusal:
        text = translate(refusal.message)
        return _show_key(request, actor, key_id, problem=text, typed=typed, status=422)
    return see_other("key", key_id)


@post_page
def revoke(request: HttpRequest, actor: Actor, key_id: UUID) -> HttpResponse:
    revoke_key(key_id=key_id, actor=actor)
    return see_other("key", key_id)


def _show_key(
    request: HttpRequest,
    actor: Actor,
    key_id: UUID,
    *,
    token: str = "",
    notice: str = "",
    problem: str = "",
    typed: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """
    Render a key; `token` is displayed once, `notice` is the error of an action.

    `problem` is that of the networks `typed`.
    """
    row = key_for(actor, key_id)
    context = {
        "key": _key_row(row, clock.now()),
        "token": token,
        "notice": notice,
        "problem": problem,
        "networks": "\n".join(row.networks) if typed is None else typed,
        "overlaps": _choices(OVERLAP_HOURS, str(DEFAULT_OVERLAP_HOURS)),
        "lifetimes": [(KEEP, gettext("Unchanged"), True), *_choices(LIFETIMES, None)],
        **team_frame(actor, team_access(actor, row.team.slug), "keys"),
    }
    return show(request, actor, "people/team_key.html", context, section="teams", status=status)


def _show_form(
    request: HttpRequest,
    actor: Actor,
    team: str,
    form: KeyForm,
    refusal: errors.InvalidInput | None = None,
) -> HttpResponse:
    access = team_access(actor, team)
    require(actor, access.team.pk, Permission.ADMIN)
    problems = refusal.detail["problems"] if refusal else {}
    context = {
        "form": form,
        "problems": {name: translate(texts[0]) for name, texts in problems.items()},
        "scopes": [
            (scope.value, gettext(name), gettext(allows), scope.value in form.scopes)
            for scope, (name, allows) in PERMISSIONS.items()
        ],
        "agents": [row.slug for row in agents_for(actor) if row.team_id == access.team.pk],
        "lifetimes": _choices(LIFETIMES, form.days),
        **team_frame(actor, access, "keys"),
    }
    status = 422 if refusal else 200
    return show(
        request, actor, "people/team_key_form.html", context, section="teams", status=status
    )


def _key_row(row: ApiKey, now: datetime) -> KeyRow:
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
    if text not in LIFETIMES:
        return 0
    return int(text) if text else None
