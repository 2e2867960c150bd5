"""Erase the names and texts of a thread from the audit trail, and record that."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from inbox.actions.audit.erasure import erase_thread
from inbox.management.operator_command import OperatorCommand
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread", type=UUID, help="the thread's id, as in its URL")
        parser.add_argument("--reason", required=True, help="stored permanently in the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = erase_thread(thread_id=options["thread"], reason=options["reason"], actor=SEED)
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Entries erased: {count}.")
