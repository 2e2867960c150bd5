"""A chat on a port of this machine that keeps what is posted, and answers as a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChatServer:
    url: str = ""
    status: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    bodies: list[Any] = field(default_factory=list)  #: of the requests, parsed
    #: Method and path of each request.
    calls: list[tuple[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    #: Called with the path and the port of the client when a request has arrived.
    before_answer: Callable[[str, int], object] = lambda _path, _port: None


class _Handler(BaseHTTPRequestHandler):
    state: ChatServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.state.calls.append((self.command, self.path))
        self.state.bodies.append(json.loads(body))
        self.state.paths.append(self.path)
        self.state.before_answer(self.path, self.client_address[1])
        self.send_response(self.state.status)
        for name, value in self.state.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.state.answer)))
        self.end_headers()
        with suppress(ConnectionError):  # the client may have been killed
            self.wfile.write(self.state.answer)

    def do_PATCH(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Print nothing: the output of tests is for failures."""


@contextmanager
def run_chat_server() -> Iterator[ChatServer]:
    state = ChatServer()
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}/services/T0/B0/very-secret"
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield state
        server.shutdown()
