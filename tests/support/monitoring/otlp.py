"""A receiver of traces over OTLP, and a drawing of a trace as SVG."""

import gzip
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """A received span; ids are in hex, times in nanoseconds."""

    name: str
    trace: str
    id: str
    parent: str
    links: Sequence[str]  #: ids of the linked spans
    start: int
    end: int
    attributes: dict[str, Any]


class Receiver:
    """The spans that arrived, by a real exporter over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        spans = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                spans.extend(_spans_of(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    thread = threading.Thread(target=running.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.server.shutdown()
        running.server.server_close()
        thread.join()


def _spans_of(body: bytes) -> Iterator[Span]:
    message = ExportTraceServiceRequest.FromString(body)
    for resource in message.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    links=[link.span_id.hex() for link in span.links],
                    start=span.start_time_unix_nano,
                    end=span.end_time_unix_nano,
                    attributes={
                        item.key: getattr(item.value, item.value.WhichOneof("value") or "", None)
                        for item in span.attributes
                    },
                )


_LEFT, _WIDTH, _ROW = 330, 560, 26
_COLOURS = ("#2f6f4f", "#3558a0")


def draw(traces: Sequence[Sequence[Span]], titles: Sequence[str]) -> str:
    """Return an SVG of traces, one below the other, each with its own time axis."""
    parts, top = [], 16
    for spans, title, colour in zip(traces, titles, _COLOURS, strict=True):
        parts.append(_text(8, top + 12, title, weight="600"))
        top += _ROW
        begin, end = min(span.start for span in spans), max(span.end for span in spans)
        scale = _WIDTH / max(end - begin, 1)
        for span, depth in _ordered(spans):
            x, width = _LEFT + (span.start - begin) * scale, (span.end - span.start) * scale
            milliseconds = (span.end - span.start) / 1e6
            parts.append(_text(8 + 14 * depth, top + 12, span.name))
            parts.append(
                f'<rect x="{x:.1f}" y="{top}" width="{max(width, 2):.1f}" height="16" rx="2" '
                f'fill="{colour}"/>'
            )
            parts.append(_text(_LEFT + _WIDTH + 12, top + 12, f"{milliseconds:.1f} ms"))
            top += _ROW
        top += 14
    size = f"{_LEFT + _WIDTH + 90} {top}"
    style = "font: 13px system-ui, sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" '
        f'aria-label="{escape(" and ".join(titles))}" style="{style}">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _ordered(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """Yield the spans below their parents, with their depth."""
    ids = {span.id for span in spans}

    def below(parent: str, depth: int) -> Iterator[tuple[Span, int]]:
        children = [span for span in spans if span.parent == parent]
        for span in sorted(children, key=lambda span: span.start):
            yield span, depth
            yield from below(span.id, depth + 1)

    for root in {span.parent for span in spans if span.parent not in ids}:
        yield from below(root, 0)


def _text(x: float, y: float, text: str, *, weight: str = "400") -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="#1c1c1c" font-weight="{weight}">{escape(text)}</text>'
    )
