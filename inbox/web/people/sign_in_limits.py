"""Rate limits of password sign-in by IP address and by user name."""

from typing import Any, Final

import structlog
from axes.models import AccessLog
from django.conf import settings
from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from limits import parse

from inbox.platform import rate_limits
from inbox.platform.client_ip import client_ip_of, ipv6_network_of
from inbox.platform.monitoring.metrics import SIGN_IN_FAILURES
from inbox.queries.people.accounts import user_by_login

log = structlog.get_logger(__name__)

#: django-axes locks a name at one IP address after 10 failures. In addition, an address is blocked
#: for all names after this many failures,
_FROM_ADDRESS: Final = parse("100/15 minutes")
#: and a name is slowed down at new addresses after this many failures.
_OF_NAME: Final = parse("20/15 minutes")
_SLOWLY: Final = parse("1/10 seconds")


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
    only at addresses from which its user has not signed in before.
    """
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


@receiver(user_login_failed)
def _count_failure(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any
) -> None:
    if request is None:
        return
    counter, address = rate_limits.rate_limiter(settings.REDIS_URL), client_ip_of(request)
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
