"""Logs: one readable line an event, or JSON where SIGNOFF_LOG=json."""

import logging.config
import os
from typing import Any

import structlog


class LoggingConfiguration:
    """structlog and the standard library's loggers through one formatter."""

    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        structlog.contextvars.merge_contextvars,
    ]

    quiet = ("celery", "kombu", "daphne", "axes", "django.channels", "asyncio")

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
                        self._renderer(),
                    ],
                    "foreign_pre_chain": self.shared,
                }
            },
            "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["out"], "level": os.environ.get("SIGNOFF_LOG_LEVEL", "INFO")},
            "loggers": {name: {"level": "WARNING"} for name in self.quiet},
        }

    def _renderer(self) -> Any:
        if os.environ.get("SIGNOFF_LOG") == "json":
            return structlog.processors.JSONRenderer()
        return structlog.dev.ConsoleRenderer(
            colors=False, pad_event_to=28, exception_formatter=structlog.dev.plain_traceback
        )


LOGGING_CONFIGURATION = LoggingConfiguration()
