"""Set after how many hours a team's requests expire if their agent sets no expiry."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from inbox.actions.people.members import change_team
from inbox.management.team_setting import TeamSettingCommand
from inbox.rules.people.access import SEED


class Command(TeamSettingCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("hours", type=int, help="0 (never) to 87600")

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        change_team(team_id=team_id, request_expiry_hours=options["hours"], actor=SEED)
