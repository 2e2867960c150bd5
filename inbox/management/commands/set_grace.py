"""Set the grace period of a team: the seconds between its last decision and the resume."""

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
        parser.add_argument("seconds", type=int, help="0 (none) to 3600")

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        try:
            change_team(team_id=team.pk, grace_seconds=options["seconds"], actor=SEED)
        except RequestRejected as error:
            raise CommandError(error.message) from error
