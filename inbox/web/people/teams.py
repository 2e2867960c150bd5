"""The pages of teams: members, roles, settings and permissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.people.members import change_role, change_team
from inbox.queries.people.api_keys import working_keys_of
from inbox.queries.people.groups import groups_page
from inbox.queries.people.member_facts import member_facts
from inbox.queries.people.members import (
    TeamAccess,
    members_of,
    team_access,
    teams_with_access,
)
from inbox.queries.people.teams import team_for
from inbox.queries.policies.policies import has_unreadable_policy
from inbox.rules import errors
from inbox.rules.people.access import (
    ROLE_PERMISSIONS,
    Actor,
    Permission,
    Role,
)
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.people.team_settings import SWITCHES
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.navigation.settings_nav import part_name, settings_nav, switches_to

if TYPE_CHECKING:
    from inbox.models import Group, Membership


ROLES = {
    Role.VIEWER: gettext_noop("Viewer"),
    Role.REVIEWER: gettext_noop("Reviewer"),
    Role.ADMIN: gettext_noop("Admin"),
}
REQUIRED_SIGN_INS = {
    RequiredSignIn.ANY: gettext_noop("As they like"),
    RequiredSignIn.SECOND_FACTOR: gettext_noop(
        "With a second factor or a passkey, here or at an identity provider"
    ),
    RequiredSignIn.PROVIDER: gettext_noop("At an identity provider"),
}
#: The name and description of each permission.
PERMISSIONS = {
    Permission.READ: (
        gettext_noop("Read"),
        gettext_noop("View threads, runs, requests and decisions."),
    ),
    Permission.RUN: (
        gettext_noop("Run"),
        gettext_noop("Start runs, send messages to agents, cancel runs and retry failed ones."),
    ),
    Permission.DECIDE: (
        gettext_noop("Decide"),
        gettext_noop(
            "Approve, edit, answer and reject requests. People can also claim "
            "requests, comment and share views."
        ),
    ),
    Permission.ADMIN: (
        gettext_noop("Administer"),
        gettext_noop("Manage the team: members, keys, agents and webhooks."),
    ),
}


#: Settings whose empty fields mean None.
_NUMBERS_OR_NONE = ("file_days", "thread_days", "session_idle_minutes", "session_hours")


@page
def team_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Show the first of the user's teams beside the list; most users have only one."""
    teams = teams_with_access(actor)
    if teams:
        return show_members(request, actor, teams[0].team.slug)
    return show(request, actor, "people/teams.html", {}, section="teams")


