"""A server on loopback that answers as a script says: for faults of the transport only."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Writes the answer of one exchange to the handler, or breaks it.
Fault = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class FaultyServer:
    """Answers one request after the other; the last answer is repeated."""

    url: str
    answers: list[Fault]
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


def answer(body: str = "{}", status: int = 200, **headers: str) -> Fault:
    def write(handler: BaseHTTPRequestHandler) -> None:
        data = body.encode()
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return write


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    """Send less than was announced."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"id"')


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


@contextmanager
def faulty_server(*answers: Fault) -> Iterator[FaultyServer]:
    """Serve the answers in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests = server.requests
            requests.append((self.command, self.path, dict(self.headers.items()), body))
            server.answers[min(len(requests), len(server.answers)) - 1](self)

        do_GET = do_POST = handle_any  # noqa: N815 - names of http.server

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = FaultyServer(f"http://127.0.0.1:{http.server_port}", list(answers))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
