"""
GZip for responses that are not streamed, with Django's random padding against BREACH.

Why: of an asynchronous stream Django's GZipMiddleware makes each chunk a gzip member of its own.
That is allowed (RFC 1952, 2.2), but browsers and HTTP clients decode only the first member.
Remove when: Django compresses an asynchronous stream as one gzip member.
"""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compression(GZipMiddleware):
    """Django's middleware, which leaves streaming responses uncompressed."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        if response.streaming:
            return response
        return super().process_response(request, response)
