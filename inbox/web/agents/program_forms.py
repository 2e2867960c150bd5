"""The form to add an agent that runs by itself: a program of your own."""

from django.http import HttpRequest, HttpResponse

from inbox.actions.agents.external_agents import set_external_agent
from inbox.queries.agents import agents
from inbox.queries.people.access import memberships_of
from inbox.rules import errors
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.web.agents.agents import agent_list_context
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate


@page
def new_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show(request, actor, {})


@post_page
def add(request: HttpRequest, actor: Actor) -> HttpResponse:
    post = request.POST
    try:
        set_external_agent(
            team_id=agents.team_for_agent(actor, "", post.get("team", "")),
            slug=post.get("name", ""),
            description=post.get("description", ""),
            actor=actor,
            must_be_new=True,
        )
    except errors.AddressTaken as refusal:
        return _show(request, actor, {"name": translate(refusal.message)}, status=422)
    except errors.InvalidInput as refusal:
        problems = refusal.detail.get("problems", {})
        texts = {name: translate(texts[0]) for name, texts in problems.items()}
        return _show(request, actor, texts or {"name": translate(refusal.message)}, status=422)
    return see_other("agent", post["name"])


def _show(
    request: HttpRequest, actor: Actor, problems: dict[str, str], *, status: int = 200
) -> HttpResponse:
    teams = [team for team, allowed in memberships_of(actor) if Permission.ADMIN in allowed]
    if not teams:
        raise errors.Forbidden(MISSING_PERMISSION[Permission.ADMIN])
    names = ("name", "team", "description")
    context = {
        "form": {name: request.POST.get(name, "") for name in names},
        "teams": teams if len(teams) > 1 else [],
        "problems": problems,
        **agent_list_context(actor),
    }
    return show(request, actor, "agents/new_program.html", context, section="agents", status=status)
