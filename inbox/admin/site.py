"""The admin site: access for superusers only, and its pages."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include, path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


class Site(AdminSite):
    """
    The admin for superusers; for other signed-in users every page is a 404 that says so.

    It has no sign-in of its own: /login/ has the locks and second factors. Django's pages for
    passwords, the admin log and deletion are left out.
    """

    site_header = site_title = "Signoff"
    index_template = "admin/start.html"

    def has_permission(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return bool(user.is_active and user.is_superuser)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                is_read = request.method in ("GET", "HEAD")
                start = reverse("admin:index")
                return redirect_to_login(request.get_full_path() if is_read else start)
            if not self.has_permission(request):
                return render(request, "admin/superusers_only.html", status=404)
            if any("\0" in text for sent in (request.GET, request.POST) for text in _texts(sent)):
                raise BadRequest("A text holds the character NUL, which nobody can type.")
            answer: HttpResponse = inner(request, *args, **kwargs)
            return answer

        return update_wrapper(never_cache(guarded), view)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        def read(view: Callable[..., Any]) -> Any:
            return self.admin_view(require_safe(view))

        models = [
            path(f"{page.opts.app_label}/{page.opts.model_name}/", include(page.get_urls()))
            for page in self._registry.values()
        ]
        return [
            path("", read(self.index), name="index"),
            path("jsi18n/", read(self.i18n_javascript), name="jsi18n"),
            *models,
            path("<slug:app_label>/", read(self.app_index), name="app_list"),
            # Unknown URLs too require a sign-in, so that they do not reveal which URLs exist.
            path("<path:path>", self.admin_view(_nothing)),
        ]


def _nothing(request: HttpRequest, path: str) -> HttpResponse:
    raise Http404


def _texts(sent: Any) -> list[str]:
    return [text for name, texts in sent.lists() for text in (name, *texts)]


site = Site()
