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


def _app(view: Any) -> Any:
    # The stubs accept views only, but Channels routes to ASGI applications too.
    return StreamingApp(view, view.known_parameters)


streaming_urlpatterns: list[Any] = [
    *(path(address, _app(view)) for address, view in _AGUI.items()),
    # Clients have these in their settings: they were the only ones once.
    *(path(f"{address}/", _app(view)) for address, view in _AGUI.items()),
    path("api/threads/<uuid:thread_id>/events", _app(list_events)),
]
