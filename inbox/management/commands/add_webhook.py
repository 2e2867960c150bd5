"""Have a URL told what happens in a team; prints the secret that signs it, and nothing else."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inbox.actions.webhooks.endpoints import add_webhook
from inbox.management.teams import team_of
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import EventType


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="where messages are posted to")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--description", default="", help="one sentence for people")
        parser.add_argument(
            "--event",
            action="append",
            choices=[kind.value for kind in EventType],
            help="what it is told; may be repeated (default: everything)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            _, secret = add_webhook(
                team_id=team_of(options["team"]).pk,
                url=options["url"],
                event_types=options["event"] or [kind.value for kind in EventType],
                description=options["description"],
                actor=SEED,
            )
        except RequestRejected as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(secret)
