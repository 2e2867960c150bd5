"""Set after how many days without activity the threads of a team are deleted."""

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
        parser.add_argument(
            "days", help="a number of days, `never`, or `default`: SIGNOFF_THREAD_DAYS"
        )

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        text = options["days"]
        days = None if text == "default" else parse_days(text) or 0
        change_team(team_id=team_id, thread_days=days, actor=SEED)
