"""Every address of the site but those that stream, which `asgi.py` routes."""

from django.urls import include, path
from django.views.generic import RedirectView

from inbox.admin import site
from inbox.api.base.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/", include("inbox.api.urls")),
    # Not left to APPEND_SLASH, which would tell everybody that there is something.
    path("admin", site.admin_view(RedirectView.as_view(pattern_name="admin:index"))),
    path("admin/", site.urls),
    path("", include("inbox.web.urls")),
]

handler404 = "inbox.api.base.error_responses.not_found"
