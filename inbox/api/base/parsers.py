"""Parsing of request bodies as strict JSON."""

from collections.abc import Collection
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
        return parse_json(_read(stream), empty=b"{}")


def json_body(request: HttpRequest) -> Any:
    """
    Return the JSON of a request outside of REST framework.

    Raises:
        InvalidInput, TooLarge, UnsupportedMedia.
    """
    return parse_json(body_of_json(request))


def body_of_json(request: HttpRequest, types: Collection[str] = ("application/json",)) -> bytes:
    """
    Return the body of a request that says that it is JSON, with one of these content types.

    Raises:
        TooLarge, UnsupportedMedia.
    """
    if request.content_type not in types:
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


def parse_json(
    body: bytes, empty: bytes = b"", *, limits: strict_json.Limits = strict_json.DEFAULT_LIMITS
) -> Any:
    """Return strict JSON. Raises InvalidInput."""
    try:
        return strict_json.loads(body or empty, limits=limits)
    except strict_json.JsonRejected as error:
        raise InvalidInput(str(error)) from error


_TOO_LARGE = "A request body has up to 2 MiB."
