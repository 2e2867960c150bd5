"""
Cost of the audit trail: decisions per second with and without it, by 16 writers on PostgreSQL.

`python -m bench.trail` decides requests of many threads at once, in alternating rounds with and
without the trail, and verifies the trail. `--here` is for its own processes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY, embedded_environment


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.trail", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each kind, by turns")
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--decisions", type=int, default=25, help="of each writer in a round")
    parser.add_argument("--entries", type=int, default=100_000, help="to verify")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        stage = _Stage(options.writers, options.decisions)
        print(json.dumps({**stage.decide(options.rounds), **stage.verify(options.entries)}))
        return 0
    with (
        tempfile.TemporaryDirectory(prefix="signoff-bench-") as directory,
        PostgresServer(durable=True) as server,
    ):
        environment = embedded_environment(Path(directory), SIGNOFF_LOG="json")
        environment["DATABASE_URL"] = server.create_database("signoff")
        done = subprocess.run(
            [sys.executable, "-m", "bench.trail", "--here", *sys.argv[1:]],
            env=environment,
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    figures = json.loads(done.stdout.splitlines()[-1])
    before, after = figures["without"], figures["with"]
    print(f"decisions a second, {options.writers} writers: {before:.0f} without, {after:.0f} with")
    print(f"  {1 - after / before:.0%} less")
    print(f"verified {figures['entries']} entries: {figures['per_second']:.0f} a second")
    return 0


class _Stage:
    """A team whose agent creates many interrupts, and as many concurrent reviewers."""

    def __init__(self, writers: int, decisions: int) -> None:
        os.environ["DJANGO_SETTINGS_MODULE"] = "inbox.config.settings"
        import logging  # noqa: PLC0415

        import django  # noqa: PLC0415

        django.setup()
        logging.disable(logging.CRITICAL)
        from django.core.management import call_command  # noqa: PLC0415

        from tests.conftest import make_world  # noqa: PLC0415

        call_command("migrate", verbosity=0, interactive=False)
        self._world = make_world()
        self._writers, self._decisions = writers, decisions

    def decide(self, rounds: int) -> dict[str, float]:
        """Return the median of decisions per second, with and without the trail."""
        seconds: dict[str, list[float]] = {"with": [], "without": []}
        for number in range(rounds + 1):
            for kind, durations in seconds.items():
                interrupts = [self._ask() for _ in range(self._writers)]
                with _without_trail() if kind == "without" else nullcontext():
                    begun = time.perf_counter()
                    with ThreadPoolExecutor(self._writers) as pool:
                        list(pool.map(self._answer, interrupts))
                    if number:  # skip the warm-up round
                        durations.append(time.perf_counter() - begun)
        count = self._writers * self._decisions
        return {kind: count / median(durations) for kind, durations in seconds.items()}

    def verify(self, entries: int) -> dict[str, float]:
        """Add entries up to this number, and verify the trail."""
        from inbox import transparency_log  # noqa: PLC0415
        from inbox.actions.audit import audit_trail  # noqa: PLC0415
        from inbox.models import AuditEntry  # noqa: PLC0415
        from inbox.platform.clock import database_now  # noqa: PLC0415
        from inbox.queries.audit import trail  # noqa: PLC0415
        from inbox.rules.people.access import SEED  # noqa: PLC0415
        from tools.audit_verifier import Key, Verifier  # noqa: PLC0415

        entry: dict[str, Any] = {
            "action": "bench.filled",
            "actor": SEED,
            "team_id": self._world.team.pk,
            "now": database_now(),
        }
        while AuditEntry.objects.count() < entries:
            self._record(
                [audit_trail.build_entry(**entry, number=number) for number in range(5_000)]
            )
        transparency_log.append_and_sign()
        begun = time.perf_counter()
        verifier = Verifier(Key(transparency_log.signing_key().verifier))
        verifier.trust(trail.checkpoint_notes())
        for line in trail.log_lines():
            verifier.feed(line)
        report = verifier.report()
        duration = time.perf_counter() - begun
        if report["verdict"] != "intact":
            raise RuntimeError(report)
        return {"entries": report["entries"], "per_second": report["entries"] / duration}

    def _record(self, drafts: list[Any]) -> None:
        from django.db import transaction  # noqa: PLC0415

        from inbox.actions.audit import audit_trail  # noqa: PLC0415

        with transaction.atomic():
            audit_trail.record_all(drafts)

    def _ask(self) -> list[Any]:
        from tests.support import steps  # noqa: PLC0415

        run = steps.start(self._world, f"rehearse:parallel:{self._decisions}")
        return list(steps.open_interrupts(run))

    def _answer(self, interrupts: list[Any]) -> None:
        from django.db import connection  # noqa: PLC0415

        from tests.support import steps  # noqa: PLC0415

        bob = self._world.actor(self._world.bob)
        for interrupt in interrupts:
            steps.approve(interrupt, bob)
        connection.close()


@contextmanager
def _without_trail() -> Iterator[None]:
    with (
        mock.patch("inbox.actions.audit.audit_trail.record_all"),
        mock.patch("inbox.actions.audit.audit_trail.build_entry"),
        mock.patch("inbox.actions.audit.audit_trail.record"),
    ):
        yield


if __name__ == "__main__":
    sys.exit(main())
