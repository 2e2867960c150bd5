"""The headers that continue a trace in a remote agent; the engine's side sets them."""

from collections.abc import Callable, Mapping


def _no_headers() -> Mapping[str, str]:
    return {}


#: Called for each request to a remote agent, in the context of the run that sends it.
trace_headers: Callable[[], Mapping[str, str]] = _no_headers


def set_trace_headers(headers: Callable[[], Mapping[str, str]]) -> None:
    global trace_headers  # noqa: PLW0603
    trace_headers = headers
