"""What is compressed, and what arrives whole because it is not."""

import gzip

from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from inbox.platform.http.compression import Compression

TEXT = b"a text that is worth it, " * 100


def answered(response):
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip"})
    return Compression(lambda _request: response)(request)


def test_a_page_is_compressed():
    response = answered(HttpResponse(TEXT))

    assert gzip.decompress(response.content) == TEXT
    assert len(response.content) < len(TEXT)


async def test_a_stream_is_sent_as_it_is():
    async def parts():
        yield TEXT
        yield TEXT

    response = answered(StreamingHttpResponse(parts()))

    assert "Content-Encoding" not in response.headers
    assert b"".join([part async for part in response]) == 2 * TEXT
