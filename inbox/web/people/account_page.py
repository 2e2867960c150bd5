"""The page of the user's own account: name, e-mail addresses, factors and sessions."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from inbox.actions.people import accounts
from inbox.queries.people.accounts import account_of
from inbox.rules.errors import InvalidInput
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate


@page
def account(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show(request, actor)


@post_page
def rename(request: HttpRequest, actor: Actor) -> HttpResponse:
    name = request.POST.get("name", "")
    try:
        accounts.change_own_name(full_name=name, actor=actor)
    except InvalidInput as refusal:
        return _show(request, actor, status=422, name=name, problem=translate(refusal.message))
    return see_other("account")


@post_page
def end_session(request: HttpRequest, actor: Actor, session_id: int) -> HttpResponse:
    accounts.end_session(session_id=session_id, actor=actor)
    return see_other("account")


@post_page
def end_other_sessions(request: HttpRequest, actor: Actor) -> HttpResponse:
    accounts.end_other_sessions(actor=actor)
    return see_other("account")


def _show(request: HttpRequest, actor: Actor, status: int = 200, **more: Any) -> HttpResponse:
    details = account_of(actor)
    context = {"account": details, "name": details.name, **more}
    return show(request, actor, "account/account.html", context, section="account", status=status)
