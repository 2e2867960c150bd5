"""WebSocket URLs."""

from typing import Any

from channels.auth import AuthMiddlewareStack
from django.urls import path, re_path

from inbox.realtime.agui_consumer import AguiConsumer
from inbox.realtime.updates_consumer import UpdatesConsumer
from inbox.realtime.websocket_auth import refuse_unknown_address

# The stubs know views only; Channels routes to ASGI applications by the same patterns.
_agui: Any = AuthMiddlewareStack(AguiConsumer.as_asgi())
_updates: Any = AuthMiddlewareStack(UpdatesConsumer.as_asgi())
_unknown: Any = refuse_unknown_address
websocket_urlpatterns: list[Any] = [
    path("ws/agui/<slug:slug>/", _agui),
    path("ws/live/", _updates),
    re_path(r"", _unknown),
]