@page
def team(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return show_members(request, actor, team)


@page
def permission_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    """List the people and keys that have each permission."""
    access = team_access(actor, team)
    people = [row for row in members_of(actor, access.team.pk) if row.user.is_active]
    keys = working_keys_of(actor, access.team.pk)
    permissions = [
        {
            "name": gettext(name),
            "description": gettext(description),
            "members": _with_role_names(
                row for row in people if permission in ROLE_PERMISSIONS[Role(row.role)]
            ),
            "keys": [key for key in keys if permission in key.permissions()],
        }
        for permission, (name, description) in PERMISSIONS.items()
    ]
    context = {"permissions": permissions, **team_frame(actor, access, "permissions")}
    return show(request, actor, "people/team_permissions.html", context, section="teams")


@post_page
def set_role(request: HttpRequest, actor: Actor, team: str, user: int) -> HttpResponse:
    try:
        role = Role(request.POST.get("role", ""))
    except ValueError as error:
        raise errors.NotFound() from error
    team_id = team_for(actor, team).pk
    try:
        change_role(team_id=team_id, user_id=user, role=role, actor=actor)
    except errors.LastAdmin as refusal:
        return show_members(request, actor, team, notice=translate(refusal.message), status=409)
    return _redirect(actor, team)


@post_page
def save(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    name, grace = request.POST.get("name", "").strip(), request.POST.get("grace_seconds", "")
    team_id = team_for(actor, team).pk
    try:
        change_team(
            team_id=team_id,
            name=name,
            grace_seconds=_parse_number(grace),
            actor=actor,
            **_settings(request),
        )
    except (errors.InvalidInput, errors.SecondAdministratorRequired) as refusal:
        typed = {
            name: request.POST.get(name)
            for name in ("headings", "reject_reasons", *_NUMBERS_OR_NONE)
        }
        return show_members(
            request, actor, team, notice=translate(refusal.message), status=422, typed=typed
        )
    return _redirect(actor, team)


def _settings(request: HttpRequest) -> dict[str, Any]:
    """Parse the settings; `switch` names the form's check boxes, as unchecked ones send nothing."""
    hours = ("request_expiry_hours", "execute_within_hours")
    texts = {name: request.POST.get(name, "") for name in hours}
    switches = [name for name in request.POST.getlist("switch") if name in SWITCHES]
    headings, reasons = request.POST.get("headings"), request.POST.get("reject_reasons")
    numbers = {name: request.POST.get(name) for name in _NUMBERS_OR_NONE}
    return {
        **{name: _parse_number(text) if text else None for name, text in texts.items()},
        **{name: name in request.POST for name in switches},
        **_self_approval(request.POST.get("self_approval")),
        **_required_sign_in(request.POST.get("required_sign_in")),
        "override_group": request.POST.get("override_group"),
        **({} if headings is None else {"headings": _headings(headings)}),
        **({} if reasons is None else {"reject_reasons": _lines(reasons)}),
        **{
            name: _parse_number(text) if text.strip() else None
            for name, text in numbers.items()
            if text is not None
        },
    }


def _self_approval(choice: str | None) -> dict[str, bool | None]:
    settings: dict[str | None, bool | None] = {"": None, "yes": True, "no": False}
    return {"self_approval": settings[choice]} if choice in settings else {}


def _required_sign_in(choice: str | None) -> dict[str, RequiredSignIn]:
    return {"required_sign_in": RequiredSignIn(choice)} if choice in list(RequiredSignIn) else {}


def _lines(text: str) -> list[str]:
    return list(filter(None, map(str.strip, text.splitlines())))


def _headings(text: str) -> dict[str, str]:
    """
    Read the headings, one in each line: the name of a tool or a kind, `=`, and the text.

    Raises:
        InvalidValue: a line is something else, or names a tool again.
    """
    headings: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, heading = line.partition("=")
        if not equals or name.strip() in headings:
            raise errors.InvalidValue(
                TranslatableMessage("Enter one heading per line: {line}", line=line[:60])
            )
        headings[name.strip()] = heading.strip()
    return headings


def show_members(
    request: HttpRequest,
    actor: Actor,
    slug: str,
    *,
    notice: str = "",
    status: int = 200,
    typed: Mapping[str, str | None] | None = None,
) -> HttpResponse:
    """Render a team; `notice` is the error of an action, `typed` are rejected texts by field."""
    access = team_access(actor, slug)
    groups = groups_page(actor, access.team.pk)
    stored_headings = "\n".join(f"{name} = {text}" for name, text in access.team.headings.items())
    texts = {
        "headings": stored_headings,
        "reject_reasons": "\n".join(access.team.reject_reasons),
        **{name: _number_text(getattr(access.team, name)) for name in _NUMBERS_OR_NONE},
        **{name: text for name, text in (typed or {}).items() if text is not None},
    }
    context = {
        **texts,
        "is_refused": typed is not None,
        "installation_thread_days": settings.THREAD_DAYS,
        "members": _member_rows(actor, access, groups),
        "has_groups": bool(groups),
        "roles": [(role.value, gettext(name)) for role, name in ROLES.items()],
        "notice": notice,
        "required_sign_ins": [
            (choice.value, gettext(name)) for choice, name in REQUIRED_SIGN_INS.items()
        ],
        "groups": [group.name for group in groups],
        **team_frame(actor, access, "members"),
    }
    return show(request, actor, "people/team.html", context, section="teams", status=status)


def team_frame(actor: Actor, access: TeamAccess, part: str) -> dict[str, Any]:
    """Return the context common to a team's pages; `part` names the current one."""
    teams = [
        (row.team.slug, escape_invisible(row.team.name), row.administers)
        for row in teams_with_access(actor)
    ]
    return {
        "team": access.team,
        "team_name": escape_invisible(access.team.name),
        "may_change": access.administers,
        "part": part,
        "part_name": part_name(part),
        "section": "policy" if part == "policy" else "teams",
        "nav": settings_nav(access.team.slug, administers=access.administers),
        "is_unreadable": has_unreadable_policy(access.team),
        "switches": switches_to(part, teams),
        "rail_team": access.team.slug,
    }


def _member_rows(actor: Actor, access: TeamAccess, groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return the members with their groups, and for administrators what they may see of them."""
    facts = member_facts(actor, access.team.pk) if access.administers else {}
    names: dict[int, list[str]] = defaultdict(list)
    for group in groups:
        for member in group.members.all():
            names[member.membership_id].append(group.name)
    return [
        {
            "member": member,
            "role": role,
            "groups": names[member.pk],
            "facts": facts.get(member.user_id),
        }
        for member, role in _with_role_names(members_of(actor, access.team.pk))
    ]


def _with_role_names(members: Iterable[Membership]) -> list[tuple[Membership, str]]:
    return [(row, gettext(ROLES[Role(row.role)])) for row in members]


def _redirect(actor: Actor, team: str) -> HttpResponse:
    """Redirect to the team, or to the list if the actor is no longer a member."""
    is_member = any(access.team.slug == team for access in teams_with_access(actor))
    url = reverse("team", args=[team]) if is_member else reverse("teams")
    return HttpResponseRedirect(url, status=303)


def _number_text(number: int | None) -> str:
    return "" if number is None else str(number)


def _parse_number(text: str) -> int:
    """Parse a number; return -1, which every range rejects, for invalid text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else -1
