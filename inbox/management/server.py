"""The web server and the worker, which can run in one process."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from celery import bootsteps
from celery.app import app_or_default
from celery.worker import WorkController
from celery.worker.consumer import Consumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.utils.module_loading import import_string
from uuid6 import uuid7

from inbox import engine, sweeper
from inbox.actions.monitoring.heartbeats import delete_heartbeat, record_heartbeat
from inbox.actions.people.api_key_usage import flush_usage
from inbox.actions.requests.heard import flush_heard
from inbox.engine import handover
from inbox.platform.http import bounded_server
from inbox.platform.monitoring.parts import liveness
from inbox.transparency_log.background_verification import check_until

log = structlog.get_logger(__name__)

DRAIN_SECONDS = 5.0
#: Longer than the broker's `socket_timeout` of 30 seconds.
STUCK_SECONDS = 60.0
RECONNECT_SECONDS = 1.0
HEARTBEAT_SECONDS = 5.0
LOOP_SECONDS = 5.0
FLUSH_SECONDS = 5.0


def _flush_until(stopping: Callable[[float], bool]) -> None:
    """
    Write what requests have buffered, until `stopping(seconds)`, which waits, returns true.

    Reading requests so write nothing themselves: on SQLite they would wait for each other.
    """
    while not stopping(FLUSH_SECONDS):
        flush_usage()
        flush_heard()
        connection.close()


class Site:
    """Daphne's server of the ASGI application, in the main thread."""

    def __init__(self, host: str, port: int, *, on_ready: Callable[[], None]) -> None:
        bounded_server.install()
        endpoint = f"tcp:port={port}:interface={host.replace(':', chr(92) + ':')}"
        self._server: Any = bounded_server.BoundedServer(
            application=import_string(settings.ASGI_APPLICATION),
            endpoints=[endpoint],
            http_timeout=None,
            ping_interval=20,
            ping_timeout=30,
            websocket_max_message_size=bounded_server.MAX_BODY,
            websocket_max_frame_size=bounded_server.MAX_BODY,
            application_close_timeout=1,
            ready_callable=on_ready,
            server_name="signoff",
            verbosity=0,
        )

    def serve(self) -> None:
        """Serve until SIGINT or SIGTERM, and write what requests have buffered meanwhile."""
        stopping = threading.Event()
        liveness.add("event loop", self._is_loop_turning)
        threading.Thread(
            target=_flush_until, args=(stopping.wait,), name="flush", daemon=True
        ).start()
        try:
            self._server.run()
        finally:
            stopping.set()

    def _is_loop_turning(self) -> bool:
        """Return whether the event loop runs a call within LOOP_SECONDS; True in the loop."""
        from twisted.internet import reactor  # noqa: PLC0415 - Daphne installs the reactor
        from twisted.python.threadable import isInIOThread  # noqa: PLC0415

        if isInIOThread():
            return True
        turned = threading.Event()
        reactor.callFromThread(turned.set)
        return turned.wait(LOOP_SECONDS)


class Pulse(bootsteps.StartStopStep):
    """A Celery boot step that calls `pulse` every second while the consumer's event loop runs."""

    requires = ("celery.worker.components:Timer",)

    def __init__(self, worker: Any, pulse: Callable[[], None] = lambda: None, **_: Any) -> None:
        self._pulse = pulse

    def start(self, worker: Any) -> None:
        worker.timer.call_repeatedly(1.0, self._pulse)


class BackoffConsumer(Consumer):
    """Celery's consumer, which waits a second after each broker error."""

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        super().on_connection_error_before_connected(exc)
        engine.stopping.wait(RECONNECT_SECONDS)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        super().on_connection_error_after_connected(exc)
        engine.stopping.wait(RECONNECT_SECONDS)


class Worker:
    """A Celery worker with threads, the sweeper and the verification of the audit trail."""

    def __init__(self) -> None:
        self._controller: Any = None
        self._threads: list[threading.Thread] = []
        self._pulse_at = 0.0
        self.has_failed = False  #: whether the consumer ended unexpectedly
        self._id = uuid7()
        self._has_swept = False

    def start(self) -> None:
        app = app_or_default()
        app.steps["worker"].add(Pulse)
        self._controller = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=settings.CELERY_WORKER_CONCURRENCY,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
            ready_callback=lambda _consumer: log.info("worker.ready"),
            consumer_cls=BackoffConsumer,
            pulse=self._note_pulse,
        )
        self._note_pulse()
        consumer = self._spawn("worker", self._consume)
        if settings.EMBEDDED:
            handover.pool.start(settings.CELERY_WORKER_CONCURRENCY)
        heartbeat = os.environ.get("SIGNOFF_HEARTBEAT")

        def beat(*, has_swept: bool) -> None:
            self._has_swept |= has_swept
            if heartbeat and consumer.is_alive() and self.is_consuming():
                Path(heartbeat).touch()

        self._spawn("sweeper", lambda: sweeper.run_until(engine.stopping, beat))
        liveness.add("consumer", lambda: consumer.is_alive() and self.is_consuming())
        self._spawn("heartbeat", lambda: self._record_heartbeats(consumer))
        # Not joined at shutdown: it changes no data and may take a minute.
        threading.Thread(
            target=check_until, args=(engine.stopping,), name="verifier", daemon=True
        ).start()

    def is_consuming(self) -> bool:
        """
        Return whether the consumer receives messages, or is reconnecting to its broker.

        A worker that waits for its broker is healthy: a restart would only interrupt its runs.
        """
        return not self._is_connected() or time.monotonic() - self._pulse_at < STUCK_SECONDS

    def stop(self) -> None:
        """Stop consuming, requeue the active runs, and wait up to DRAIN_SECONDS."""
        engine.stopping.set()
        if self._controller is not None:
            self._controller.stop(in_sighandler=False)
        handover.pool.stop()
        for thread in self._threads:
            thread.join(DRAIN_SECONDS)

    def _record_heartbeats(self, consumer: threading.Thread) -> None:
        """Write this worker's heartbeat until the process stops, then delete it."""
        is_stopping = False
        while not is_stopping:
            has_swept, self._has_swept = self._has_swept, False
            is_consuming = consumer.is_alive() and self._is_receiving()
            try:
                record_heartbeat(worker_id=self._id, is_consuming=is_consuming, has_swept=has_swept)
            except (DatabaseError, InterfaceError) as error:
                self._has_swept |= has_swept
                log.warning("heartbeat not written", error=type(error).__name__)
            close_old_connections()
            # Soon after the start, so that nobody waits for the first heartbeat that says yes.
            seconds = HEARTBEAT_SECONDS if is_consuming else RECONNECT_SECONDS
            is_stopping = engine.stopping.wait(seconds)
        with suppress(DatabaseError, InterfaceError):
            delete_heartbeat(worker_id=self._id)
        connection.close()

    def _is_receiving(self) -> bool:
        """Return whether the consumer receives messages; not while it waits for its broker."""
        return self._is_connected() and self.is_consuming()

    def _is_connected(self) -> bool:
        consumer = self._controller.consumer  # None until the worker has started
        return consumer is not None and consumer.connection is not None

    def _note_pulse(self) -> None:
        self._pulse_at = time.monotonic()

    def _consume(self) -> None:
        """
        Consume until the process stops; end the process if the consumer ends before.

        `WorkController.start` would log the error and leave a process that consumes nothing.
        """
        try:
            self._controller.blueprint.start(self._controller)
        except Exception:
            log.exception("consumer failed")
        if not engine.stopping.is_set():
            log.critical("consumer ended, the process stops")
            self.has_failed = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _spawn(self, name: str, target: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
        return thread
