"""Erase the names and texts of a thread from the audit trail; an audit entry says so."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.audit.erasure import erase_thread
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread", type=UUID, help="the thread's id, as its address has it")
        parser.add_argument("--reason", required=True, help="is written down, and stays")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = erase_thread(thread_id=options["thread"], reason=options["reason"], actor=SEED)
        except RequestRejected as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"Entries erased: {count}.")
