"""Set after how many days the files of a team are erased."""

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
        parser.add_argument("days", help="a number of days, or `never`")

    def handle(self, *args: Any, **options: Any) -> None:
        team, days = team_by_slug(options["team"]), options["days"]
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        if days != "never" and not days.isdecimal():
            raise CommandError("Give a number of days, or `never`.")
        try:
            change_team(
                team_id=team.pk, file_days=None if days == "never" else int(days), actor=SEED
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
