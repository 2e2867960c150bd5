"""Send a test message to an address or a chat at once, and print what the server answered."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils.translation import override

from inbox.management.operator_command import OperatorCommand
from inbox.sending.notification_sender import send_test_mail, send_test_to_chat


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        to = parser.add_mutually_exclusive_group(required=True)
        to.add_argument("--to", metavar="ADDRESS", help="an e-mail address")
        to.add_argument("--channel", type=UUID, help="the id of a chat, as in its address")
        parser.add_argument("--language", default="en", help="of the message (default: en)")

    def handle(self, *args: Any, **options: Any) -> None:
        address = options["to"]
        with override(options["language"]):
            result = send_test_mail(address) if address else send_test_to_chat(options["channel"])
        if result is None:
            raise CommandError("There is no chat with this id, or it is switched off.")
        if result.problem is not None:
            raise CommandError(f"Not sent ({result.problem}): {result.answer or 'see the log'}")
        self.stdout.write("The server has accepted the message.")
