"""Add a remote agent to a team, or change its URL."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.management.operator_command import OperatorCommand
from inbox.management.teams import ensure_team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the last part of its URL here: letters, digits, -")
        parser.add_argument("url", help="the AG-UI endpoint of the agent")
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
                team_id=ensure_team_by_slug(options["team"]).pk,
                slug=options["name"],
                url=options["url"],
                headers=dict(map(_header, options["header"])),
                description=options["description"],
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"/agui/{options['name']}/")


def _header(text: str) -> tuple[str, str]:
    """Read the value from the environment, because other users can see command lines."""
    name, _, variable = text.partition("=")
    if variable not in os.environ:
        raise CommandError(f"Environment variable {variable!r} for header {name} is not set.")
    return name, os.environ[variable]
