"""Make a person an administrator of the installation (/admin/), or remove that."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.people.accounts import set_superuser
from inbox.management.operator_command import OperatorCommand
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--remove", action="store_true", help="remove the privilege")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            set_superuser(
                username=options["username"], is_superuser=not options["remove"], actor=SEED
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
