"""
Traces of this process, by OpenTelemetry.

Before `enable` nothing of OpenTelemetry is imported, and spans are empty contexts. Attributes have
ids, states and numbers only, never arguments, answers or other texts.
"""

import os
import random
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from django.conf import settings

from inbox.platform.deployment.secret_settings import read_secret

#: The context of a span in the form of the header `traceparent` (W3C Trace Context).
CONTEXT_CHARACTERS: Final = 55
_NOTHING: Final = nullcontext()
_MAX: Final = 2**64 - 1

Attributes = Mapping[str, str | int | float | bool]


class TracesNotInstalled(Exception):
    """The extra `otel` is not installed."""


class Traces:
    """The tracer of this process, None while traces are off."""

    def __init__(self) -> None:
        self._tracer: Any = None
        self._api: Any = None

    @property
    def are_on(self) -> bool:
        return self._tracer is not None

    def enable(self) -> None:
        """
        Start to record spans and to send them by OTLP.

        Raises:
            TracesNotInstalled.
        """
        try:
            from opentelemetry import trace  # noqa: PLC0415 - the optional extra `otel`
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
                OTLPSpanExporter,
            )
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
            from opentelemetry.sdk.trace.sampling import ALWAYS_ON  # noqa: PLC0415
            from opentelemetry.util.re import parse_env_headers  # noqa: PLC0415
        except ImportError as error:
            raise TracesNotInstalled(
                "Traces need the extra `otel`. Install it, or unset SIGNOFF_TRACES and "
                "OTEL_EXPORTER_OTLP_ENDPOINT."
            ) from error
        name = os.environ.get("OTEL_SERVICE_NAME") or "signoff"
        # Requests are sampled here before they reach OpenTelemetry: a span that is not recorded
        # still costs a part of what a recorded one does.
        provider = TracerProvider(
            sampler=ALWAYS_ON, resource=Resource.create({"service.name": name})
        )
        # By itself OpenTelemetry reads the variable, and not a file of it.
        headers = parse_env_headers(read_secret("OTEL_EXPORTER_OTLP_HEADERS"), liberal=True)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(headers=headers or None)))
        self._api, self._tracer = trace, provider.get_tracer("signoff")

    def span(
        self,
        name: str,
        *,
        parent: str = "",
        links: Sequence[str] = (),
        attributes: Attributes | None = None,
    ) -> AbstractContextManager[Any]:
        """
        Return a context in which the span is current; it yields the span, or None while off.

        `parent` and `links` are stored contexts, "" for none. Without a parent it is a child of the
        current span; without that, too, the trace is not recorded, and neither is the span.
        """
        if self._tracer is None or not (parent or self._is_recording()):
            return _NOTHING
        started: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            name,
            context=self._context_of(parent),
            links=self._links(links),
            attributes=attributes,
            # Texts of exceptions may have arguments in them.
            record_exception=False,
            set_status_on_exception=False,
        )
        return started

    def request_span(self, method: str, traceparent: str) -> AbstractContextManager[Any]:
        """
        Return the context of a request's span, below that of the client if it sent one.

        Requests that are not sampled yield None. A client's flag does not decide: it could have
        every request recorded.
        """
        if self._tracer is None:
            return _NOTHING
        parent = self._span_context(traceparent) if traceparent else None
        number = parent.trace_id if parent else random.getrandbits(64)
        if (number & _MAX) >= settings.TRACE_SAMPLING * (_MAX + 1):
            return _NOTHING
        started: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            method,
            kind=self._api.SpanKind.SERVER,
            context=self._context_of(traceparent),
            attributes={"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        )
        return started

    def begin(self, name: str, attributes: Attributes | None = None) -> Any:
        """Begin a span that does not become current, to be ended with `end()`; None without one."""
        if self._tracer is None or not self._is_recording():
            return None
        return self._tracer.start_span(name, attributes=attributes)

    def record(
        self, name: str, *, parent: str, started_ns: int, attributes: Attributes | None = None
    ) -> None:
        """Record a span that has just ended, if its parent is recorded."""
        if self._tracer is not None and parent:
            self._tracer.start_span(
                name,
                context=self._context_of(parent),
                start_time=started_ns,
                attributes=attributes,
            ).end()

    def current_context(self) -> str:
        """Return the context of the current span, to be stored; "" while off or outside of one."""
        if self._api is None:
            return ""
        context = self._api.get_current_span().get_span_context()
        if not context.is_valid:
            return ""
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"

    def current_trace_id(self) -> str:
        """Return the id of the current trace for log lines, "" if it is not recorded."""
        context = self.current_context()
        return context[3:35]

    def headers(self) -> dict[str, str]:
        """Return the headers that continue the current trace in another program."""
        context = self.current_context()
        return {"traceparent": context} if context else {}

    def _is_recording(self) -> bool:
        span = self._api.get_current_span()
        return bool(span.get_span_context().is_valid)

    def _links(self, contexts: Sequence[str]) -> list[Any]:
        spans = [self._span_context(context) for context in contexts if context]
        return [self._api.Link(span) for span in spans if span is not None]

    def _context_of(self, text: str) -> Any:
        span = self._span_context(text) if text else None
        if span is None:
            return None  # the current one
        return self._api.set_span_in_context(self._api.NonRecordingSpan(span))

    def _span_context(self, text: str) -> Any:
        """Parse a context; return None if it is not valid."""
        parts = text.split("-")
        try:
            if len(text) != CONTEXT_CHARACTERS or len(parts) != 4:
                return None
            span = self._api.SpanContext(
                int(parts[1], 16),
                int(parts[2], 16),
                is_remote=True,
                # Who sends or stores a context has decided about sampling before.
                trace_flags=self._api.TraceFlags(self._api.TraceFlags.SAMPLED),
            )
        except ValueError:
            return None
        return span if span.is_valid else None


traces = Traces()
