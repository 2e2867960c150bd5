"""The URL of the MCP server."""

from typing import Any

from django.urls import path

from inbox.api.runs.streaming_app import StreamingApp
from inbox.mcp_server.endpoint import serve_mcp

# The stubs accept views only, but Channels routes to ASGI applications too.
mcp_urlpatterns: list[Any] = [
    path("mcp", StreamingApp(serve_mcp, ("agent", "session"))),  # type: ignore[arg-type]
]
