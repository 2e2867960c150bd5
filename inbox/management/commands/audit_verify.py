"""Verify the audit trail of this database or of an export."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from inbox import transparency_log
from inbox.transparency_log import verification
from tools.audit_verifier import (
    EXIT,
    UNREADABLE,
    Key,
    notes_in,
    verify_export,
)


class Command(BaseCommand):
    help = (
        "Verify the audit trail against its signed checkpoints. "
        "Exits with 0 if it is intact, 1 if it was tampered with, 2 if unknown, 3 on usage errors."
    )
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **options)
        parser.error = _usage_error(parser)  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument("--export", type=Path, help="verify this file, not the database")
        scope.add_argument("--thread", type=UUID, help="verify the entries of this thread or team")
        scope.add_argument(
            "--range",
            type=_parse_range,
            metavar="FIRST-LAST",
            help="verify these positions in the log",
        )
        parser.add_argument("--key", help="the public key (default: the key of this installation)")
        parser.add_argument(
            "--checkpoints", type=Path, help="a checkpoint file outside of the database"
        )
        parser.add_argument(
            "--latest",
            action="store_true",
            help="fail if there is a newer checkpoint",
        )
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, **options: Any) -> None:
        path: Path = options["checkpoints"] or Path(settings.AUDIT_CHECKPOINTS)
        try:
            key = self._key(options["key"])
            notes = notes_in(path) if options["checkpoints"] or path.exists() else []
            report = _report(options, key, notes)
            if report["findings"] and options["export"] is None:
                # Repeat it: an erasure during the verification looks like tampering.
                report = _report(options, key, notes)
        except (OSError, DatabaseError, *UNREADABLE) as error:
            self.stderr.write(ascii(str(error))[1:-1])
            sys.exit(3)
        self.stdout.write(json.dumps(report, indent=2) if options["json"] else _summary(report))
        sys.exit(EXIT[report["verdict"]])

    def _key(self, text: str | None) -> Key | None:
        if text:
            return Key(text)
        try:
            return Key(transparency_log.existing_key().verifier)
        except ValueError as problem:
            self.stderr.write(f"{problem} Pass the public key with --key.")
            return None


def _report(options: dict[str, Any], key: Key | None, notes: list[str]) -> dict[str, Any]:
    if options["export"] is not None:
        return verify_export(options["export"], key, notes, latest=options["latest"])
    if options["thread"] is not None:
        return verification.verify_chain(key, notes, chain=options["thread"])
    if options["range"] is not None:
        first, last = options["range"]
        return verification.verify_range(key, notes, first=first, last=last)
    return verification.verify_all(key, notes, with_rows=True)


def _parse_range(text: str) -> tuple[int, int]:
    first, last = map(int, text.split("-"))
    if not 0 <= first <= last < 2**63:
        raise ValueError(text)
    return first, last


def _usage_error(parser: ArgumentParser) -> Any:
    def error(message: str) -> NoReturn:
        parser.exit(3, f"{parser.format_usage()}{message}\n")

    return error


def _summary(report: dict[str, Any]) -> str:
    counts = ", ".join(f"{report[name]} {name}" for name in ("entries", "sealed", "unsealed"))
    lines = [f"{report['verdict']}: {counts}"]
    if point := report["checkpoint"]:
        lines.append(f"It rests on the checkpoint of {point['size']} entries, {point['time']}.")
    if report["outside"]:
        lines.append(f"Checkpoints outside of the database cover {report['outside']} of them.")
    else:
        lines.append("No checkpoint from outside of the database was compared.")
    if report["newer"]:
        lines.append(f"There is a newer checkpoint, of {report['newer']} entries.")
    findings = [*report["findings"], *report["doubts"]]
    return "\n".join([*lines, *(f"  {item['where']}: {item['problem']}" for item in findings)])
