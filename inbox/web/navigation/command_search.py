"""The matches of the command bar, grouped under headings, as JSON for static/js/palette.js."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.command_search import matches_for
from inbox.rules.decisions.list_filters import MAX_SEARCH_CHARACTERS
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page

if TYPE_CHECKING:
    from inbox.models import Agent, Group, Interrupt, Membership, Thread


@page
def search(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Return what the reader's teams have with the words of `q`."""
    matches = matches_for(actor, request.GET.get("q", "")[:MAX_SEARCH_CHARACTERS])
    groups = (
        (gettext("Requests"), map(_request, matches.requests)),
        (gettext("Runs"), map(_run, matches.threads)),
        (gettext("Agents"), map(_agent, matches.agents)),
        (gettext("People"), map(_person, matches.people)),
        (gettext("Groups"), map(_user_group, matches.groups)),
    )
    return JsonResponse(
        {
            "groups": [
                {"label": label, "results": rows}
                for label, results in groups
                if (rows := list(results))
            ]
        }
    )


def _result(label: str, about: str, url: str) -> dict[str, str]:
    return {"label": escape_invisible(label), "about": escape_invisible(about), "url": url}


def _request(row: Interrupt) -> dict[str, str]:
    is_open = row.status == InterruptStatus.OPEN
    about = row.agent.slug if is_open else f"{row.agent.slug} · {gettext('Decided')}"
    name = "interrupt" if is_open else "decided_interrupt"
    return _result(row.title, about, reverse(name, args=[row.pk]))


def _run(row: Thread) -> dict[str, str]:
    return _result(row.title or str(row.pk), row.agent.slug, reverse("thread", args=[row.pk]))


def _agent(row: Agent) -> dict[str, str]:
    return _result(row.slug, row.team.name, reverse("agent", args=[row.slug]))


def _person(row: Membership) -> dict[str, str]:
    url = reverse("team", args=[row.team.slug])
    about = f"@{row.user.get_username()}"
    return _result(row.user.display_name, about, f"{url}#member-{row.user_id}")


def _user_group(row: Group) -> dict[str, str]:
    url = reverse("groups", args=[row.team.slug])
    return _result(row.name, row.team.name, f"{url}#group-{row.name}")
