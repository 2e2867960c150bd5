"""Give a team an agent that runs elsewhere, or tell where it is now."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.management.teams import team_of
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the last part of its address: letters, digits, -")
        parser.add_argument("url", help="where AG-UI inputs are posted to")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--description", help="one sentence for people")
        parser.add_argument(
            "--header",
            action="append",
            default=[],
            metavar="NAME=VARIABLE",
            help="a header, and the environment variable that holds its value; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            set_remote_agent(
                team_id=team_of(options["team"]).pk,
                slug=options["name"],
                url=options["url"],
                headers=dict(map(_header, options["header"])),
                description=options["description"],
                actor=SEED,
            )
        except RequestRejected as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"/agui/{options['name']}/")


def _header(text: str) -> tuple[str, str]:
    """The value comes from the environment: a command line is seen by everybody on the machine."""
    name, _, variable = text.partition("=")
    if variable not in os.environ:
        raise CommandError(f"There is no environment variable {variable!r} for the header {name}.")
    return name, os.environ[variable]
