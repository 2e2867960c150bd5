"""Parsing of request bodies as strict JSON."""

from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.parsers import JSONParser

from agents.agui import strict_json
from inbox.rules.errors import InvalidInput, TooLarge, UnsupportedMedia

MAX_BODY = settings.DATA_UPLOAD_MAX_MEMORY_SIZE


class StrictJSONParser(JSONParser):
    """Reject JSON that parsers disagree about, such as duplicate keys and NaN."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        return _parse(_read(stream), empty=b"{}")


def json_body(request: HttpRequest) -> Any:
    """
    Return the JSON of a request outside of REST framework.

    Raises:
        InvalidInput, TooLarge, UnsupportedMedia.
    """
    return _parse(body_of_json(request))


def body_of_json(request: HttpRequest) -> bytes:
    """
    Return the body of a request that says that it is JSON.

    Raises:
        TooLarge, UnsupportedMedia.
    """
    if request.content_type != "application/json":
        raise UnsupportedMedia("Send the input as JSON, with Content-Type: application/json.")
    if int(request.headers.get("Content-Length") or 0) > MAX_BODY:
        raise TooLarge(_TOO_LARGE)
    return _read(request)


def _read(stream: IO[Any] | HttpRequest) -> bytes:
    """Raises TooLarge."""
    body: bytes = stream.read(MAX_BODY + 1)
    if len(body) > MAX_BODY:
        raise TooLarge(_TOO_LARGE)
    return body


def _parse(body: bytes, empty: bytes = b"") -> Any:
    """Raises InvalidInput."""
    try:
        return strict_json.loads(body or empty)
    except strict_json.JsonRejected as error:
        raise InvalidInput(str(error)) from error


_TOO_LARGE = "A request body has up to 2 MiB."
