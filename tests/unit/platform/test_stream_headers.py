"""The security headers of streams, which Django's middleware does not see."""

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from inbox.api.runs.streaming_app import StreamingApp


async def headers_of(response):
    async def view(_request):
        return response

    async def send(message):
        messages.append(message)

    messages = []
    app = StreamingApp(view, parameters=())
    await app._answer(RequestFactory().get("/"), {"url_route": {"kwargs": {}}}, send)
    return {name.decode().lower(): value.decode() for name, value in messages[0]["headers"]}


async def stream():
    yield b"data: {}\n\n"


@pytest.mark.parametrize("make", [HttpResponse, lambda: StreamingHttpResponse(stream())])
async def test_a_stream_demands_https_as_pages_do(settings, make):
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = 31_536_000, True
    headers = await headers_of(make())
    assert headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"

    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = False
    headers = await headers_of(make())
    assert headers["strict-transport-security"] == "max-age=31536000"

    settings.SECURE_HSTS_SECONDS = 0
    assert "strict-transport-security" not in await headers_of(make())
