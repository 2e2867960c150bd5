"""The response while the database is unavailable: 503 with Retry-After, a page for browsers."""

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.http import escape_leading_slashes
from django.utils.translation import get_language_from_request, override

from inbox.api.base.error_responses import PROBLEM, problem
from inbox.platform.db_executor import DatabaseBusy
from inbox.platform.http.machine_paths import FOR_MACHINES

log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = 2


class UnavailableMiddleware:
    """Responds 503 where a view could not reach the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self._get_response(request)
        except (OperationalError, InterfaceError) as error:
            return _answer(request, error)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, OperationalError | InterfaceError):
            return _answer(request, error)
        return None


def _answer(request: HttpRequest, error: Exception) -> HttpResponse:
    """Return the problem, as a page if a browser opens one: live updates and programs get JSON."""
    response = unavailable(error)
    is_for_people = "text/html" in request.headers.get("Accept", "")
    if not is_for_people or request.path.startswith(FOR_MACHINES):
        return response
    # Exactly one leading slash: two would make the path a host.
    again = escape_leading_slashes(request.get_full_path()) if request.method == "GET" else ""
    with override(get_language_from_request(request)):
        page = render_to_string("503.html", {"again": again}, request=None)
    return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def unavailable(error: Exception) -> JsonResponse:
    if isinstance(error, DatabaseBusy):
        log.warning("database busy", error=str(error)[:200])
        detail = "The site is busy; nothing was changed. Try again in a moment."
    else:
        log.warning("database unavailable", error=str(error)[:200])
        detail = "The database cannot be reached; nothing was changed. Try again in a moment."
    return JsonResponse(
        problem(503, "UNAVAILABLE", detail),
        status=503,
        content_type=PROBLEM,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )
