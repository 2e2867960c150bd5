"""
Sign-in without a password, as a person of the demo.

Only in a process that `serve --demo` has started on this machine's own address, and only for a
browser on this machine: `settings.DEMO_PEOPLE` is empty in all others, and nothing else sets it.
"""

import ipaddress
from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from limits import parse

from inbox.platform import rate_limits
from inbox.queries.people.demo_people import demo_people
from inbox.rules.people.access import Role
from inbox.web.people.teams import ROLES

#: The agent that asks without a model.
DEMO_AGENT = "rehearsal"
_LIMIT = parse("30/minute")
#: Headers of proxies: behind one, every client seems to be on this machine.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


def is_offered(request: HttpRequest) -> bool:
    """Return True if people of the demo may sign in without a password from this browser."""
    return (
        bool(settings.DEMO_PEOPLE)
        and _is_loopback(request.META.get("REMOTE_ADDR", ""))
        and not any(name in request.headers for name in _FORWARDED)
        and request.get_host().rsplit(":", 1)[0] in _LOCAL_HOSTS
    )


def people_to_choose(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the people for the sign-in page, none outside of the demo."""
    if not is_offered(request):
        return []
    return [
        {"user": row.user, "role": gettext(ROLES[Role(row.role)])}
        for row in demo_people(settings.DEMO_PEOPLE)
    ]


@require_POST
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in as a person of the demo, with all further steps of a sign-in."""
    if not is_offered(request):
        raise Http404
    limiter = rate_limits.rate_limiter(settings.REDIS_URL)
    if (status := limiter.count("demo sign-ins", _LIMIT, "this machine")).is_over:
        response = render(request, "429.html", status=429)
        response.headers["Retry-After"] = str(status.next_seconds)
        return response
    users = {row.user.username: row.user for row in demo_people(settings.DEMO_PEOPLE)}
    user = users.get(request.POST.get("username", ""))
    if user is None:
        raise Http404
    record_authentication(request, user, method="demo")
    return perform_login(request, Login(user=user, redirect_url=_next(request)))


def _next(request: HttpRequest) -> str | None:
    url = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return url if is_ours else None


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
