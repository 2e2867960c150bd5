"""The frame of every page: sign-in, navigation, and contract errors as HTTP errors."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from inbox.platform import clock
from inbox.queries.audit.deleted_threads import deletion_behind
from inbox.queries.decisions.inbox_lists import PENDING_UP_TO, counts_for
from inbox.queries.notifications.outages import switched_off_channels
from inbox.queries.people.access import closed_teams_of, memberships_of
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.webhooks.endpoints import troubled_webhooks_in
from inbox.rules.errors import Forbidden, NotFound, ReauthenticationRequired, Unauthenticated
from inbox.rules.people.access import Actor
from inbox.web.base.js_messages import js_messages
from inbox.web.base.step_up import confirm_identity
from inbox.web.base.toasts import DECIDED_PARAMETER, toast_in
from inbox.web.base.translate import translate
from inbox.web.decisions.saved_view_links import links_of
from inbox.web.navigation.rail import bounded, rail_of

P = ParamSpec("P")
View: TypeAlias = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
ActorView: TypeAlias = Callable[Concatenate[HttpRequest, Actor, P], HttpResponseBase]


def page(view: ActorView[P]) -> View[P]:
    """
    Serve GET and HEAD requests of signed-in users; the view gets their actor.

    Return 404 for objects the actor may not see and 403 for actions they may not take.
    """
    return require_safe(_signed_in(view))


def post_page(view: ActorView[P]) -> View[P]:
    """Serve POST requests of signed-in users, as `page` does for GET."""
    return require_POST(_signed_in(view))


def see_other(url_name: str, *args: object) -> HttpResponse:
    """Redirect to another page after a form was processed."""
    return HttpResponseRedirect(reverse(url_name, args=args), status=303)


def _signed_in(view: ActorView[P]) -> View[P]:
    @wraps(view)
    @never_cache
    def wrapped(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        user = request.user
        if not user.is_authenticated:
            return _sign_in(request)
        if _has_nul(request):
            raise BadRequest("A text contains the character NUL.")
        actor = actor_of_user(user, request.session)
        try:
            if must_complete_sign_in(request, actor):
                return HttpResponseRedirect(reverse("required_sign_in"))
            response = view(request, actor, *args, **kwargs)
        except NotFound as error:
            return _not_found(request, actor, kwargs, error)
        except Unauthenticated:  # signed out while the request was served
            return _sign_in(request)
        except ReauthenticationRequired:
            return confirm_identity(request, _url_after_sign_in(request))
        except Forbidden as error:
            raise PermissionDenied(translate(error.message)) from error
        patch_vary_headers(response, ["HX-Request"])
        return response

    return wrapped  # type: ignore[return-value]  # wraps() hides that only the names differ


def _not_found(
    request: HttpRequest, actor: Actor, address: Mapping[str, Any], error: NotFound
) -> HttpResponse:
    """Respond that nothing is there, or why. Raises Http404."""
    if closed_teams_of(actor) and not is_fragment(request):
        return HttpResponseRedirect(reverse("required_sign_in"))
    if deletion := deletion_behind(actor, address.values()):
        context = {"explanation": translate(deletion.message)}
        return render(request, "runs/deleted.html", context, status=404)
    raise Http404(error.message) from error


#: Pages that people reach whose sign-in enters none of their teams.
_ALWAYS_OPEN = ("/account/", "/help/", "/join/", "/language/", "/theme")


def must_complete_sign_in(request: HttpRequest, actor: Actor) -> bool:
    """Return whether the page waits until the person's sign-in enters one of their teams."""
    if is_fragment(request) or request.path.startswith(_ALWAYS_OPEN):
        return False
    return not memberships_of(actor) and bool(closed_teams_of(actor))


def _sign_in(request: HttpRequest) -> HttpResponse:
    # A redirect would make htmx swap the sign-in page into the current page.
    if is_fragment(request):
        return HttpResponse(status=401)
    return redirect_to_login(_url_after_sign_in(request))


def show(
    request: HttpRequest,
    actor: Actor,
    template: str,
    context: dict[str, Any],
    *,
    section: str,
    status: int = 200,
) -> HttpResponse:
    """Render a page; requests by htmx get the fragments without the frame."""
    counts = counts_for(actor, now=clock.now())
    views = [] if is_fragment(request) else links_of(actor, context.get("list_request"))
    frame: dict[str, Any] = {
        "base": "base/fragments.html" if is_fragment(request) else "base/app.html",
        "section": section,
        "rail": rail_of(counts, team=context.get("rail_team", "")),
        "pending_count": bounded(counts.pending, PENDING_UP_TO),
        "views": views,
        "administers": bool(counts.administers),
        "disabled_webhooks": troubled_webhooks_in(counts.administers),
        "disabled_channels": switched_off_channels(actor.user_id, counts.administers),
        "current_view": next((view for view in views if view.is_current), None),
        "live_url": _live_url(request),
        "position": "",
        # The URL of a form's POST cannot be opened with GET.
        "next": _live_url(request) if request.method == "GET" else reverse("pending"),
        "toast": toast_in(request, actor) if DECIDED_PARAMETER in request.GET else None,
        "js_messages": js_messages(get_language()),
        "me": actor.label,
        "me_id": actor.user_id,
        "session_ends": _session_end(request),
    }
    response = render(request, template, {**frame, **context}, status=status)
    response["X-Signoff-Reader"] = str(actor.user_id)
    response["X-Signoff-Session-Ends"] = frame["session_ends"]
    return response


def _session_end(request: HttpRequest) -> str:
    """Return the end of the session if it is not used again, in seconds since 1970, or ""."""
    ends_at = getattr(request.session, "ends_at", None)
    return str(int(ends_at.timestamp())) if ends_at else ""


def _url_after_sign_in(request: HttpRequest) -> str:
    """Return the path to open after sign-in; for a POST, the page with the form."""
    if request.method == "GET":
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referer, allowed_hosts={request.get_host()}):
        return "/"
    parts = urlsplit(referer)
    # Exactly one leading slash: two would make the path a host.
    return urlunsplit(("", "", f"/{parts.path.lstrip('/')}", parts.query, ""))


def _has_nul(request: HttpRequest) -> bool:
    return any("\0" in text for _, texts in request.POST.lists() for text in texts)


def _live_url(request: HttpRequest) -> str:
    """Return the URL that live updates reload: this page without its toast."""
    query = request.GET.copy()
    query.pop(DECIDED_PARAMETER, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def is_fragment(request: HttpRequest) -> bool:
    """Return True for requests by htmx, which need no frame around the fragments."""
    return bool(request.htmx)  # type: ignore[attr-defined]
