"""Remove all second factors of a person, or accept any sign-in in a team; audited."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.people.accounts import reset_factors
from inbox.actions.people.members import change_team
from inbox.management.operator_command import OperatorCommand
from inbox.queries.people.teams import team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import OPERATOR, SEED
from inbox.rules.people.required_sign_in import RequiredSignIn


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="?", help="or a confirmed e-mail address")
        parser.add_argument(
            "--team", help="the slug of a team whose members get in again with any sign-in"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        username, slug = options["username"], options["team"]
        if bool(username) is bool(slug):
            raise CommandError("Name a person, or a team with --team.")
        try:
            self._open_team(slug) if slug else self._reset(username)
        except RequestRejected as error:
            raise CommandError(error.message) from error

    def _reset(self, username: str) -> None:
        count = reset_factors(username=username, actor=SEED)
        self.stdout.write(f"Second factors removed: {count}.")

    def _open_team(self, slug: str) -> None:
        team = team_by_slug(slug)
        if team is None:
            raise CommandError(f"There is no team {slug!r}.")
        change_team(team_id=team.pk, required_sign_in=RequiredSignIn.ANY, actor=OPERATOR)
        self.stdout.write(f"Any sign-in enters the team {slug!r} again.")
