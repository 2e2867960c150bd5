"""The pages that assign a request, and the people whom a comment can mention."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse

from inbox.actions.decisions.assignees import assign_interrupt, unassign_interrupt
from inbox.platform.clock import database_now
from inbox.queries.decisions.assignees import people_to_mention, possible_assignees
from inbox.queries.decisions.interrupts import detail_for, interrupt_for
from inbox.queries.people.access import require_person
from inbox.rules.decisions.list_filters import ListState
from inbox.rules.people.access import Actor, Permission
from inbox.web.base.list_filters import parse_list_request
from inbox.web.base.pages import page, post_page, show
from inbox.web.decisions.claims_and_comments import run_action

_MAX_DIGITS = 18


@page
def choose_assignee(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Show the people to whom a request can be assigned."""
    interrupt = detail_for(actor, interrupt_id).interrupt
    require_person(actor, interrupt.team_id, Permission.DECIDE)
    assignee = getattr(interrupt, "assignee", None)
    context = {
        "interrupt": interrupt,
        "assignee": assignee,
        "assignee_id": assignee.user_id if assignee else None,
        "people": possible_assignees(interrupt, database_now()),
        "list_suffix": parse_list_request(request, state=ListState.OPEN).suffix,
    }
    return show(request, actor, "decisions/teamwork/assign.html", context, section="pending")


@post_page
def assign(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Assign a request to the posted user, or to nobody for an empty field."""
    text = request.POST.get("user", "")
    if not text:
        return run_action(request, actor, interrupt_id, unassign_interrupt)
    is_id = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    act = partial(assign_interrupt, user_id=int(text) if is_id else 0)
    return run_action(request, actor, interrupt_id, act)


@page
def people(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Return the names that a comment can mention."""
    interrupt = interrupt_for(actor, interrupt_id)
    rows = people_to_mention(interrupt.team_id)
    return JsonResponse(
        {"people": [{"username": row.get_username(), "name": row.display_name} for row in rows]}
    )
