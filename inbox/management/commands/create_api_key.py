"""Create an API key, and print it only."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people.api_keys import make_key
from inbox.queries.people.teams import team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Permission


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--team", default="demo", help="the team's slug (default: demo)")
        parser.add_argument(
            "--scope",
            action="append",
            required=True,
            choices=[permission.value for permission in Permission],
        )
        parser.add_argument(
            "--agent",
            default="",
            help="the agent that owns the key; it can only read and run",
        )
        parser.add_argument(
            "--network",
            action="append",
            default=[],
            help="a network from which it works, such as 192.0.2.0/24 (default: all)",
        )
        parser.add_argument(
            "--expires-days", type=int, help="days until it expires (default: never)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(
                f"There is no team {options['team']!r}; `manage.py create_member` creates one."
            )
        try:
            _, token = make_key(
                team_id=team.pk,
                name=options["name"],
                scopes={Permission(scope) for scope in options["scope"]},
                agent=options["agent"],
                days=options["expires_days"],
                networks=options["network"],
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(token)
