"""Compressing answers, which hides in a random length how well the tokens in them compress."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compression(GZipMiddleware):
    """
    Django's, for what is not streamed.

    Of an asynchronous stream Django makes each part a gzip file of its own. That is allowed (RFC
    1952, 2.2), and browsers and HTTP clients read the first part, and silently nothing more.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        if response.streaming:
            return response
        return super().process_response(request, response)
