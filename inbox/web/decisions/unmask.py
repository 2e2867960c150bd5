"""The views that reveal masked values."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.actions.decisions.unmask import unmask_interrupt, unmask_tool_call
from inbox.queries.decisions.interrupts import interrupt_for
from inbox.queries.decisions.masked_values import unseen_sets
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import format_json
from inbox.web.base.masks import TITLES
from inbox.web.base.pages import post_page, show


@post_page
def reveal_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    what = request.POST.get("what", "")
    text = unmask_interrupt(interrupt_id=interrupt_id, what=what, actor=actor)
    unseen = unseen_sets(interrupt_for(actor, interrupt_id), actor.user_id)
    back = reverse("interrupt", args=[interrupt_id])
    return _show(request, actor, what, text, back, is_all_seen=not unseen)


@post_page
def reveal_call(request: HttpRequest, actor: Actor, call_id: UUID) -> HttpResponse:
    what = request.POST.get("what", "")
    text = unmask_tool_call(call_id=call_id, what=what, actor=actor)
    return _show(request, actor, what, text, reverse("audit_call", args=[call_id]))


def _show(
    request: HttpRequest, actor: Actor, what: str, text: str, back: str, **more: bool
) -> HttpResponse:
    context = {"title": gettext(TITLES[what]), "text": format_json(text), "back": back, **more}
    return show(request, actor, "decisions/revealed.html", context, section="")
