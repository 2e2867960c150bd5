"""Addresses of the WebSockets."""

from typing import Any

from django.urls import path

from inbox.realtime.agui import AguiConsumer
from inbox.realtime.live import LiveConsumer

# The stubs know views only; Channels routes to ASGI applications by the same patterns.
websocket_urlpatterns: list[Any] = [
    path("ws/agui/<slug:slug>/", AguiConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/live/", LiveConsumer.as_asgi()),  # type: ignore[arg-type]
]
