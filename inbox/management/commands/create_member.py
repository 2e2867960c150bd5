"""Add somebody to a team, which is made if there is none, and print their generated password."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.people.provisioning import add_member
from inbox.management.teams import give_agent, team_of
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
            "--rehearsal", action="store_true", help="give the team the scripted agent as well"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_of(options["team"])
        if options["rehearsal"]:
            give_agent(team.slug, "rehearsal")
        password = secrets.token_urlsafe(12)
        try:
            add_member(
                team=team,
                username=options["username"],
                full_name=options["name"],
                password=password,
                role=Role(options["role"]),
                actor=SEED,
            )
        except RequestRejected as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(password)
