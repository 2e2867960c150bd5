"""Responses with the bytes of files, in which no browser executes anything."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_cache_control
from django.utils.http import content_disposition_header

from inbox.platform.db_executor import iterate_in_db_threads
from inbox.rules.files.file_types import served_media_type

#: Of downloads and previews: a document in it is sandboxed and loads nothing.
CONTENT_POLICY = (
    "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def download_response(
    request: HttpRequest, chunks: Iterator[bytes], *, name: str, media_type: str, size: int
) -> HttpResponseBase:
    """Return a download, which is read while it is sent."""
    response = StreamingHttpResponse(
        iterate_in_db_threads(request, chunks), content_type=served_media_type(media_type)
    )
    response.headers["Content-Length"] = str(size)
    disposition = content_disposition_header(as_attachment=True, filename=name)
    response.headers["Content-Disposition"] = disposition or "attachment"
    return _sandboxed(response)


def picture_response(content: bytes, media_type: str) -> HttpResponseBase:
    """Return a picture that this server has drawn, for pages of this site."""
    response = HttpResponse(content, content_type=media_type)
    patch_cache_control(response, private=True, max_age=600)
    return _sandboxed(response)


def _sandboxed(response: HttpResponseBase) -> HttpResponseBase:
    response.headers["Content-Security-Policy"] = CONTENT_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
