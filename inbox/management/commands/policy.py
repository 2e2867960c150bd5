"""Export, import, test, publish or reapply policies of teams, or that of the installation."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from agents.agui import strict_json
from inbox.actions.policies.installation import publish_installation_policy
from inbox.actions.policies.reapply import reapply_policies
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.management.operator_command import OperatorCommand
from inbox.queries.people.accounts import user_by_login
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.teams import team_by_slug
from inbox.queries.policies.backtests import policy_to_try, run_backtest
from inbox.queries.policies.policies import installation_policy
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import SEED, Actor
from inbox.rules.policies.backtest import MAX_REQUESTS, PastOutcome
from inbox.rules.policies.language.policy import Effect

MAX_FILE_BYTES = 1024 * 1024


class Command(OperatorCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action", choices=["export", "import", "backtest", "publish", "reapply"]
        )
        parser.add_argument(
            "file",
            nargs="?",
            default="-",
            help="of import, and of publish --installation",
        )
        parser.add_argument("--team", default="", help="the team's slug")
        parser.add_argument(
            "--installation",
            action="store_true",
            help="the policy of the installation; of export and publish (which reads FILE)",
        )
        parser.add_argument("--user", default="", help="the author; of import, publish and reapply")
        parser.add_argument("--comment", default="", help="of publish")
        parser.add_argument(
            "--policy-version",
            type=int,
            help="of export and backtest (default: the draft, or else the version in force)",
        )
        parser.add_argument("--requests", type=int, default=1_000, help="of backtest")

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_by_slug(options["team"])
        if team is None and not options["installation"]:
            raise CommandError(f"There is no team {options['team']!r}.")
        try:
            if options["installation"]:
                self._handle_installation(options)
            else:
                getattr(self, f"_{options['action']}")(team, options)
        except RequestRejected as error:
            raise CommandError(_text_of(error)) from error

    def _handle_installation(self, options: dict[str, Any]) -> None:
        if options["action"] == "export":
            policy = installation_policy()
            document = policy.to_json() if policy else {"rules": []}
            self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))
        elif options["action"] == "publish":
            user = user_by_login(options["user"]) if options["user"] else None
            if user is None or not (user.is_active and user.is_superuser):
                raise CommandError("Name a superuser: --user NAME.")
            version = publish_installation_policy(
                body=_document(options["file"]),
                actor=actor_of_user(user),
                comment=options["comment"],
            )
            self.stdout.write(f"Published as version {version.number} of the installation.")
        else:
            raise CommandError("With --installation there are export and publish only.")

    def _export(self, team: Any, options: dict[str, Any]) -> None:
        policy = policy_to_try(team.pk, version=options["policy_version"]).policy
        document = policy.to_json() if policy else {}
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))

    def _import(self, team: Any, options: dict[str, Any]) -> None:
        actor = _author(options["user"])
        draft = save_draft(team_id=team.pk, body=_document(options["file"]), actor=actor)
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

    def _reapply(self, team: Any, options: dict[str, Any]) -> None:
        actor = _author(options["user"])
        changed = decided = 0
        after = None
        while True:
            result = reapply_policies(team_id=team.pk, actor=actor, after=after)
            changed, decided = changed + result.changed, decided + result.decided
            if (after := result.next_after) is None:
                break
        self.stdout.write(f"{decided} requests decided, {changed} with a new ruling.")


def _author(login: str) -> Actor:
    user = user_by_login(login) if login else None
    if user is None or not user.is_active:
        raise CommandError("Name the author, an administrator of the team: --user NAME.")
    return actor_of_user(user)


def _document(name: str) -> Any:
    try:
        return strict_json.loads(_read(name))
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"The file is not valid JSON: {str(error)[:200]}") from error


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
