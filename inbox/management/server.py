"""The two halves of the program, each able to run in a thread of the other's process."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from celery.app import app_or_default
from celery.worker import WorkController
from django.conf import settings
from django.utils.module_loading import import_string

from inbox import engine, sweeper
from inbox.actions import key_use
from inbox.management import bounded
from inbox.seal.checks import check_until

log = structlog.get_logger(__name__)

DRAIN_SECONDS = 5.0


class Site:
    """Daphne, serving the ASGI application in the main thread."""

    def __init__(self, host: str, port: int, *, on_ready: Callable[[], None]) -> None:
        bounded.install()
        endpoint = f"tcp:port={port}:interface={host.replace(':', chr(92) + ':')}"
        self._server: Any = bounded.BoundedServer(
            application=import_string(settings.ASGI_APPLICATION),
            endpoints=[endpoint],
            http_timeout=None,
            ping_interval=20,
            ping_timeout=30,
            websocket_max_message_size=bounded.MAX_BODY,
            websocket_max_frame_size=bounded.MAX_BODY,
            application_close_timeout=1,
            ready_callable=on_ready,
            server_name="signoff",
            verbosity=0,
        )

    def serve(self) -> None:
        """Serve until SIGINT or SIGTERM, and keep account of the keys that were used."""
        stopping = threading.Event()
        threading.Thread(
            target=key_use.write_until, args=(stopping.wait,), name="key-use", daemon=True
        ).start()
        try:
            self._server.run()
        finally:
            stopping.set()


def _heartbeat() -> Callable[[], object]:
    """What a worker without a port shows its health by: a file that is touched every second."""
    path = os.environ.get("SIGNOFF_HEARTBEAT")
    return Path(path).touch if path else lambda: None


class Worker:
    """A Celery worker on threads and the sweeper, beside whatever else the process does."""

    def __init__(self) -> None:
        self._controller: Any = None
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._controller = WorkController(
            app=app_or_default(),
            pool_cls="threads",
            concurrency=settings.CELERY_WORKER_CONCURRENCY,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
            ready_callback=lambda _consumer: log.info("worker.ready"),
        )
        self._spawn("worker", self._controller.start)
        self._spawn("sweeper", lambda: sweeper.run_until(engine.stopping, _heartbeat()))
        # Waited for by nobody: it changes nothing, and may take a minute.
        threading.Thread(
            target=check_until, args=(engine.stopping,), name="verifier", daemon=True
        ).start()

    def stop(self) -> None:
        """Take no more runs, have the drivers give theirs back, and wait a little for them."""
        engine.stopping.set()
        self._controller.stop(in_sighandler=False)
        for thread in self._threads:
            thread.join(DRAIN_SECONDS)

    def _spawn(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
