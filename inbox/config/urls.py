"""URLs of the site, except streams and WebSockets, which `asgi.py` routes."""

from django.urls import include, path
from django.views.generic import RedirectView

from inbox.admin import site
from inbox.api.base.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/", include("inbox.api.urls")),
    path("scim/v2/", include("inbox.scim_server.urls")),
    # APPEND_SLASH would reveal to everybody that the page exists.
    path("admin", site.admin_view(RedirectView.as_view(pattern_name="admin:index"))),
    path("admin/", site.urls),
    path("", include("inbox.web.urls")),
]

handler404 = "inbox.api.base.error_responses.not_found"
handler500 = "inbox.web.base.error_pages.server_error"
