"""Requests over http, with SIGNOFF_HTTPS=1: programs are refused, and pages redirect."""

import httpx
import pytest
from channels.testing import WebsocketCommunicator
from django.test import Client

from inbox.api.base.https_only import HttpsOnly
from inbox.config.asgi import application

KEY = {"Authorization": "Bearer sk_a-key"}
PATHS = ["/api/runs", "/api/agents", "/agui/desk/", "/mcp", "/scim/v2/Users", "/ws/live/"]


@pytest.fixture(autouse=True)
def _https(settings):
    settings.SESSION_COOKIE_SECURE = settings.SECURE_SSL_REDIRECT = True


async def post(application, path, **headers):
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://signoff.example") as client:
        return await client.post(path, json={}, headers={**KEY, **headers})


@pytest.mark.parametrize("path", PATHS)
async def test_a_key_that_was_sent_over_http_gets_403(path):
    answer = await post(application, path)

    assert (answer.status_code, answer.json()["code"]) == (403, "HTTPS_REQUIRED")
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/ws/live/", "/ws/agui/desk/"])
async def test_a_socket_over_http_is_refused(path):
    socket = WebsocketCommunicator(application, path, headers=[(b"authorization", b"Bearer k")])

    assert await socket.connect() == (False, 4403)


async def accepts(scope, _receive, send):
    """Answer everything with 204."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scheme", ["https", "wss", "https,http"])
async def test_what_the_proxy_got_over_tls_is_passed_on(path, scheme):
    answer = await post(HttpsOnly(accepts), path, **{"X-Forwarded-Proto": scheme})

    assert answer.status_code == 204


@pytest.mark.parametrize("path", ["/", "/healthz", "/livez", "/apirates/"])
async def test_other_addresses_are_passed_on(path):
    assert (await post(HttpsOnly(accepts), path)).status_code == 204


async def test_without_the_setting_http_is_passed_on(settings):
    settings.SESSION_COOKIE_SECURE = False

    assert (await post(HttpsOnly(accepts), "/api/runs")).status_code == 204


def test_pages_redirect_to_https():
    answer = Client().get("/threads/?q=a")

    assert (answer.status_code, answer.url) == (301, "https://testserver/threads/?q=a")
