"""Give a team an agent of this installation; people and keys of the team can then start it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.management.teams import give_agent
from inbox.rules.errors import RequestRejected


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="as in agents.registry, or in SIGNOFF_AGENTS")
        parser.add_argument("--team", required=True, help="the team's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            give_agent(options["team"], name)
        except (LookupError, ImportError, AttributeError) as error:
            raise CommandError(str(error)) from error
        except RequestRejected as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"/agui/{name}/")
