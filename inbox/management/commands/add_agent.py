"""Add an agent of this installation to a team, whose people and API keys can then run it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.management.operator_command import OperatorCommand
from inbox.management.teams import add_agent
from inbox.rules.errors import RequestRejected


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name in agents.registry or SIGNOFF_AGENTS")
        parser.add_argument("--team", required=True, help="the team's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            add_agent(options["team"], name)
        except (LookupError, ImportError, AttributeError) as error:
            raise CommandError(str(error)) from error
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"/agui/{name}/")
