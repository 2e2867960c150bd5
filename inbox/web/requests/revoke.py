"""The form with which administrators revoke an approval that a program has not started."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from inbox.actions.requests.call_permits import revoke_call
from inbox.queries.requests.requests import item_of_interrupt
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.web.base.pages import post_page, see_other
from inbox.web.base.translate import translate
from inbox.web.decisions.inbox_lists import page_of, show_interrupt
from inbox.web.decisions.interrupt_page import Notice


@post_page
def revoke_approval(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    request_id, item = item_of_interrupt(actor, interrupt_id)
    try:
        revoke_call(request_id=request_id, item_id=item, actor=actor)
    except (errors.CallStarted, errors.NotApproved) as refusal:
        view = replace(page_of(actor, interrupt_id), notice=Notice(translate(refusal.message)))
        return show_interrupt(request, actor, view, status=409)
    return see_other("interrupt", interrupt_id)
