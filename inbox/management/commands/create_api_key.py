"""Create an API key, or a directory with its token, and print it only."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.directories.directories import add_directory
from inbox.actions.people.api_keys import make_key
from inbox.management.operator_command import OperatorCommand
from inbox.queries.people.teams import team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Permission


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default="")
        parser.add_argument("--team", default="demo", help="the team's slug (default: demo)")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=[permission.value for permission in Permission],
        )
        parser.add_argument(
            "--agent",
            default="",
            help="the agent that owns the key; it can only read and run",
        )
        parser.add_argument(
            "--network",
            action="append",
            default=[],
            help="a network from which it works, such as 192.0.2.0/24 (default: all)",
        )
        parser.add_argument(
            "--expires-days", type=int, help="days until it expires (default: never)"
        )

        parser.add_argument(
            "--directory",
            default="",
            metavar="NAME",
            help="create a directory of this name instead, which provisions people over SCIM",
        )
        parser.add_argument(
            "--link-accounts",
            action="store_true",
            help="let the directory take over people who have confirmed the same address",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            token = _add_directory(options) if options["directory"] else _make_key(options)
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(token)


def _add_directory(options: dict[str, Any]) -> str:
    _, token = add_directory(
        name=options["directory"],
        links_accounts=options["link_accounts"],
        networks=options["network"],
        days=options["expires_days"],
        actor=SEED,
    )
    return token


def _make_key(options: dict[str, Any]) -> str:
    if not options["name"] or not options["scope"]:
        raise CommandError("A key needs --name and --scope.")
    team = team_by_slug(options["team"])
    if team is None:
        raise CommandError(
            f"There is no team {options['team']!r}; `manage.py create_member` creates one."
        )
    _, token = make_key(
        team_id=team.pk,
        name=options["name"],
        scopes={Permission(scope) for scope in options["scope"]},
        agent=options["agent"],
        days=options["expires_days"],
        networks=options["network"],
        actor=SEED,
    )
    return token
