"""Addresses of the WebSockets."""

from django.urls import path

from inbox.realtime.agui import AguiConsumer
from inbox.realtime.live import LiveConsumer

websocket_urlpatterns = [
    path("ws/agui/<slug:slug>/", AguiConsumer.as_asgi()),
    path("ws/live/", LiveConsumer.as_asgi()),
]
