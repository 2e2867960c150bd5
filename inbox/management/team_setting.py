"""Commands that change one setting of a team."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from inbox.management.operator_command import OperatorCommand
from inbox.queries.people.teams import team_by_slug
from inbox.rules.errors import RequestRejected


class TeamSettingCommand(OperatorCommand):
    """A command with a team and a value, which `change` sets."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="the team's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        try:
            self.change(team.pk, options)
        except RequestRejected as error:
            raise CommandError(error.message) from error

    def change(self, team_id: UUID, options: dict[str, Any]) -> None:
        """Set the value. Raises RequestRejected, CommandError."""
        raise NotImplementedError


def parse_days(text: str) -> int | None:
    """Return a number of days, None for `never`. Raises CommandError."""
    if text == "never":
        return None
    if not text.isdecimal():
        raise CommandError("Give a number of days, or `never`.")
    return int(text)
