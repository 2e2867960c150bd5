"""
ASGI handler that runs each request in one thread, which keeps its database connection.

Why: pages and REST are synchronous. Under Django's ASGIHandler each synchronous middleware changes
threads twice, and each time the thread is new and opens a new database connection.
Remove when: Django runs a synchronous middleware chain in one pooled thread.
"""

import os
from typing import Any

from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from inbox.platform.db_executor import in_db_thread, in_hashing_thread
from inbox.platform.files.received_files import BODY_FILE
from inbox.platform.monitoring import request_facts


class ThreadedHandler(ASGIHandler):
    """A handler that serves POST requests to `hashing_paths` in the threads for password hashes."""

    def __init__(self, hashing_paths: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._hashing_paths = hashing_paths

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    def create_request(self, scope: Any, body_file: Any) -> Any:
        """Set the length of a chunked body, which parsers rely on; read uploads from their file."""
        body_file = scope.get(BODY_FILE, body_file)
        request, error_response = super().create_request(scope, body_file)
        if request is not None and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = str(body_file.seek(0, os.SEEK_END))
            body_file.seek(0)
        return request, error_response

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        hashes = request.method == "POST" and request.path.startswith(self._hashing_paths)
        in_thread = in_hashing_thread if hashes else in_db_thread
        return await in_thread(self._respond, request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        """Respond, and remove the body of an upload from the disk."""
        try:
            return self.get_response(request)
        finally:
            if request.resolver_match is not None:
                request_facts.set_route(request.resolver_match.route)
            body_file = getattr(request, "scope", {}).get(BODY_FILE)
            if body_file is not None:
                body_file.close()
