"""
Traces of this process, by OpenTelemetry.

Before `enable` nothing of OpenTelemetry is imported, and spans are empty contexts. Attributes have
ids, states and numbers only, never arguments, answers or other texts.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from django.conf import settings

#: The context of a span in the form of the header `traceparent` (W3C Trace Context).
CONTEXT_CHARACTERS: Final = 55
_NOTHING: Final = nullcontext()

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

    def enable(self, exporter: Any = None) -> Any:
        """
        Start to record spans and to send them by OTLP, or to `exporter`; return the provider.

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
            from opentelemetry.sdk.trace.sampling import (  # noqa: PLC0415
                ParentBased,
                TraceIdRatioBased,
            )
        except ImportError as error:
            raise TracesNotInstalled(
                "Traces need the extra `otel`. Install it, or unset SIGNOFF_TRACES and "
                "OTEL_EXPORTER_OTLP_ENDPOINT."
            ) from error
        by_ratio = TraceIdRatioBased(settings.TRACE_SAMPLING)
        # Stored contexts count as local parents, and keep their decision. A client's flag does not
        # decide: it could have every request recorded.
        sampler = ParentBased(
            root=by_ratio, remote_parent_sampled=by_ratio, remote_parent_not_sampled=by_ratio
        )
        provider = TracerProvider(
            sampler=sampler, resource=Resource.create({"service.name": "signoff"})
        )
        provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._api, self._tracer = trace, provider.get_tracer("signoff")
        return provider

    def disable(self) -> None:
        self._api = self._tracer = None

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
        current span.
        """
        if self._tracer is None:
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
        """Return the context of a request's span, below that of the client if it sent one."""
        if self._tracer is None:
            return _NOTHING
        started: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            method,
            kind=self._api.SpanKind.SERVER,
            context=self._context_of(traceparent, is_remote=True),
            attributes={"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        )
        return started

    def begin(self, name: str, attributes: Attributes | None = None) -> Any:
        """Begin a span that does not become current, to be ended with `end()`; None while off."""
        return self._tracer and self._tracer.start_span(name, attributes=attributes)

    def record(
        self, name: str, *, parent: str, started_ns: int, attributes: Attributes | None = None
    ) -> None:
        """Record a span that has just ended."""
        if self._tracer is not None:
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
        """Return the id of the current trace for log lines, "" if there is none."""
        context = self.current_context()
        return context[3:35] if context.endswith("-01") else ""

    def headers(self) -> dict[str, str]:
        """Return the headers that continue the current trace in another program."""
        context = self.current_context()
        return {"traceparent": context} if context else {}

    def _links(self, contexts: Sequence[str]) -> list[Any]:
        spans = [self._span_context(context) for context in contexts if context]
        return [self._api.Link(span) for span in spans if span is not None]

    def _context_of(self, text: str, *, is_remote: bool = False) -> Any:
        span = self._span_context(text, is_remote=is_remote) if text else None
        if span is None:
            return None  # the current one
        return self._api.set_span_in_context(self._api.NonRecordingSpan(span))

    def _span_context(self, text: str, *, is_remote: bool = False) -> Any:
        """Parse a context; return None if it is not valid."""
        parts = text.split("-")
        try:
            if len(text) != CONTEXT_CHARACTERS or len(parts) != 4:
                return None
            span = self._api.SpanContext(
                int(parts[1], 16),
                int(parts[2], 16),
                is_remote=is_remote,
                trace_flags=self._api.TraceFlags(int(parts[3], 16) & 1),
            )
        except ValueError:
            return None
        return span if span.is_valid else None


traces = Traces()
