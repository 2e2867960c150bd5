"""Export, import, test or publish the policy of a team; exit code 1 on errors."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.agui import strict_json
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.queries.people.accounts import user_by_login
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.teams import team_by_slug
from inbox.queries.policies.backtests import policy_to_try, run_backtest
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Actor
from inbox.rules.policies.backtest import MAX_REQUESTS, PastOutcome
from inbox.rules.policies.language.policy import Effect

MAX_FILE_BYTES = 1024 * 1024


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["export", "import", "backtest", "publish"])
        parser.add_argument("file", nargs="?", default="-", help="of import (default: stdin)")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--user", default="", help="the author; of import and publish")
        parser.add_argument("--comment", default="", help="of publish")
        parser.add_argument(
            "--policy-version",
            type=int,
            help="of export and backtest (default: the draft, or else the version in force)",
        )
        parser.add_argument("--requests", type=int, default=1_000, help="of backtest")

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        try:
            getattr(self, f"_{options['action']}")(team, options)
        except RequestRejected as error:
            raise CommandError(_text_of(error)) from error

    def _export(self, team: Any, options: dict[str, Any]) -> None:
        policy = policy_to_try(team.pk, version=options["policy_version"]).policy
        document = policy.to_json() if policy else {}
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))

    def _import(self, team: Any, options: dict[str, Any]) -> None:
        actor = _author(options["user"])
        try:
            body = strict_json.loads(_read(options["file"]))
        except (OSError, ValueError, RecursionError) as error:
            raise CommandError(f"The file is not valid JSON: {str(error)[:200]}") from error
        draft = save_draft(team_id=team.pk, body=body, actor=actor)
        self.stdout.write(f"Saved as the draft {draft.digest}.")

    def _backtest(self, team: Any, options: dict[str, Any]) -> None:
        number = options["requests"]
        if not 1 <= number <= MAX_REQUESTS:
            raise CommandError(f"--requests must be from 1 to {MAX_REQUESTS}.")
        policy = policy_to_try(team.pk, version=options["policy_version"])
        result = run_backtest(SEED, team, policy, requests=number)
        allowed, denied = result.count(Effect.ALLOW), result.count(Effect.DENY)
        rejected = result.count(Effect.ALLOW, PastOutcome.REJECTED)
        edited = result.count(Effect.ALLOW, PastOutcome.EDITED)
        self.stdout.write(
            f"{allowed} of {result.total} would have been allowed; people rejected {rejected} and "
            f"edited {edited} of them. {denied} would have been denied."
        )
        for (effect, outcome), count in result.table.items():
            self.stdout.write(f"{effect.value}\t{outcome.value}\t{count}")
        for row in result.contradictions:
            rules = ",".join(row.rules)
            self.stdout.write(f"{row.request}\t{row.effect.value}\t{row.outcome.value}\t{rules}")
        if result.unused:
            self.stdout.write(f"Rules that would have decided nothing: {', '.join(result.unused)}")

    def _publish(self, team: Any, options: dict[str, Any]) -> None:
        actor = _author(options["user"])
        version = publish_draft(team_id=team.pk, actor=actor, comment=options["comment"])
        self.stdout.write(f"Published as version {version.number}.")


def _author(login: str) -> Actor:
    user = user_by_login(login) if login else None
    if user is None or not user.is_active:
        raise CommandError("Name the author, an administrator of the team: --user NAME.")
    return actor_of_user(user)


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read(MAX_FILE_BYTES)
    with Path(name).open(encoding="utf-8") as file:
        return file.read(MAX_FILE_BYTES)


def _text_of(error: RequestRejected) -> str:
    problems = error.detail.get("problems")
    if not problems:
        return error.message
    return "\n".join(f"{problem['pointer'] or '/'}: {problem['message']}" for problem in problems)
