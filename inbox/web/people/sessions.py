"""Records of the time and place that each session was last used."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from inbox.platform.monitoring import request_facts

#: Each process records a session at most once in this time.
_SECONDS: Final = 60.0
_MAX_SESSIONS: Final = 10_000


#: Sent with automatic reloads, which are no sign of user activity.
REFRESH_HEADER: Final = "X-Signoff-Refresh"


class SessionActivityMiddleware:
    """
    Record session activity, at most once a minute.

    Automatic reloads by open pages do not count, so that idle sessions expire.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._recorded_at: OrderedDict[str, float] = OrderedDict()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        if request.method in ("GET", "HEAD") and REFRESH_HEADER in request.headers:
            return self._get_response(request)
        # request.user loads the session: check the cookie first.
        if settings.SESSION_COOKIE_NAME in request.COOKIES and user.is_authenticated:
            request_facts.set_caller("human", str(user.pk))
            key, now = request.session.session_key or "", time.monotonic()
            if now - self._recorded_at.get(key, -_SECONDS) >= _SECONDS:
                UserSession.objects.create_from_request(request)
                self._recorded_at[key] = now
                if len(self._recorded_at) > _MAX_SESSIONS:
                    self._recorded_at.popitem(last=False)
        return self._get_response(request)
