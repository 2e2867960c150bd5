"""A receiver of webhooks on a port of this machine, which behaves as badly as a test wants."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError


@dataclass(frozen=True)
class Received:
    """A request as it came, and whether its signature was right."""

    id: str
    body: str
    headers: dict[str, str]
    is_signed: bool
    was_taken: bool

    @property
    def type(self) -> str:
        return str(json.loads(self.body)["type"])

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.body)["data"]
        return data


class Receiver:
    """
    Answers every message with `status`; keeps all that it was sent, however it answered.

    Its `secret` is that of the endpoint, which the test tells it.
    """

    def __init__(self) -> None:
        self.secret = ""
        self.status = 204
        self.answer = b""
        self.headers: dict[str, str] = {}
        self.received: list[Received] = []
        self.may_answer = Event()  #: a slow one is not allowed to
        self.may_answer.set()
        self.drips = False  #: the head of its answer has no end
        self.hurry = Event()  #: nobody sets it: what a drop waits for
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()
        self.url = f"http://127.0.0.1:{self._port}/hooks"

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler())
        self._server.daemon_threads = True
        self._port = self._server.server_port
        Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        """Refuse connections from now on."""
        self.may_answer.set()
        self.drips = False
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def types(self) -> list[str]:
        return [message.type for message in self.received]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status = outer.status
                outer.received.append(
                    Received(
                        id=self.headers["webhook-id"],
                        body=body,
                        headers=dict(self.headers),
                        is_signed=is_signed(outer.secret, body, dict(self.headers)),
                        was_taken=200 <= status < 300,
                    )
                )
                outer.may_answer.wait()
                if outer.drips:
                    self.wfile.write(b"HTTP/1.0 204 No Content\r\n")
                while outer.drips:
                    self.wfile.write(b"X-Y: z\r\n")
                    outer.hurry.wait(0.02)
                self.send_response(status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(outer.answer)

            def log_message(self, *_args: object) -> None:
                """Be silent."""

            def handle(self) -> None:
                with suppress(ConnectionError):  # who was kept waiting has hung up
                    super().handle()

        return Handler


def is_signed(secret: str, body: str, headers: dict[str, str]) -> bool:
    """What a receiver does with the library of Standard Webhooks; without a secret, nothing."""
    if not secret:
        return False
    try:
        Webhook(secret).verify(body, headers)
    except (WebhookVerificationError, ValueError):
        return False
    return True


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """The receiver, where webhooks may be in our own network."""
    settings.PRIVATE_WEBHOOK_HOSTS = {"127.0.0.1"}
    server = Receiver()
    yield server
    server.stop()
