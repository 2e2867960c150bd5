"""When and from where each session was last used."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponse

#: A session is written down so often at most, by each process.
_SECONDS: Final = 60.0
_MOST: Final = 10_000


#: Sent by pages that read themselves again: nobody has to sit in front of them.
REFRESH_HEADER: Final = "X-Signoff-Refresh"


class SeenMiddleware:
    """
    Keeps the list of somebody's sessions, and ends what is idle.

    A row a minute, and not one for each request. What an open page does by itself is no use of a
    session.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._seen: OrderedDict[str, float] = OrderedDict()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user: Any = request.user
        if request.method in ("GET", "HEAD") and REFRESH_HEADER in request.headers:
            return self._get_response(request)
        # Looking at who is signed in reads the session: what needs neither is not to pay for it.
        if "sessionid" in request.COOKIES and user.is_authenticated:
            key, now = request.session.session_key or "", time.monotonic()
            if now - self._seen.get(key, -_SECONDS) >= _SECONDS:
                UserSession.objects.create_from_request(request)
                self._seen[key] = now
                if len(self._seen) > _MOST:
                    self._seen.popitem(last=False)
        return self._get_response(request)
