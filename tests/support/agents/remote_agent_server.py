"""A server of another framework, on a port of this machine."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

#: How an agent of AG-UI 1.0 meets an answer to what it never asked.
REFUSAL = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"},
    {"type": "RUN_ERROR", "code": "UNKNOWN_INTERRUPT_ID", "message": "Nothing is open here."},
]


class RemoteEndpoint:
    """Plays runs one after the other, and remembers what it was sent."""

    def __init__(self) -> None:
        self.runs: list[list[dict[str, Any] | str]] = []  #: a str is sent as it is
        self.sent: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.capabilities: dict[str, Any] | None = None
        self.may_answer = Event()  #: tests that want it to be silent clear it
        self.may_answer.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/agui"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.may_answer.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                document = outer.capabilities
                self.send_response(200 if document else 404)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(document).encode())

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer.sent.append(json.loads(self.rfile.read(length)))
                outer.headers.append(dict(self.headers))
                outer.may_answer.wait()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream; charset=utf-8")
                self.end_headers()
                for event in outer.runs.pop(0):
                    text = event if isinstance(event, str) else json.dumps(event)
                    self.wfile.write(f"data: {text}\n\n".encode())
                    self.wfile.flush()

            def log_message(self, *_args: object) -> None:
                """Be silent."""

        return Handler


@pytest.fixture
def elsewhere(settings: Any) -> Iterator[RemoteEndpoint]:
    """The server, where our own agents may be."""
    settings.PRIVATE_AGENT_HOSTS = {"127.0.0.1"}
    server = RemoteEndpoint()
    yield server
    server.close()


@pytest.fixture
def new_address(elsewhere: RemoteEndpoint) -> Iterator[RemoteEndpoint]:
    """Another server, where an agent moves to; it ends every run at once."""
    server = RemoteEndpoint()
    finished = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    server.runs = [[REFUSAL[0], finished] for _ in range(10)]
    yield server
    server.close()
