"""HTTP and WebSocket in one ASGI application."""

import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.handlers.asgi import ASGIHandler  # noqa: E402
from django.http import HttpRequest, HttpResponseBase  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from inbox.api.base.rate_headers import RateHeaders  # noqa: E402
from inbox.api.base.request_ids import RequestIds  # noqa: E402
from inbox.api.runs.long_poll import Waiting  # noqa: E402
from inbox.api.runs.streaming_urls import streaming_urlpatterns  # noqa: E402
from inbox.platform.db_executor import in_db_thread, in_hashing_thread  # noqa: E402
from inbox.realtime.urls import websocket_urlpatterns  # noqa: E402


class ThreadedHandler(ASGIHandler):
    """
    Runs each request as a whole in one thread that keeps its database connection.

    Pages and REST are sync. Under the stock handler every middleware of theirs changes threads
    twice, and the thread is a new one, with a new connection, each time.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def create_request(self, scope: Any, body_file: Any) -> Any:
        """Say how long a chunked body is: what reads it later goes by its length."""
        request, refused = super().create_request(scope, body_file)
        if request is not None and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = str(body_file.seek(0, os.SEEK_END))
            body_file.seek(0)
        return request, refused

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        in_thread = in_hashing_thread if _hashes(request) else in_db_thread
        return await in_thread(self.get_response, request)


#: Where forms with passwords are sent to: account_urls.py, and the page of invitations.
_WITH_PASSWORDS = ("/login/", "/password/", "/account/confirm/", "/account/password/", "/join/")


def _hashes(request: HttpRequest) -> bool:
    return request.method == "POST" and request.path.startswith(_WITH_PASSWORDS)


_pages = ThreadedHandler()
_waiting: Any = path("api/runs/<uuid:run_id>", Waiting(_pages))  # type: ignore[arg-type]
_everything_else: Any = re_path(r"", _pages)  # type: ignore[arg-type]
_http: Any = URLRouter([*streaming_urlpatterns, _waiting, _everything_else])
application = RequestIds(
    ProtocolTypeRouter(
        {
            "http": RateHeaders(_http),
            "websocket": RateHeaders(URLRouter(websocket_urlpatterns)),
        }
    )
)
