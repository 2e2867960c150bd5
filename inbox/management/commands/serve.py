"""Run the web server, the worker, or both in one process."""

import gc
import logging
import os
import signal
import stat
import sys
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from inbox import engine, transparency_log
from inbox.management.agent_reloader import AgentReloader, reloaded_files
from inbox.management.monitoring_port import MonitoringPort
from inbox.management.preparation import prepare
from inbox.management.server import DRAIN_SECONDS, Site, Worker
from inbox.management.services import check_services
from inbox.platform.monitoring.metrics import metrics
from inbox.platform.monitoring.traces import TracesNotInstalled, traces

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Run the web server and the worker until Ctrl-C; one of them with --web or --worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        role = parser.add_mutually_exclusive_group()
        role.add_argument("--web", action="store_true", help="web server only (needs REDIS_URL)")
        role.add_argument(
            "--worker",
            action="store_true",
            help="worker only (needs REDIS_URL)",
        )
        role.add_argument(
            "--signer",
            action="store_true",
            help="sign and verify the audit trail only (needs SIGNOFF_SEPARATE_SIGNER=1)",
        )
        parser.add_argument(
            "--demo", action="store_true", help="create the demo, print credentials"
        )
        parser.add_argument(
            "--no-reload",
            action="store_true",
            help="with --demo: do not restart when the code of SIGNOFF_AGENTS changes",
        )
        parser.add_argument(
            "--no-history",
            action="store_true",
            help="create the demo without the requests that were decided before",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["signer"]:
            self._sign()
            return
        is_single_process = not (options["web"] or options["worker"])
        if not is_single_process and settings.EMBEDDED:
            raise CommandError(
                "--web and --worker need Redis: set REDIS_URL, or omit both options to run "
                "everything in this process."
            )
        if problems := engine.check_installed_agents(with_frameworks=not options["web"]):
            raise CommandError("\n".join(problems))
        check_services()
        host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000"))
        # Before the migrations, which may take long: the process is alive meanwhile, and not ready.
        _start_monitoring(host, is_worker=options["worker"])
        if options["demo"] and settings.EMBEDDED and not settings.DATABASE_URL:
            settings.DEMO_PEOPLE = _demo_people(host)
            settings.SHOWS_AGENT_ERRORS = bool(settings.DEMO_PEOPLE)
        if files := reloaded_files():
            agents = ", ".join(engine.installed_agents())
            greeting = f"Reloaded {files}. Agents: {agents}. Waiting requests go on."
        else:
            _make_private(settings.DATA_DIR)
            has_pages = not options["worker"]
            collects = has_pages and "SIGNOFF_STATIC_ROOT" not in os.environ
            prepare(migrates=is_single_process, collects=collects)
            with_history = not options["no_history"]
            greeting = self._greeting(host, port, with_history) if options["demo"] else ""
        if options["worker"]:
            self._work(Worker())
            return
        reloader = AgentReloader()
        if options["demo"] and engine.installed_agents() and not options["no_reload"]:
            reloader.start()
        site = Site(host, port, on_ready=lambda: self._ready(host, port, greeting))
        _serve(site, None if options["web"] else Worker(), reloader)

    def _sign(self) -> None:
        if not settings.SEPARATE_SIGNER:
            raise CommandError(
                "--signer needs SIGNOFF_SEPARATE_SIGNER=1, for every process: without it the "
                "sweeper signs."
            )
        check_services()
        _make_private(settings.DATA_DIR)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        log.info("signer.ready")
        heartbeat = os.environ.get("SIGNOFF_HEARTBEAT")
        transparency_log.sign_until(stop, Path(heartbeat).touch if heartbeat else lambda: None)

    def _work(self, worker: Worker) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        worker.start()
        _freeze_objects()
        stop.wait()
        _stop(worker, AgentReloader())

    def _ready(self, host: str, port: int, greeting: str) -> None:
        _freeze_objects()
        self.stdout.write(greeting or f"Signoff is ready: http://{host}:{port}/")
        self.stdout.flush()

    def _greeting(self, host: str, port: int, with_history: bool) -> str:
        from inbox.management.demo import ensure_demo  # noqa: PLC0415 - only for the demo

        demo = ensure_demo(settings.DATA_DIR, with_history=with_history)
        address = f"http://{'localhost' if host == '127.0.0.1' else host}:{port}"
        people = "\n".join(
            f"  {account.username:8} {account.role:9} {account.password}"
            for account in demo.accounts
        )
        return f"""
Signoff is ready: {address}/

Open it and choose Marco Ruiz: he is a reviewer and decides requests.
Or sign in with a password as
{people}

Start a run that asks for approval:
  curl {address}/api/runs \\
    -H 'Authorization: Bearer {demo.api_key}' \\
    -H 'Content-Type: application/json' \\
    -d '{{"agent": "rehearsal", "message": "rehearse:tool_call"}}'

A key for programs that decide: {demo.reviewer_key}

Ctrl-C stops it; `make demo-reset` starts over.
"""


def _start_monitoring(host: str, *, is_worker: bool) -> None:
    """
    Start the metrics and traces that the settings ask for.

    Raises:
        CommandError: the extra for traces is not installed.
    """
    if settings.HAS_TRACES:
        try:
            traces.enable()
        except TracesNotInstalled as error:
            raise CommandError(str(error)) from error
        engine.send_traces_to_agents()
    if settings.HAS_METRICS:
        metrics.enable()
    if settings.METRICS_PORT:
        MonitoringPort(host, settings.METRICS_PORT, is_worker=is_worker).start()


def _serve(site: Site, worker: Worker | None, reloader: AgentReloader) -> None:
    """Serve until the process is stopped, or restart it if the reloader has stopped it."""
    # Twisted installs its own handlers later; a signal may arrive before.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if worker:
            worker.start()
        site.serve()
    finally:
        if worker:
            _stop(worker, reloader)
    if reloader.changed:
        reloader.restart()


def _demo_people(host: str) -> list[str]:
    """Return the people who may sign in without a password; none if others can reach the server."""
    from inbox.management.demo import PEOPLE  # noqa: PLC0415 - only for the demo

    is_local = host in ("127.0.0.1", "localhost", "::1")
    return [username for username, _, _ in PEOPLE] if is_local else []


def _freeze_objects() -> None:
    """
    Exclude the objects of the started process from garbage collections, which become rarer.

    A full collection over them stops all threads for up to a second. One over what a thousand
    waiting programs hold takes 0.13 s, and was due every five seconds at Python's 700 objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def _make_private(directory: Path) -> None:
    """Remove the access of other users: the data contains arguments, results and secrets."""
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & 0o077:
        try:
            directory.chmod(mode & 0o700)
        except PermissionError:
            log.warning(
                "other users can read the data directory",
                directory=str(directory),
                mode=f"{mode:o}",
            )


def _stop(worker: Worker, reloader: AgentReloader) -> None:
    """
    Drain the worker; exit with 1 if its consumer failed, so that it is restarted.

    After DRAIN_SECONDS the process exits, because a blocking tool cannot be stopped. The lease of
    its run expires, as after a crash.
    """
    code = int(worker.has_failed)
    timer = threading.Timer(DRAIN_SECONDS, _exit, [code, reloader])
    timer.daemon = True
    timer.start()
    worker.stop()
    timer.cancel()
    if code:
        sys.exit(code)


def _exit(code: int, reloader: AgentReloader) -> None:
    log.warning("exit with tools still running", after_seconds=DRAIN_SECONDS)
    if reloader.changed:
        reloader.restart()
    logging.shutdown()
    os._exit(code)
