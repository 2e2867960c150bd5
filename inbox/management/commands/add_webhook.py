"""Add a webhook endpoint to a team, and print its signing secret only."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.webhooks.endpoints import add_webhook
from inbox.management.operator_command import OperatorCommand
from inbox.management.teams import ensure_team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import EventType


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="the URL that receives the messages")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--description", default="", help="one sentence for people")
        parser.add_argument(
            "--event",
            action="append",
            choices=[kind.value for kind in EventType],
            help="an event type; may be repeated (default: all)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            _, secret = add_webhook(
                team_id=ensure_team_by_slug(options["team"]).pk,
                url=options["url"],
                event_types=options["event"] or [kind.value for kind in EventType],
                description=options["description"],
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(secret)
