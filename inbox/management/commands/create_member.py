"""Create a person in a team, and print the generated password; create the team if needed."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people.provisioning import add_member
from inbox.management.teams import add_agent, ensure_team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Role


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", required=True)
        parser.add_argument("--name", default="", help="the full name")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--role", required=True, choices=[role.value for role in Role])
        parser.add_argument(
            "--rehearsal", action="store_true", help="also add the demo agent to the team"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = ensure_team_by_slug(options["team"])
        if options["rehearsal"]:
            add_agent(team.slug, "rehearsal")
        password = secrets.token_urlsafe(16)
        try:
            add_member(
                team=team,
                username=options["username"],
                full_name=options["name"],
                password=password,
                role=Role(options["role"]),
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(password)
