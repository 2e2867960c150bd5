"""The one Django app."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models.signals import post_migrate, pre_migrate

from inbox.platform import append_only_triggers
from inbox.platform.deployment.deploy_checks import check_deployment
from inbox.platform.deployment.key_checks import check_keys
from inbox.platform.http.unused_imports import skip_unused_imports


class InboxConfig(AppConfig):
    name = "inbox"
    verbose_name = "Signoff"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from inbox.models.people import sessions  # noqa: PLC0415 - models are not loaded before

        skip_unused_imports()
        sessions.install()
        pre_migrate.connect(_allow_table_copies, sender=self)
        post_migrate.connect(_protect_history, sender=self)
        register(check_keys, Tags.security)
        register(check_history, Tags.database)
        register(check_role, Tags.database, deploy=True)
        register(check_demo, Tags.database, deploy=True)
        register(check_required_sign_in, Tags.database, deploy=True)
        register(check_deployment, Tags.security, deploy=True)


def check_history(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """
    Compare what keeps history as it was written with what should (`check --database`).

    `migrate` checks before it does anything, and a release may change what should be installed:
    while there are migrations to be applied, what differs is a warning.
    """
    messages: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        problems = append_only_triggers.differences(connection)
        is_behind = bool(problems) and _is_behind(connection)
        kind, hint = (Warning, _BEHIND) if is_behind else (Error, _PUT_RIGHT)
        messages += [kind(problem, hint=hint, id=code) for code, problem in problems]
    return messages


_PUT_RIGHT = "Find out who changed it, then run `manage.py migrate --skip-checks`."
_BEHIND = "There are migrations to be applied: run `manage.py migrate`, and then this check again."


def _is_behind(connection: BaseDatabaseWrapper) -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes("inbox")))


def check_role(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn if the application's own role could change history (`check --deploy --database`)."""
    return [
        Warning(
            "The role of the application may change the audit trail.",
            hint="Give it a role of its own: `manage.py grant_application`, docs/audit.md.",
            id="signoff.W001",
        )
        for alias in databases or ()
        if "inbox_auditentry" in connections[alias].introspection.table_names()
        and append_only_triggers.may_change_history(connections[alias])
    ]


def check_demo(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn if people of the demo can sign in (`check --deploy --database`)."""
    from inbox.management.demo import PEOPLE, TEAM  # noqa: PLC0415 - models are not loaded before
    from inbox.queries.people.demo_people import demo_people  # noqa: PLC0415 - the same

    names = [username for username, _, _ in PEOPLE]
    return [
        Warning(
            "People of the demo can sign in, with passwords that are in a file.",
            hint="Deactivate them in the admin, or start with a new database: "
            + ", ".join(row.user.username for row in people),
            id="signoff.W033",
        )
        for alias in databases or ()
        if "inbox_membership" in connections[alias].introspection.table_names()
        and (people := [row for row in demo_people(names) if row.team.slug == TEAM])
    ]


def check_required_sign_in(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn about teams that a password alone enters (`check --deploy --database`)."""
    from inbox.queries.people.teams import teams_without_requirement  # noqa: PLC0415 - the same

    return [
        Warning(
            "A password alone enters the teams: " + ", ".join(slugs),
            hint="Require a second factor or a provider (docs/signin.md).",
            id="signoff.W036",
        )
        for alias in databases or ()
        if "inbox_team" in connections[alias].introspection.table_names()
        and (slugs := teams_without_requirement())
    ]


def _allow_table_copies(using: str, plan: Any = (), **_: Any) -> None:
    if plan:
        append_only_triggers.allow_table_copies(connections[using])


def _protect_history(using: str, plan: Any = (), **_: Any) -> None:
    backwards = any(is_backwards for _, is_backwards in plan)
    if not backwards:
        append_only_triggers.install(connections[using])
