"""Encrypt every stored secret with the newest key, and say which keys are not needed any more."""

import secrets
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from inbox.actions import stored_secrets
from inbox.actions.stored_secrets import UNREADABLE
from inbox.management.operator_command import OperatorCommand
from inbox.platform.deployment.secret_settings import replace_secret_file
from inbox.platform.encryption import KeySetting, configured_keys, session_keys
from inbox.rules.people.access import OPERATOR

#: Rows that change while they are read are read again.
PASSES = 3


class Command(OperatorCommand):
    help = (
        f"{__doc__} Every process must have the newest key before; docs/keys.md has the steps. "
        "Exits with 1 if secrets remain that depend on other keys, or that no key reads."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        options = parser.add_mutually_exclusive_group()
        options.add_argument("--dry-run", action="store_true", help="count, and change nothing")
        options.add_argument(
            "--new-key",
            action="store_true",
            help="make a new key, and change no secret: restart, and run the command again",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["new_key"]:
            self._make_key()
            return
        if not options["dry_run"]:
            self._rotate()
        counts = stored_secrets.count_secrets()
        self._print_counts(counts)
        self._print_keys(counts)
        if options["dry_run"]:
            return
        remaining = sum(count for (_, _, is_current), count in counts.items() if not is_current)
        if remaining:
            raise CommandError(
                f"{remaining} secrets do not depend on the newest key. If they are unreadable, "
                "enter them again or add their key; otherwise a process still has the old keys: "
                "restart it, and run this command again."
            )

    def _make_key(self) -> None:
        key, path = secrets.token_urlsafe(32), settings.ENCRYPTION_KEY_FILE
        if settings.DATABASE_URL or not path.exists():
            self.stdout.write(key)
            self.stderr.write(
                "Put this key first in SIGNOFF_ENCRYPTION_KEYS of every process, before the "
                "present ones. docs/keys.md has the steps."
            )
            return
        replace_secret_file(path, f"{key}\n{path.read_text()}")
        self.stdout.write(
            f"{path} has a new first key. Restart the server, then run `manage.py rotate_secrets`."
        )

    def _rotate(self) -> None:
        renewed = 0
        for _ in range(PASSES):
            outdated = stored_secrets.rotate_secrets(actor=OPERATOR)
            renewed += outdated
            if not outdated:
                break
        self.stdout.write(f"Encrypted or signed with the newest keys: {renewed}.")

    def _print_counts(self, counts: Counter[tuple[str, str, bool]]) -> None:
        for (kind, key, is_current), count in sorted(counts.items()):
            state = "" if key == UNREADABLE else ", newest" if is_current else ", old"
            self.stdout.write(f"{count:7} {kind}: {key}{state}")

    def _print_keys(self, counts: Counter[tuple[str, str, bool]]) -> None:
        uses: Counter[str] = Counter()
        for (_, key, _), count in counts.items():
            uses[key] += count
        newest = {configured_keys()[0].id, session_keys()[0].id}
        for configured in configured_keys():
            advice = _advice(configured, uses[configured.id], newest)
            self.stdout.write(f"Key {configured.id}, {_place(configured)}: {advice}")


def _place(key: KeySetting) -> str:
    return f"{key.setting} {key.number}" if key.number > 1 else key.setting


def _advice(key: KeySetting, uses: int, newest: set[str]) -> str:
    if key.id in newest:
        return f"in use, {uses} secrets."
    if uses:
        return f"still needed by {uses} secrets."
    if key.setting == "SIGNOFF_SECRET_KEY_FALLBACKS" and (
        decisions := stored_secrets.count_signed_decisions(key)
    ):
        return (
            f"no secret needs it, but {decisions} decisions are verified with it. Move it to the "
            "end of SIGNOFF_DECISION_KEYS."
        )
    return "not needed any more, remove it."
