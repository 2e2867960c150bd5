"""Rate limits of password sign-in by IP address, by user name, and by browser."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

import structlog
from axes.models import AccessLog
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from limits import parse

from inbox.platform import rate_limits
from inbox.platform.client_ip import client_ip_of, ipv6_network_of
from inbox.platform.monitoring.metrics import SIGN_IN_FAILURES
from inbox.queries.people.accounts import user_by_login

if TYPE_CHECKING:
    from inbox.models import User

log = structlog.get_logger(__name__)

#: django-axes locks a name at one IP address after 10 failures. In addition, an address is blocked
#: for all names after this many failures,
_FROM_ADDRESS: Final = parse("100/15 minutes")
#: and a name is slowed down at new addresses after this many failures.
_OF_NAME: Final = parse("20/15 minutes")
_SLOWLY: Final = parse("1/10 seconds")
#: A browser at which the person has signed in is not subject to these limits, nor to those of
#: django-axes, before it has so many failures itself: nobody else can use its attempts up.
_OF_BROWSER: Final = parse("10/15 minutes")
#: The cookie of a browser lives as long as sign-ins from an address are remembered.
_BROWSER_SECONDS: Final = 90 * 24 * 3600
_BROWSER_SALT: Final = "browser of a person"
_BROWSER_ID_BYTES: Final = 16


def name_of(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """
    Return the typed name or e-mail address, case-folded: `BOB` signs in as `bob` does.

    It is not resolved to a user: a shared lock would disclose that the two belong together.
    """
    typed = request.POST.get("username") or (credentials or {}).get("username") or ""
    # Upper case first: databases match a dotless i with I.
    return str(typed).strip().upper().lower()[:254]


def seconds_to_wait(request: HttpRequest, credentials: dict[str, Any]) -> int:
    """
    Return the seconds this attempt must wait; 0 if its password may be checked now.

    Attacks cannot lock a user out: a name attacked from many addresses is only slowed down, and
    only at addresses from which its user has not signed in before. Browsers at which the user has
    signed in have attempts of their own.
    """
    if browser_with_attempts(request, credentials):
        return 0
    counter, address = rate_limits.rate_limiter(settings.REDIS_URL), client_ip_of(request)
    from_address = counter.peek("sign-ins from", _FROM_ADDRESS, ipv6_network_of(address))
    if from_address.is_over:
        return from_address.next_seconds
    name = name_of(request, credentials)
    of_name = counter.peek("sign-ins of", _OF_NAME, name)
    if not of_name.is_over or _has_signed_in_from(name, address):
        return 0
    turn = counter.count("slow sign-ins of", _SLOWLY, name)
    return turn.next_seconds if turn.is_over else 0


def browser_with_attempts(
    request: HttpRequest, credentials: dict[str, Any] | None = None
) -> str | None:
    """
    Return the id of a browser at which the person has signed in and may try again, or None.

    Also called by django-axes, which does not lock such attempts.
    """
    browser = _browser_of(request, name_of(request, credentials))
    counter = rate_limits.rate_limiter(settings.REDIS_URL)
    if not browser or counter.peek("sign-ins at", _OF_BROWSER, browser).is_over:
        return None
    return browser


@receiver(user_login_failed)
def _count_failure(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any
) -> None:
    if request is None:
        return
    counter, address = rate_limits.rate_limiter(settings.REDIS_URL), client_ip_of(request)
    if browser := browser_with_attempts(request, credentials):
        counter.count("sign-ins at", _OF_BROWSER, browser)
    else:
        counter.count("sign-ins from", _FROM_ADDRESS, ipv6_network_of(address))
        counter.count("sign-ins of", _OF_NAME, name_of(request, credentials))
    is_locked = getattr(request, "axes_locked_out", False)
    SIGN_IN_FAILURES.add("locked" if is_locked else "password")
    # Without the name: people type passwords into that field.
    log.warning("sign-in failed", address=address, reason="locked" if is_locked else "password")


def _has_signed_in_from(name: str, address: str) -> bool:
    user = user_by_login(name)
    if user is None:
        return False
    return AccessLog.objects.filter(username=user.username, ip_address=address).exists()


def store_browser(response: HttpResponse, user: User) -> None:
    """Store in a signed cookie that the person has signed in at this browser."""
    response.set_cookie(
        _browser_cookie(),
        signing.dumps([user.pk, secrets.token_urlsafe(_BROWSER_ID_BYTES)], salt=_BROWSER_SALT),
        max_age=_BROWSER_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def _browser_of(request: HttpRequest, login: str) -> str:
    """Return the id of a browser at which the person with this login has signed in, or ""."""
    cookie = request.COOKIES.get(_browser_cookie(), "")
    try:
        user_id, browser_id = signing.loads(cookie, salt=_BROWSER_SALT, max_age=_BROWSER_SECONDS)
    except signing.BadSignature:
        return ""
    user = user_by_login(login)
    return browser_id if user is not None and user.pk == user_id else ""


def _browser_cookie() -> str:
    return f"{settings.COOKIE_PREFIX}browser"
