"""The time zones that a field offers, and the one in which a person reads pages."""

import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from inbox.platform.http.machine_paths import FOR_MACHINES
from inbox.queries.notifications.recipients import zone_of

#: The zone of the browser, which static/js/times.js sets; it counts for people without a choice.
_COOKIE: Final = "zone"
#: Machines get UTC.
_WITHOUT_ZONE: Final = (*FOR_MACHINES, "/static/")
#: Each process reads the zone of a session at most once in this time, and after each form.
_SECONDS: Final = 60.0
_MAX_SESSIONS: Final = 10_000
_is_known: ContextVar[bool] = ContextVar("is_known", default=False)


@cache
def zone_names() -> list[str]:
    """Return the names of all time zones; reading them opens many files."""
    return sorted(available_timezones())


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(zone_names())


def local(at: datetime) -> datetime:
    """Return a time in the reader's zone."""
    return at.astimezone(timezone.get_current_timezone())


def zone_suffix() -> str:
    """Return " UTC" while the reader's zone is unknown: no time may pass for one of theirs."""
    return "" if _is_known.get() else " UTC"


class TimeZoneMiddleware:
    """Show times in the zone that the person has chosen, or else in the one of their browser."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._zones: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(_WITHOUT_ZONE):
            return self._get_response(request)
        chosen = self._chosen_zone(request)
        name = chosen or request.COOKIES.get(f"{settings.COOKIE_PREFIX}{_COOKIE}", "")
        request.chosen_zone = chosen  # type: ignore[attr-defined]  # for templates
        if name not in _known_zones():
            return self._get_response(request)
        token = _is_known.set(True)
        try:
            with timezone.override(ZoneInfo(name)):
                return self._get_response(request)
        finally:
            _is_known.reset(token)

    def _chosen_zone(self, request: HttpRequest) -> str:
        # request.user loads the session: check the cookie first.
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not request.user.is_authenticated:
            return ""
        key, now = request.session.session_key or "", time.monotonic()
        if request.method == "POST":
            self._zones.pop(key, None)
        read_at, zone = self._zones.get(key, (-_SECONDS, ""))
        if now - read_at >= _SECONDS:
            zone = zone_of(request.user.pk)
            if request.method != "POST":
                self._zones[key] = (now, zone)
            if len(self._zones) > _MAX_SESSIONS:
                self._zones.popitem(last=False)
        return zone
