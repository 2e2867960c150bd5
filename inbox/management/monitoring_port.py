"""The port for metrics and probes of one process: web, worker or both (SIGNOFF_METRICS_PORT)."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import structlog
from django.db import connections

from inbox.platform.monitoring.metrics import metrics
from inbox.platform.monitoring.parts import PartStatus, liveness
from inbox.queries.monitoring.exposition import CONTENT_TYPE, metrics_page
from inbox.queries.monitoring.readiness import needed_names, readiness, response_of

log = structlog.get_logger(__name__)

JSON: Final = "application/json"


class MonitoringPort:
    """Serves `/metrics`, `/livez` and `/readyz` in threads of their own, without a sign-in."""

    def __init__(self, host: str, port: int, *, is_worker: bool) -> None:
        handler = type("Handler", (_Handler,), {"is_worker": is_worker})
        self._server = ThreadingHTTPServer((host, port), handler)
        self._server.daemon_threads = True

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, name="monitoring", daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    is_worker = False
    timeout = 10  #: of a client that sends nothing

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        try:
            status, body, content_type = self._answer(url.path, url.query)
        finally:
            for connection in connections.all(initialized_only=True):
                connection.close()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        """Log no line for each scrape."""

    def version_string(self) -> str:
        return "signoff"

    def _answer(self, path: str, query: str) -> tuple[int, bytes, str]:
        if path == "/metrics" and metrics.are_on:
            return 200, metrics_page(), CONTENT_TYPE
        if path == "/livez":
            return self._livez()
        return self._readyz(query) if path == "/readyz" else (404, b"", JSON)

    def _livez(self) -> tuple[int, bytes, str]:
        stuck = liveness.stuck_parts()
        status = PartStatus.FAILING if stuck else PartStatus.OK
        body = json.dumps({"status": status, "stuck": stuck}).encode()
        return 503 if stuck else 200, body, JSON

    def _readyz(self, query: str) -> tuple[int, bytes, str]:
        needs = needed_names(parse_qs(query).get("need", []))
        status, body = response_of(readiness(), needs, details=True, is_worker=self.is_worker)
        return status, json.dumps(body).encode(), JSON
