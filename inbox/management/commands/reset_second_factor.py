"""Remove all second factors of a person, and record that in the audit trail."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people.accounts import reset_factors
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="or a confirmed e-mail address")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = reset_factors(username=options["username"], actor=SEED)
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Second factors removed: {count}.")
