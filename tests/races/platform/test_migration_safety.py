"""
Migrations that a running former version survives: only additions, and no long locks.

What the linter refuses is in docs/contributors/migrations.md.
"""

import pytest
from django.conf import settings
from django_migration_linter import MigrationLinter

#: Migrations before this one were written for upgrades with all processes stopped.
FIRST_ROLLING = "0107"


pytestmark = pytest.mark.django_db


def problems_of(names):
    """Return whether the linter refuses these migrations; None if it knows none of them."""
    linter = MigrationLinter(
        path=str(settings.BASE_DIR),
        include_apps=["inbox"],
        include_name=names,
        analyser_string="postgresql",
        no_cache=True,
        all_warnings_as_errors=True,
    )
    linter.lint_all_migrations(app_label="inbox")
    assert linter.nb_total
    return linter.nb_erroneous


def test_migrations_leave_a_running_former_version_alone(capsys):
    folder = settings.BASE_DIR / "inbox" / "migrations"
    names = [path.stem for path in folder.glob("[0-9]*.py") if path.stem >= FIRST_ROLLING]

    assert problems_of(names) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "0051_remove_idempotency_columns_of_runs",  # removes columns
        "0056_endorsements",  # a column NOT NULL without a default of the database
        "0067_channel_kinds",  # renames a column
        "0088_call_leases",  # an index that locks its table
    ],
)
def test_the_linter_refuses_what_a_former_version_does_not_survive(name):
    assert problems_of([name]) == 1
