"""
Create a person in a team, and print a link to choose a password; create the team if needed.

The link counts once, within an hour. The command prints another one while nobody has used it.
"""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from inbox.actions.people.provisioning import add_member
from inbox.management.operator_command import OperatorCommand
from inbox.management.teams import add_agent, ensure_team_by_slug
from inbox.queries.people.accounts import member_without_password
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Role

if TYPE_CHECKING:
    from inbox import models


class Command(OperatorCommand):
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
        try:
            user = member_without_password(team.pk, options["username"]) or add_member(
                team=team,
                username=options["username"],
                full_name=options["name"],
                password=None,
                role=Role(options["role"]),
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(_link_of(user))


def _link_of(user: "models.User") -> str:
    token = default_token_generator.make_token(user)
    parts = {"uidb36": user_pk_to_url_str(user), "key": token}
    site = settings.PUBLIC_URL or "http://localhost:8000"
    return site + reverse("account_reset_password_from_key", kwargs=parts)
