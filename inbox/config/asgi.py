"""HTTP and WebSocket in one ASGI application."""

import os
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from inbox.api.base.https_only import HttpsOnly  # noqa: E402
from inbox.api.base.rate_headers import RateHeaders  # noqa: E402
from inbox.api.base.request_ids import RequestIds  # noqa: E402
from inbox.api.monitoring.monitoring_urls import monitoring_urlpatterns  # noqa: E402
from inbox.api.monitoring.request_metrics import RequestMetrics  # noqa: E402
from inbox.api.monitoring.request_traces import RequestTraces  # noqa: E402
from inbox.api.requests.request_poll import RequestPoll  # noqa: E402
from inbox.api.runs.long_poll import LongPoll  # noqa: E402
from inbox.api.runs.streaming_urls import streaming_urlpatterns  # noqa: E402
from inbox.mcp_server.urls import mcp_urlpatterns  # noqa: E402
from inbox.platform.http.threaded_handler import ThreadedHandler  # noqa: E402
from inbox.realtime.urls import websocket_urlpatterns  # noqa: E402

#: Paths of forms with passwords: those of account_urls.py, and invitations.
_PASSWORD_PATHS = ("/login/", "/password/", "/account/confirm/", "/account/password/", "/join/")

_pages = ThreadedHandler(_PASSWORD_PATHS)
_long_poll: Any = path("api/runs/<uuid:run_id>", LongPoll(_pages))  # type: ignore[arg-type]
_requests = RequestPoll(_pages)
_request_polls: Any = [
    path("api/requests", _requests),  # type: ignore[arg-type]
    path("api/requests/<uuid:request_id>", _requests),  # type: ignore[arg-type]
]
_other_paths: Any = re_path(r"", _pages)  # type: ignore[arg-type]
_own_paths: list[Any] = [
    *monitoring_urlpatterns,
    *streaming_urlpatterns,
    *mcp_urlpatterns,
    _long_poll,
    *_request_polls,
]
_http: Any = URLRouter([*_own_paths, _other_paths])


def _template_of(url_path: str) -> str:
    """Return the template of a URL that Django does not route, else ""."""
    relative = url_path.removeprefix("/")
    patterns = (each.pattern for each in _own_paths)
    return next((str(pattern) for pattern in patterns if pattern.match(relative)), "")


_application: Any = HttpsOnly(
    ProtocolTypeRouter(
        {
            "http": RateHeaders(_http),
            "websocket": RateHeaders(URLRouter(websocket_urlpatterns)),
        }
    )
)
if settings.HAS_TRACES:
    _application = RequestTraces(_application, _template_of)
if settings.HAS_METRICS:
    _application = RequestMetrics(_application, _template_of)
application = RequestIds(_application)
