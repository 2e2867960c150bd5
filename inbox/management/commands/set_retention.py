"""Set after how many days threads, files, or names and texts in the audit trail of a team go."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from inbox.actions.audit.erasure import set_retention
from inbox.actions.people.members import change_team
from inbox.management.team_setting import TeamSettingCommand, parse_days
from inbox.rules.people.access import SEED


class Command(TeamSettingCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=("threads", "files", "audit"))
        parser.add_argument(
            "days",
            help="a number of days, or `never`; for threads also `default`: SIGNOFF_THREAD_DAYS",
        )

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        what, text = options["what"], options["days"]
        if what == "threads":
            days = None if text == "default" else parse_days(text) or 0
            change_team(team_id=team_id, thread_days=days, actor=SEED)
        elif what == "files":
            change_team(team_id=team_id, file_days=parse_days(text), actor=SEED)
        else:
            set_retention(team_id=team_id, days=parse_days(text), actor=SEED)
