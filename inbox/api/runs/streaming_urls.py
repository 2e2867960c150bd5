"""URLs of the AG-UI server and of event streams."""

from typing import Any

from django.urls import path

from inbox.api.runs import agui
from inbox.api.runs.events import list_events
from inbox.api.runs.streaming_app import StreamingApp

_AGUI = {
    "agui/<slug:slug>": agui.run_agent,
    "agui/<slug:slug>/connect": agui.connect_agent,
    "agui/<slug:slug>/capabilities": agui.get_capabilities,
}
# The stubs accept views only, but Channels routes to ASGI applications too.
streaming_urlpatterns: list[Any] = [
    *(path(address, StreamingApp(view)) for address, view in _AGUI.items()),  # type: ignore[arg-type]
    # Clients have these in their settings: they were the only ones once.
    *(path(f"{address}/", StreamingApp(view)) for address, view in _AGUI.items()),  # type: ignore[arg-type]
    path("api/threads/<uuid:thread_id>/events", StreamingApp(list_events)),  # type: ignore[arg-type]
]
