"""Every address of the site."""

from django.urls import include, path

from inbox.api.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/", include("inbox.api.urls")),
    path("agui/", include("inbox.api.agui_urls")),
    path("", include("inbox.web.urls")),
]
