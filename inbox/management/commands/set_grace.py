"""Set the grace period of a team: the seconds between its last decision and the resume."""

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
        parser.add_argument("seconds", type=int, help="0 (none) to 3600")

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        change_team(team_id=team_id, grace_seconds=options["seconds"], actor=SEED)
