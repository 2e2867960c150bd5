"""The real proxy, with the configuration of deploy/proxy: which headers it passes on."""

import http.server
import os
import shutil
import sys
from pathlib import Path
from threading import Thread

import httpx
import pytest

from tests.support.children import free_port, start_child, stop_child, wait_until
from tests.support.processes import REPOSITORY

#: Headers that Signoff trusts, or that name a client; what forges them must not get through.
FORGED = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Prefix": "/evil",
    "Forwarded": "for=203.0.113.9;proto=https",
    "X-Real-IP": "203.0.113.9",
    "X-Request-ID": "forged",
}


@pytest.fixture
def upstream():
    """A server that keeps the headers of the requests that it gets."""
    received = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(dict(self.headers))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            """Be silent."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, received
    server.shutdown()
    server.server_close()


@pytest.fixture
def http_port():
    return free_port()


@pytest.fixture
def proxy(upstream, tmp_path, http_port):
    port, log = free_port(), tmp_path / "log"
    binary = Path(sys.executable).with_name("caddy")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "SIGNOFF_SITE": f"http://localhost:{port}",
        "SIGNOFF_UPSTREAM": f"127.0.0.1:{upstream[0]}",
        "SIGNOFF_BIND": "127.0.0.1",
        "SIGNOFF_HTTP_PORT": str(http_port),
    }
    config = REPOSITORY / "deploy" / "proxy" / "Caddyfile"
    process = start_child(
        [
            *(str(binary if binary.exists() else shutil.which("caddy")), "run"),
            *("--adapter", "caddyfile", "--config", str(config)),
        ],
        log=log,
        env=environment,
        cwd=tmp_path,
    )
    url = f"http://localhost:{port}"

    def answers():
        try:
            return httpx.get(url, trust_env=False).status_code == 204
        except httpx.TransportError:
            return False

    wait_until(answers, process=process, log=log, what="Caddy", timeout_seconds=30)
    yield url
    stop_child(process)


def test_headers_of_clients_are_not_passed_on(proxy, upstream):
    _, received = upstream

    httpx.get(proxy, headers=FORGED, trust_env=False)

    headers = received[-1]
    assert headers["X-Forwarded-For"] == "127.0.0.1"
    assert headers["X-Forwarded-Proto"] == "http"
    assert headers["Host"].startswith("localhost:")
    assert "evil" not in str(headers)
    for name in ("Forwarded", "X-Real-Ip", "X-Request-Id", "X-Forwarded-Port"):
        assert name not in headers


def test_over_http_programs_are_refused_and_pages_redirect(proxy, upstream, http_port):
    _, received = upstream
    before, url = len(received), f"http://127.0.0.1:{http_port}"

    for path in ("/api/runs", "/agui/desk/", "/mcp", "/scim/v2/Users", "/ws/live/"):
        refused = httpx.get(url + path, headers={"Authorization": "Bearer k"}, trust_env=False)
        assert (refused.status_code, refused.json()["code"]) == (403, "HTTPS_REQUIRED")
    page = httpx.get(f"{url}/threads/?q=a", headers={"Host": "s.example"}, trust_env=False)

    assert (page.status_code, page.headers["Location"]) == (308, "https://s.example/threads/?q=a")
    assert len(received) == before
