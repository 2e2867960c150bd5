"""The views that save, share and delete saved views."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from inbox.actions.decisions.saved_views import delete_view, save_view, share_view
from inbox.queries.people.teams import team_by_slug
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.errors import InvalidInput, NotFound
from inbox.rules.people.access import Actor
from inbox.web.base.list_filters import list_url, originating_filter
from inbox.web.base.pages import post_page, show
from inbox.web.base.translate import translate


@post_page
def save(request: HttpRequest, actor: Actor) -> HttpResponse:
    filters = originating_filter(request)
    try:
        save_view(
            name=request.POST.get("name", "").strip(),
            list_filter=filters,
            actor=actor,
            team_id=_team_id(request),
        )
    except InvalidInput as refusal:
        return _refuse(request, actor, filters, refusal)
    messages.success(request, gettext("The view was saved."))
    return HttpResponseRedirect(list_url(filters), status=303)


@post_page
def share(request: HttpRequest, actor: Actor, view_id: UUID) -> HttpResponse:
    view = share_view(view_id=view_id, team_id=_team_id(request), actor=actor)
    return HttpResponseRedirect(list_url(InterruptFilter.from_text(view.query)), status=303)


@post_page
def delete(request: HttpRequest, actor: Actor, view_id: UUID) -> HttpResponse:
    delete_view(view_id=view_id, actor=actor)
    messages.success(request, gettext("The view was deleted."))
    return HttpResponseRedirect(list_url(originating_filter(request)), status=303)


def _team_id(request: HttpRequest) -> UUID | None:
    """Return the id of the team to share with, None for the empty choice."""
    slug = request.POST.get("team", "")
    if not slug:
        return None
    team = team_by_slug(slug) if "\0" not in slug else None
    if team is None:
        raise NotFound()
    return team.pk


def _refuse(
    request: HttpRequest, actor: Actor, filters: InterruptFilter, refusal: InvalidInput
) -> HttpResponse:
    context = {
        "problem": translate(refusal.message),
        "name": request.POST.get("name", ""),
        "team": request.POST.get("team", ""),
        "query": filters.to_full_query(),
        "list_url": list_url(filters),
    }
    return show(request, actor, "decisions/view_not_saved.html", context, section="", status=422)
