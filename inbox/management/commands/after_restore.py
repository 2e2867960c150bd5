"""Stop the work of a restored database, which may have been done after the backup."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.runs.restored_runs import record_restoration, stop_restored_run
from inbox.management.operator_command import OperatorCommand
from inbox.queries.runs.latest_run import unfinished_threads


class Command(OperatorCommand):
    help = f"{__doc__} Run it once, before the first start after a restore."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--made-at", help="when the backup was made, in ISO 8601")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made_at = options["made_at"] and datetime.fromisoformat(options["made_at"])
        except ValueError as error:
            raise CommandError("Give --made-at like 2026-11-24T15:00:00+00:00.") from error
        record_restoration(made_at=made_at or None)
        stopped = sum(stop_restored_run(thread_id=thread) for thread in [*unfinished_threads()])
        self.stdout.write(
            f"{stopped} runs were stopped with RESTORED: check what they did, then retry them. "
            "Everybody has to sign in again. Open requests say that they were restored: whoever "
            "answers one confirms that its call did not run after the backup."
        )
        self.stdout.write(
            "People who were removed, and keys that were revoked after the backup, are back: "
            "remove and revoke them again before you start."
        )
