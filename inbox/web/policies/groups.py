"""The page of a team's groups."""

from django.http import HttpRequest, HttpResponse

from inbox.actions.people.groups import (
    add_to_group,
    create_group,
    delete_group,
    remove_from_group,
)
from inbox.queries.people.groups import groups_page
from inbox.queries.people.members import members_of, team_access
from inbox.queries.people.teams import team_for
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.rules.people.groups import MAX_NAME_CHARACTERS
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.people.teams import team_frame


@page
def group_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    return _show(request, actor, team)


@post_page
def add(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    try:
        create_group(team_id=team_for(actor, team).pk, name=name, actor=actor)
    except errors.InvalidInput as refusal:
        problem = translate(refusal.message)
        return _show(request, actor, team, name=name, problem=problem, status=422)
    except errors.AddressTaken as refusal:
        problem = translate(refusal.message)
        return _show(request, actor, team, name=name, problem=problem, status=409)
    return see_other("groups", team)


@post_page
def delete(request: HttpRequest, actor: Actor, team: str, group: str) -> HttpResponse:
    delete_group(team_id=team_for(actor, team).pk, name=group, actor=actor)
    return see_other("groups", team)


@post_page
def add_member(request: HttpRequest, actor: Actor, team: str, group: str) -> HttpResponse:
    text = request.POST.get("user", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise errors.NotFound()
    team_id = team_for(actor, team).pk
    add_to_group(team_id=team_id, name=group, user_id=int(text), actor=actor)
    return see_other("groups", team)


@post_page
def remove_member(
    request: HttpRequest, actor: Actor, team: str, group: str, user: int
) -> HttpResponse:
    team_id = team_for(actor, team).pk
    remove_from_group(team_id=team_id, name=group, user_id=user, actor=actor)
    return see_other("groups", team)


def _show(
    request: HttpRequest,
    actor: Actor,
    slug: str,
    *,
    name: str = "",
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the groups; `name` and `problem` are of one that was refused."""
    access = team_access(actor, slug)
    users = [row.user for row in members_of(actor, access.team.pk)]
    groups = []
    for group in groups_page(actor, access.team.pk):
        members = [row.membership.user for row in group.members.all()]
        others = [user for user in users if user not in members]
        groups.append({"name": group.name, "members": members, "others": others})
    context = {
        "groups": groups,
        "name": name,
        "problem": problem,
        "max_characters": MAX_NAME_CHARACTERS,
        **team_frame(actor, access, "groups"),
    }
    return show(request, actor, "people/team_groups.html", context, section="teams", status=status)
