"""The response while the database is unavailable: 503 with Retry-After."""

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse

from inbox.api.base.error_responses import PROBLEM, problem
from inbox.platform.db_executor import DatabaseBusy

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
            return unavailable(error)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, OperationalError | InterfaceError):
            return unavailable(error)
        return None


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
