"""Make an API key and print it, and nothing else."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people import create_api_key
from inbox.domain.access import SEED, Permission
from inbox.selectors.teams import team_by_slug


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

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(
                f"There is no team {options['team']!r}; `manage.py create_member` makes one."
            )
        scopes = {Permission(scope) for scope in options["scope"]}
        token = create_api_key(team=team, name=options["name"], scopes=scopes, actor=SEED)
        self.stdout.write(token)
