"""
The pages of a link in a mail: decide one request without signing in.

GET and HEAD change nothing, because mail scanners open links, and some run scripts: the pages have
none.
"""

import secrets
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from csp.decorators import csp_replace
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from inbox.actions.decisions.decide_by_link import decide_by_link
from inbox.platform import clock
from inbox.platform.client_ip import client_ip_of
from inbox.platform.rate_limits import check_guesses, count_guess
from inbox.queries.decisions.interrupts import detail_for
from inbox.queries.notifications.links import actor_of_link, is_as_mailed, open_link
from inbox.rules import errors
from inbox.rules.decisions.links import MAX_REASON_CHARACTERS
from inbox.web.base.translate import translate
from inbox.web.decisions.interrupt_page import InterruptPage

if TYPE_CHECKING:
    from inbox.models import DecisionLink

#: Holds the same secret as the form of the page that sets it. Django's own check refuses these
#: forms: from a page without a referrer, browsers send the origin `null`.
_COOKIE_SECONDS: Final = 24 * 3600
_COOKIE_BYTES: Final = 32
#: Refusals of a link that has ended, or of a person who may not decide any more.
_ENDED: Final = (
    errors.NotFound,
    errors.Unauthenticated,
    errors.Forbidden,
    errors.AlreadyDecided,
    errors.InterruptExpired,
)

View: TypeAlias = Callable[..., HttpResponseBase]


def _link_page(view: View) -> View:
    """Serve a page that nobody stores, indexes or learns the address of, without scripts."""

    @wraps(view)
    @csrf_exempt
    @never_cache
    @csp_replace({"script-src": ["'none'"]})
    def wrapped(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        response: HttpResponseBase
        try:
            check_guesses(client_ip_of(request))
            response = view(request, **arguments)
        except errors.RateLimited as refusal:
            response = render(request, "429.html", status=429)
            response["Retry-After"] = str(refusal.detail["retry_after"])
        response["X-Robots-Tag"] = "noindex"
        response["Referrer-Policy"] = "no-referrer"
        return response

    return wrapped


@_link_page
@require_safe
def show_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show the request of a link, with its buttons."""
    return _show(request, token)


@_link_page
@require_POST
@sensitive_post_parameters("token")
def decide(request: HttpRequest) -> HttpResponse:
    """Approve or reject. The token is in the body, because logs contain URLs."""
    token, action = request.POST.get("token", ""), request.POST.get("action")
    reason = request.POST.get("reason", "").replace("\r\n", "\n").strip()
    if "\0" in reason:
        raise BadRequest("A text contains the character NUL.")
    if not _is_from_page(request) or action not in ("approve", "reject"):
        text = gettext("Open the link in the mail again, and then decide.")
        return _say(request, 403, gettext("Nothing was sent"), text)
    if action == "reject" and not 1 <= len(reason) <= MAX_REASON_CHARACTERS:
        return _show(request, token, reason=reason, has_problem=True)
    return _decide(request, token, reason if action == "reject" else None)


def _decide(request: HttpRequest, token: str, reason: str | None) -> HttpResponse:
    link = open_link(token)
    view = _page_of(link) if link else None
    has_findings = view is not None and bool(view.findings)
    try:
        decision = decide_by_link(
            token=token, reason=reason, signed_in=request.user.pk, has_findings=has_findings
        )
    except errors.RequestRejected as refusal:
        return _refuse(request, view, refusal)
    context = {"interrupt": decision.interrupt, "reason": reason}
    return render(request, "decisions/link/decided.html", context)


def _refuse(
    request: HttpRequest, view: InterruptPage | None, refusal: errors.RequestRejected
) -> HttpResponse:
    if view is not None and isinstance(refusal, errors.LinkOfAnother):
        return _say_for_another(request)
    if view is None or isinstance(refusal, _ENDED):
        return _say_ended(request)
    if isinstance(refusal, errors.ViewChanged):
        return _say_changed(request, view)
    title = gettext("Nothing was sent")
    return _say(request, 409, title, translate(refusal.message), view)


def _show(
    request: HttpRequest, token: str, *, reason: str = "", has_problem: bool = False
) -> HttpResponse:
    link = open_link(token)
    if link is None:
        return _say_ended(request)
    if request.user.is_authenticated and request.user.pk != link.user_id:
        return _say_for_another(request)
    view = _page_of(link)
    if not is_as_mailed(link, view.interrupt) or view.findings:
        return _say_changed(request, view)
    secret = request.COOKIES.get(_cookie_name()) or secrets.token_urlsafe(_COOKIE_BYTES)
    context = {
        "page": view,
        "me": link.user.display_name,
        "token": token,
        "secret": secret,
        "reason": reason,
        "has_problem": has_problem,
        "max_reason": MAX_REASON_CHARACTERS,
    }
    status = 422 if has_problem else 200
    response = render(request, "decisions/link/request.html", context, status=status)
    response.set_cookie(
        _cookie_name(),
        secret,
        max_age=_COOKIE_SECONDS,
        path=reverse("decide_by_link"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )
    return response


def _page_of(link: "DecisionLink") -> InterruptPage:
    """Return the request of a link as its person sees it."""
    detail = detail_for(actor_of_link(link), link.interrupt_id)
    return InterruptPage(detail, link.user_id, clock.now())


def _cookie_name() -> str:
    """Return the name of the cookie; `__Host-` would send it to every page."""
    return "__Secure-signoff_decide" if settings.SESSION_COOKIE_SECURE else "signoff_decide"


def _is_from_page(request: HttpRequest) -> bool:
    """Return whether a form comes from a page that set its cookie, in the same browser."""
    cookie, sent = request.COOKIES.get(_cookie_name(), ""), request.POST.get("secret", "")
    return bool(cookie) and constant_time_compare(cookie, sent)


def _say_ended(request: HttpRequest) -> HttpResponse:
    """Answer the same for links that never existed and for those that have ended."""
    count_guess(client_ip_of(request))
    text = gettext(
        "It was used, has expired, or the request was decided. Open the inbox to see what waits."
    )
    return _say(request, 404, gettext("This link does not work any more"), text)


def _say_for_another(request: HttpRequest) -> HttpResponse:
    text = gettext("Sign out, or open the link in another browser, to decide as its person.")
    return _say(request, 403, gettext("This link is for somebody else"), text)


def _say_changed(request: HttpRequest, view: InterruptPage) -> HttpResponse:
    text = gettext("It can be decided in the inbox, where you see what it asks now.")
    return _say(request, 409, gettext("The request changed after the mail"), text, view)


def _say(
    request: HttpRequest, status: int, title: str, text: str, view: InterruptPage | None = None
) -> HttpResponse:
    context = {"title": title, "text": text, "page": view}
    return render(request, "decisions/link/refused.html", context, status=status)
