"""The pages on which people connect their accounts in chats, and disconnect them."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from inbox.actions.notifications.chat_accounts import link_chat_account, unlink_chat_account
from inbox.queries.notifications.slack_apps import link_code
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate


@page
def link(request: HttpRequest, actor: Actor, token: str) -> HttpResponse:
    """Show what a code would connect; opening it changes nothing."""
    return _show(request, actor, token)


@post_page
def connect(request: HttpRequest, actor: Actor, token: str) -> HttpResponse:
    try:
        link_chat_account(code=token, account=request.POST.get("account", ""), actor=actor)
    except InvalidValue as refusal:
        return _show(request, actor, token, problem=translate(refusal.message))
    return see_other("notifications")


@post_page
def disconnect(request: HttpRequest, actor: Actor, identity_id: UUID) -> HttpResponse:
    unlink_chat_account(identity_id=identity_id, actor=actor)
    return see_other("notifications")


def _show(request: HttpRequest, actor: Actor, token: str, problem: str = "") -> HttpResponse:
    code = link_code(token)
    context = {"code": code, "token": token, "problem": problem}
    status = 404 if code is None else 422 if problem else 200
    response = show(
        request, actor, "account/connect_chat.html", context, section="account", status=status
    )
    response["Referrer-Policy"] = "no-referrer"
    return response
