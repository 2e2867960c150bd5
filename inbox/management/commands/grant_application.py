"""Grant a PostgreSQL role the application's privileges, which do not allow changing history."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from inbox.management.operator_command import OperatorCommand
from inbox.platform import append_only_triggers
from inbox.platform.deployment.secret_settings import read_secret


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("role", help="created with SIGNOFF_APPLICATION_PASSWORD if missing")

    def handle(self, *args: Any, **options: Any) -> None:
        if connection.vendor != "postgresql":
            raise CommandError("Only PostgreSQL has roles.")
        password = read_secret("SIGNOFF_APPLICATION_PASSWORD")
        append_only_triggers.grant_application(connection, options["role"], password)
