"""Logs: one readable line an event, or JSON where SIGNOFF_LOG=json."""

import logging.config
import os
import re
from typing import Any

import structlog

#: What Django refuses a request for; its message says what was wrong with the request.
REFUSED = ("DisallowedHost", "RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")


class WithoutTraceback(logging.Filter):
    """Leaves one line of a request that Django has refused: anybody may send any number of them."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


class LoggingConfiguration:
    """structlog and the standard library's loggers through one formatter."""

    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.contextvars.merge_contextvars,
    ]

    #: httpx would write down whole URLs, and some of them are secrets.
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
                    ],
                    "foreign_pre_chain": self.shared,
                }
            },
            "filters": {"refused": {"()": WithoutTraceback}},
            "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["out"], "level": os.environ.get("SIGNOFF_LOG_LEVEL", "INFO")},
            "loggers": {
                **{name: {"level": "WARNING"} for name in self.quiet},
                "axes": {
                    "level": "ERROR"
                },  # `inbox.web.people.sign_in_limits` says one line for each failure
                **{f"django.security.{name}": {"filters": ["refused"]} for name in REFUSED},
            },
        }

    def _rendering(self) -> list[Any]:
        if os.environ.get("SIGNOFF_LOG") == "json":
            return [structlog.processors.JSONRenderer()]
        console = structlog.dev.ConsoleRenderer(
            colors=False, pad_event_to=28, exception_formatter=structlog.dev.plain_traceback
        )
        return [_spell_out_controls, console]


def _spell_out_controls(_logger: Any, _name: str, event: Any) -> Any:
    """What agents and clients write must not steer the terminal that shows the log."""
    for key, value in event.items():
        if isinstance(value, str) and key == "exception":
            # Indented, no line of a traceback passes for an event.
            event[key] = "\n".join(f"    {_spelled_out(line)}" for line in value.splitlines())
        elif isinstance(value, str):
            event[key] = _spelled_out(value)
    return event


def _spelled_out(text: str) -> str:
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


LOGGING_CONFIGURATION = LoggingConfiguration()
