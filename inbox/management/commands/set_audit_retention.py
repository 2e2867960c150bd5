"""Set after how many days names and texts are erased from a team's audit trail."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from inbox.actions.audit.erasure import set_retention
from inbox.management.team_setting import TeamSettingCommand, parse_days
from inbox.rules.people.access import SEED


class Command(TeamSettingCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("days", help="a number of days, or `never`")

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        set_retention(team_id=team_id, days=parse_days(options["days"]), actor=SEED)
