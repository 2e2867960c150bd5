"""Add a chat to a team that gets notifications, and print its id only."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.management.operator_command import OperatorCommand
from inbox.management.teams import ensure_team_by_slug
from inbox.rules.errors import RequestRejected
from inbox.rules.notifications.events import (
    DEFAULT_MINUTES,
    WAITING,
    WEBHOOK_CHATS,
    DeliveryMode,
)
from inbox.rules.people.access import SEED


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[kind.value for kind in WEBHOOK_CHATS])
        parser.add_argument("url", help="the URL of the chat's webhook")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--label", required=True, help="the chat's name for people, as #ops")
        parser.add_argument(
            "--event",
            action="append",
            choices=[kind.value for kind in WAITING],
            help="may be repeated (default: all)",
        )
        parser.add_argument(
            "--mode",
            default=DeliveryMode.IF_WAITING.value,
            choices=[DeliveryMode.AT_ONCE.value, DeliveryMode.IF_WAITING.value],
        )
        parser.add_argument("--minutes", type=int, default=DEFAULT_MINUTES)
        parser.add_argument("--language", default="en", help="of the messages (default: en)")

    def handle(self, *args: Any, **options: Any) -> None:
        values = ChatSettings(
            options["label"],
            options["url"],
            options["event"] or [kind.value for kind in WAITING],
            options["mode"],
            options["minutes"],
        )
        try:
            channel = add_chat(
                team_id=ensure_team_by_slug(options["team"]).pk,
                kind=options["kind"],
                values=values,
                language=options["language"],
                actor=SEED,
            )
        except RequestRejected as error:
            raise CommandError(error.message) from error
        self.stdout.write(str(channel.pk))
