"""
Fresh sign-ins for sensitive actions: to the page that confirms the identity, and back.

django-allauth's `suspend_request` would store the cookies of the request in the session; here it is
the form only, encrypted.
"""

from typing import Any, Final
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY, resume_request
from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import resolve, reverse

from inbox.platform import clock
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt

#: A form that waits longer is not sent any more.
_WAIT_SECONDS: Final = 15 * 60
_MOST_CHARACTERS: Final = 64_000
#: Forms whose response is a download, which would leave the confirmation open.
_NOT_RESUMED: Final = ("export_audit",)


def confirm_identity_url(request: HttpRequest, next_url: str) -> tuple[str, bool]:
    """
    Return the page on which a user confirms who they are, and whether open pages stay valid.

    People without a password and second factor sign in at their provider again, in a new session.
    """
    query = {"next": next_url}
    if methods := get_adapter().get_reauthentication_methods(request.user):
        return f"{methods[0]['url']}?{urlencode(query)}", True
    steps = request.session.get("account_authentication_methods", [])
    providers = [step["provider"] for step in steps if step.get("method") == "socialaccount"]
    if providers and settings.OIDC_PROVIDERS:
        url = reverse("openid_connect_login", args=[providers[-1]])
        return f"{url}?{urlencode({**query, 'again': '1'})}", False
    return f"{reverse('account_login')}?{urlencode(query)}", False


def confirm_identity(request: HttpRequest, next_url: str) -> HttpResponse:
    """
    Redirect to the confirmation; afterwards the form of the request is sent as it was.

    Without a form, or where it cannot be resumed, the person comes back to `next_url`.
    """
    url, is_same_session = confirm_identity_url(request, next_url)
    # A form that the person gave up must not be sent by a confirmation for something else.
    request.session.pop(STATE_SESSION_KEY, None)
    if request.headers.get("HX-Request"):
        # A redirect would make htmx swap the confirmation into the current page.
        return HttpResponse(headers={"HX-Redirect": url})
    form = request.POST.urlencode()
    match = request.resolver_match
    is_resumed = match is None or match.url_name not in _NOT_RESUMED
    if request.method == "POST" and is_resumed and len(form) < _MOST_CHARACTERS:
        state = {
            "path": request.path,
            "form": form,
            "next": next_url,
            "at": clock.now().timestamp(),
        }
        request.session[STATE_SESSION_KEY] = {
            "state": encrypt(state),
            "callback": f"{__name__}.{resume.__name__}",
        }
        if not is_same_session:
            url, _ = confirm_identity_url(request, waiting_form_url(next_url))
    return HttpResponseRedirect(url, status=303)


def waiting_form_url(next_url: str) -> str:
    """Return the page that offers to send the form, for sign-ins that do not send it themselves."""
    return f"{reverse('send_waiting_form')}?{urlencode({'next': next_url})}"


def send_waiting_form(request: HttpRequest) -> HttpResponseBase:
    """
    Offer to send the form that waits for a confirmation (GET), or send it (POST).

    A sign-in at a provider, or as a person of the demo, ends with a redirect: only a click sends a
    form. The session belongs to the same person, because a sign-in as another one empties it.
    """
    next_url = get_next_redirect_url(request) or reverse("pending")
    if STATE_SESSION_KEY not in request.session:
        return HttpResponseRedirect(next_url)
    if request.method == "POST":
        return resume_request(request) or HttpResponseRedirect(next_url)
    return render(request, "account/send_form.html", {"next": next_url})


def resume(request: HttpRequest, encrypted_state: str) -> HttpResponseBase:
    """Send the form that waited for the confirmation; called by django-allauth."""
    next_url = get_next_redirect_url(request) or reverse("pending")
    try:
        state: dict[str, Any] = decrypt(encrypted_state)
    except DecryptionFailed:
        return HttpResponseRedirect(next_url)
    is_waited_for = (
        state["next"] == next_url and clock.now().timestamp() - state["at"] < _WAIT_SECONDS
    )
    if not is_waited_for:
        return HttpResponseRedirect(next_url)
    match = resolve(state["path"])
    form: Any = QueryDict(state["form"])
    request.POST, request.GET = form, QueryDict()
    request.path = request.path_info = state["path"]
    request.resolver_match = match
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response
