"""Set after how many hours a team's requests expire if their agent sets no expiry."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people.members import change_team
from inbox.queries.people.teams import team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="the team's slug")
        parser.add_argument("hours", type=int, help="0 (never) to 87600")

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        try:
            change_team(team_id=team.pk, request_expiry_hours=options["hours"], actor=SEED)
        except RequestRejected as error:
            raise CommandError(error.message) from error
