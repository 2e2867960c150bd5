"""URLs of the probes and the metrics, which are outside of Django's middleware."""

from typing import Any

from django.urls import path

from inbox.api.monitoring.probes import livez, metrics_of_site, readyz

# The stubs accept views only, but Channels routes to ASGI applications too.
monitoring_urlpatterns: list[Any] = [
    path("livez", livez),  # type: ignore[arg-type]
    path("readyz", readyz),  # type: ignore[arg-type]
    path("metrics", metrics_of_site),  # type: ignore[arg-type]
]
