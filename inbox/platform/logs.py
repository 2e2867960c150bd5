"""Logging configuration: one readable line per event, or JSON with SIGNOFF_LOG=json."""

import logging.config
import os
import re
from typing import Any

import structlog

from inbox.platform.monitoring import request_facts
from inbox.platform.monitoring.traces import traces

#: Exceptions for which Django rejects a request; the message says what was wrong with it.
REJECTIONS = ("DisallowedHost", "RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")


class WithoutTraceback(logging.Filter):
    """Logs requests that Django rejects without a traceback: anybody can cause many of them."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


def _leave_out_request(_logger: Any, _name: str, event: Any) -> Any:
    """Remove Django's request object, whose text has the query string: it may have secrets."""
    event.pop("request", None)
    return event


def _add_request_facts(_logger: Any, _name: str, event: Any) -> Any:
    """Add the id of who makes the current request, and of the trace if it is recorded."""
    facts = request_facts.current()
    if facts is not None and facts.caller:
        event.setdefault("caller", facts.caller)
    if traces.are_on and (trace_id := traces.current_trace_id()):
        event.setdefault("trace_id", trace_id)
    return event


class LoggingConfiguration:
    """One formatter for structlog and for the loggers of the standard library."""

    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.contextvars.merge_contextvars,
        _leave_out_request,
        _add_request_facts,
    ]

    #: httpx logs whole URLs, some of which are secrets.
    quiet = ("celery", "kombu", "daphne", "django.channels", "asyncio", "httpx")

    def apply(self) -> None:
        structlog.configure(
            processors=[
                *self.shared,
                structlog.stdlib.PositionalArgumentsFormatter(),
                structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
            ],
            logger_factory=structlog.stdlib.LoggerFactory(),
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=True,
        )
        logging.config.dictConfig(self._standard())

    def _standard(self) -> dict[str, Any]:
        return {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "line": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        structlog.processors.format_exc_info,
                        *self._rendering(),
                        _redact_tokens,
                    ],
                    "foreign_pre_chain": self.shared,
                }
            },
            "filters": {"rejected": {"()": WithoutTraceback}},
            "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["out"], "level": os.environ.get("SIGNOFF_LOG_LEVEL", "INFO")},
            "loggers": {
                **{name: {"level": "WARNING"} for name in self.quiet},
                # `inbox.web.people.sign_in_limits` logs one line per failure.
                "axes": {"level": "ERROR"},
                **{f"django.security.{name}": {"filters": ["rejected"]} for name in REJECTIONS},
            },
        }

    def _rendering(self) -> list[Any]:
        if os.environ.get("SIGNOFF_LOG") == "json":
            return [structlog.processors.JSONRenderer()]
        console = structlog.dev.ConsoleRenderer(
            colors=False, pad_event_to=28, exception_formatter=structlog.dev.plain_traceback
        )
        return [_escape_control_characters, console]


def _escape_control_characters(_logger: Any, _name: str, event: Any) -> Any:
    """Escape control characters: texts of agents and clients must not control a terminal."""
    for key, value in event.items():
        if isinstance(value, str) and key == "exception":
            # Indented, so that no line of a traceback can pass for a log line.
            event[key] = "\n".join(f"    {_escape(line)}" for line in value.splitlines())
        elif isinstance(value, str):
            event[key] = _escape(value)
    return event


def _escape(text: str) -> str:
    return _CONTROLS.sub(lambda match: repr(match[0])[1:-1], text)


def _redact_tokens(_logger: Any, _name: str, line: str) -> str:
    """Leave out the tokens of addresses: whoever has one can act with it."""
    return _TOKENS.sub(r"\1…", line)


def without_decision_tokens(text: str) -> str:
    """Leave out the tokens of links that decide a request."""
    return _DECISION_TOKENS.sub(r"\1…", text)


_DECISION_TOKENS = re.compile(r"(/decide/)[\w.~%:+=-]{16,}")
#: Pages whose address has a secret; see `inbox/web/urls.py`.
_TOKENS = re.compile(r"(/(?:decide|join|unsubscribe|chats/link)/)[\w.~%:+=-]{16,}")
#: Also the separators that some viewers show as new lines, and marks that reorder a line.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")


LOGGING_CONFIGURATION = LoggingConfiguration()
