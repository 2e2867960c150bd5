"""URLs of the probes, which are outside of Django's middleware."""

from typing import Any

from django.urls import path

from inbox.api.monitoring.probes import livez, readyz

# The stubs accept views only, but Channels routes to ASGI applications too.
monitoring_urlpatterns: list[Any] = [
    path("livez", livez),  # type: ignore[arg-type]
    path("readyz", readyz),  # type: ignore[arg-type]
]
