"""Print the public key of the transparency log, or rotate the signing key."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from inbox import transparency_log
from inbox.actions.audit.transparency_log import LogMismatch
from inbox.management.operator_command import OperatorCommand
from inbox.rules.people.access import OPERATOR


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rotate", action="store_true", help="sign with a new key")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            key = transparency_log.signing_key()
            if options["rotate"]:
                key = transparency_log.rotate_signing_key(OPERATOR)
        except (ValueError, LogMismatch) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(key.verifier)
        if options["rotate"] and settings.AUDIT_KEY:
            path = f"{settings.AUDIT_KEY_FILE}.next"
            self.stderr.write(
                f"Copy the key from {path} to SIGNOFF_AUDIT_KEY, restart, and delete the file. "
                "Until then no entries are signed."
            )
