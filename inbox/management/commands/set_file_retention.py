"""Set after how many days the files of a team are erased."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from inbox.actions.people.members import change_team
from inbox.management.team_setting import TeamSettingCommand, parse_days
from inbox.rules.people.access import SEED


class Command(TeamSettingCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("days", help="a number of days, or `never`")

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        change_team(team_id=team_id, file_days=parse_days(options["days"]), actor=SEED)
