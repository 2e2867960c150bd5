"""The pages of errors for which Django has none, or one that may fail itself."""

from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseServerError
from django.template.loader import render_to_string

from inbox.platform.http.machine_paths import FOR_MACHINES
from inbox.rules.request_context import current_request_id

log = structlog.get_logger(__name__)

#: In case that the page itself cannot be rendered, for example without its style sheet.
_LAST_RESORT = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Server error · Signoff</title>'
    "<h1>Server error</h1><p>Something went wrong on our side, and the error was logged. "
    "Check whether your change was made before you try again.</p>"
    '<p><a href="/">Go to the inbox</a></p></html>'
)


def server_error(request: HttpRequest) -> HttpResponse:
    """Respond to an error of the program, without the database and whatever else is broken."""
    try:
        page: str = render_to_string("500.html", {"request_id": current_request_id()})
    except Exception:  # nothing is behind this page that could respond
        log.exception("the page of errors failed")
        page = _LAST_RESORT
    return HttpResponseServerError(page)


class MethodPageMiddleware:
    """Says what an address is for that belongs to a button and was opened as a page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_bare = isinstance(response, HttpResponseNotAllowed) and not response.content
        if is_bare and not request.path_info.startswith(FOR_MACHINES):
            response.content = render_to_string("405.html", request=request)
        return response
