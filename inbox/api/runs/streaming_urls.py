"""URLs of the AG-UI server and of event streams."""

from typing import Any

from django.urls import path

from inbox.api.runs import agui
from inbox.api.runs.events import list_events
from inbox.api.runs.streaming_app import StreamingApp

# The stubs accept views only, but Channels routes to ASGI applications too.
streaming_urlpatterns: list[Any] = [
    path("agui/<slug:slug>/", StreamingApp(agui.run_agent)),  # type: ignore[arg-type]
    path("agui/<slug:slug>/connect/", StreamingApp(agui.connect_agent)),  # type: ignore[arg-type]
    path("agui/<slug:slug>/capabilities/", StreamingApp(agui.get_capabilities)),  # type: ignore[arg-type]
    path("api/threads/<uuid:thread_id>/events", StreamingApp(list_events)),  # type: ignore[arg-type]
]
