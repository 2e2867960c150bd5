"""Every address of the site but those that stream, which `asgi.py` routes."""

from django.urls import include, path

from inbox.api.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/", include("inbox.api.urls")),
    path("", include("inbox.web.urls")),
]
