"""A bucket with as much of the API of S3 as storing, reading and deleting small objects needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit


class FakeBucket(ThreadingHTTPServer):
    """Keeps objects by their path, and the methods of all requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.methods: list[str] = []
        self.is_away = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FakeBucket
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self._body()
        if self._is_served():
            self.server.objects[self._key] = body
            self._answer(200)

    def do_GET(self) -> None:
        if self._is_served():
            content = self.server.objects.get(self._key)
            self._answer(404 if content is None else 200, content or b"")

    do_HEAD = do_GET  # noqa: N815

    def do_DELETE(self) -> None:
        if self._is_served():
            self.server.objects.pop(self._key, None)
            self._answer(204)

    @property
    def _key(self) -> str:
        return urlsplit(self.path).path

    def _is_served(self) -> bool:
        self.server.methods.append(self.command)
        if self.server.is_away:
            self._answer(403)
        return not self.server.is_away

    def _body(self) -> bytes:
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return self.rfile.read(int(self.headers["Content-Length"]))
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass
        return b"".join(parts)

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", "Tue, 24 Nov 2026 12:00:00 GMT")
        self.send_header("ETag", '"etag"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@contextmanager
def fake_bucket() -> Iterator[FakeBucket]:
    with FakeBucket() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
