"""Verify the audit trail: of this database, or of an export."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from inbox.domain.verifier import EXIT, UNREADABLE, Key, Verifier, notes_in, verify_export
from inbox.seal import signing_key
from inbox.selectors import trail


class Command(BaseCommand):
    help = (
        "Verify the audit trail against its signed checkpoints. "
        "Exits with 0 if it is intact, 1 if not, 2 if that cannot be told, 3 if called wrongly."
    )
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **options)
        parser.error = _usage(parser)  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--export", type=Path, help="verify this file, not the database")
        parser.add_argument("--key", help="the public key; without it, that of this installation")
        parser.add_argument(
            "--checkpoints", type=Path, help="the file they were written to outside the database"
        )
        parser.add_argument("--json", action="store_true", help="say everything, as JSON")

    def handle(self, **options: Any) -> None:
        path: Path = options["checkpoints"] or Path(settings.AUDIT_CHECKPOINTS)
        try:
            key = Key.parse(options["key"] or signing_key().verifier)
            notes = notes_in(path) if options["checkpoints"] or path.exists() else []
            report = self._report(options["export"], key, notes)
        except (OSError, *UNREADABLE) as error:
            self.stderr.write(str(error))
            sys.exit(3)
        self.stdout.write(json.dumps(report, indent=2) if options["json"] else _words(report))
        sys.exit(EXIT[report["verdict"]])

    def _report(self, export: Path | None, key: Key, notes: list[str]) -> dict[str, Any]:
        if export is not None:
            return verify_export(export, key, notes)
        verifier = Verifier(key)
        verifier.trust([*notes, *trail.notes()])
        for line in trail.log_lines():
            verifier.feed(line)
        return verifier.report()


def _usage(parser: ArgumentParser) -> Any:
    def error(message: str) -> NoReturn:
        parser.exit(3, f"{parser.format_usage()}{message}\n")

    return error


def _words(report: dict[str, Any]) -> str:
    counts = ", ".join(f"{report[name]} {name}" for name in ("entries", "sealed", "unsealed"))
    problems = [f"  {one['where']}: {one['problem']}" for one in report["findings"]]
    return "\n".join([f"{report['verdict']}: {counts}", *problems])
