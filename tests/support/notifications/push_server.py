"""A push service on a port of this machine, and browsers that subscribe there."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from inbox.rules.notifications.push_subscriptions import PushSubscription


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """The receiver of messages: its private key never leaves it."""

    def __init__(
        self, endpoint: str, key: ec.EllipticCurvePrivateKey | None = None, auth: bytes = b"a" * 16
    ) -> None:
        self._key = key or ec.generate_private_key(ec.SECP256R1())
        self._auth = auth
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.subscription = PushSubscription(endpoint, encode(point), encode(auth))

    @property
    def body(self) -> dict[str, Any]:
        """The JSON that a page sends to the API."""
        sub = self.subscription
        keys = {"p256dh": sub.p256dh, "auth": sub.auth}
        return {"endpoint": sub.endpoint, "keys": keys}

    def decrypt(self, body: bytes) -> bytes:
        plain: bytes = http_ece.decrypt(body, private_key=self._key, auth_secret=self._auth)
        return plain

    def read(self, body: bytes) -> dict[str, str]:
        message: dict[str, str] = json.loads(self.decrypt(body))
        return message


@dataclass
class PushServer:
    url: str = ""
    status: int = 201
    answer: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    is_nonsense: bool = False  #: answers with something else than HTTP
    may_answer: threading.Event = field(default_factory=threading.Event)
    messages: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    #: path, headers and body of each message

    def browser(self, name: str = "one") -> Browser:
        return Browser(f"{self.url}/push/{name}-very-secret")


class _Handler(BaseHTTPRequestHandler):
    state: PushServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.state.messages.append((self.path, dict(self.headers), body))
        if self.state.is_nonsense:
            self.wfile.write(b"\x00\xff nonsense\r\n\r\n")
            return
        self.state.may_answer.wait(5)
        self.send_response(self.state.status)
        for name, value in self.state.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.state.answer)))
        self.end_headers()
        self.wfile.write(self.state.answer)

    def log_message(self, *_: object) -> None:
        """Print nothing: the output of tests is for failures."""


@contextmanager
def run_push_server() -> Iterator[PushServer]:
    state = PushServer()
    state.may_answer.set()
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield state
        state.may_answer.set()
        server.shutdown()
