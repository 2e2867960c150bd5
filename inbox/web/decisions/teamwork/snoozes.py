"""The pages that snooze a request."""

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from inbox.actions.decisions.snoozes import end_snooze, snooze_interrupt
from inbox.platform.clock import database_now
from inbox.queries.decisions.interrupts import detail_for
from inbox.queries.people.access import require_person
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter, ListState
from inbox.rules.decisions.teamwork.snoozing import later_today, next_week, tomorrow
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.days import near_text
from inbox.web.base.list_filters import list_url, parse_list_request
from inbox.web.base.pages import page, post_page, show
from inbox.web.base.translate import translate
from inbox.web.base.zones import local

_CHOICES = {"later": later_today, "tomorrow": tomorrow, "week": next_week}


@page
def choose_snooze(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return _show(request, actor, interrupt_id)


@post_page
def snooze(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Snooze a request until the posted time, and open the list without it."""
    try:
        row = snooze_interrupt(interrupt_id=interrupt_id, until=_until(request), actor=actor)
    except (errors.InvalidInput, errors.AlreadyDecided, errors.InterruptExpired) as refusal:
        problem = translate(refusal.message)
        return _show(request, actor, interrupt_id, problem=problem, status=422)
    until = near_text(row.until)
    messages.success(
        request,
        gettext("Snoozed until {time}").format(time=until),
        extra_tags=reverse("end_snooze", args=[interrupt_id]),
    )
    list_request = parse_list_request(request, state=ListState.OPEN)
    filters = list_request.filter if list_request.filter.is_open else InterruptFilter()
    return HttpResponseRedirect(list_url(filters), status=303)


@post_page
def unsnooze(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    end_snooze(interrupt_id=interrupt_id, actor=actor)
    suffix = parse_list_request(request, state=ListState.OPEN).suffix
    return HttpResponseRedirect(reverse("interrupt", args=[interrupt_id]) + suffix, status=303)


def _until(request: HttpRequest) -> datetime:
    """Return the posted time; raises InvalidValue."""
    choice = _CHOICES.get(request.POST.get("until", ""))
    if choice:
        return choice(local(database_now()))
    try:
        at = datetime.fromisoformat(request.POST.get("at", ""))
        return timezone.make_aware(at.replace(tzinfo=None))
    except (ValueError, OverflowError):
        raise errors.InvalidValue(TranslatableMessage("Enter a day and a time.")) from None


def _show(
    request: HttpRequest, actor: Actor, interrupt_id: UUID, *, problem: str = "", status: int = 200
) -> HttpResponse:
    interrupt = detail_for(actor, interrupt_id).interrupt
    require_person(actor, interrupt.team_id, Permission.READ)
    now = local(database_now())
    context = {
        "interrupt": interrupt,
        "problem": problem,
        "times": [
            ("later", gettext("Later today"), later_today(now)),
            ("tomorrow", gettext("Tomorrow"), tomorrow(now)),
            ("week", gettext("Next week"), next_week(now)),
        ],
        "at": tomorrow(now).strftime("%Y-%m-%dT%H:%M"),
        "zone": timezone.get_current_timezone_name(),
        "list_suffix": parse_list_request(request, state=ListState.OPEN).suffix,
    }
    template = "decisions/teamwork/snooze.html"
    return show(request, actor, template, context, section="pending", status=status)
