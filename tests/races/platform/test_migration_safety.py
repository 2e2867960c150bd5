"""
Migrations that a running former version survives: only additions, and no long locks.

What the linter refuses is in docs/contributors/migrations.md.
"""

import shutil

import pytest
from django.conf import settings
from django.test import override_settings
from django_migration_linter import MigrationLinter

FOLDER = settings.BASE_DIR / "inbox" / "migrations"
FIRST = "0122_initial"
LATER = [path.stem for path in FOLDER.glob("[0-9]*.py") if path.stem > FIRST]
NEXT = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("inbox", "{last}")]
    operations = [migrations.{operation}]
"""

pytestmark = pytest.mark.django_db


def problems(number):
    """Return how many migrations after the first the linter refuses; there are so many of them."""
    linter = MigrationLinter(
        path=str(settings.BASE_DIR),
        include_apps=["inbox"],
        ignore_name=[FIRST],
        analyser_string="postgresql",
        no_cache=True,
        all_warnings_as_errors=True,
    )
    linter.lint_all_migrations(app_label="inbox")
    assert linter.nb_total - linter.nb_ignored == number
    return linter.nb_erroneous


def test_migrations_leave_a_running_former_version_alone(capsys):
    assert problems(len(LATER)) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("operation", "refused"),
    [
        ("AddField('run', 'extra', models.CharField(max_length=20, null=True))", 0),
        ("AddField('run', 'extra', models.BooleanField(db_default=False))", 0),
        ("RemoveField('run', 'trace_context')", 1),
        ("AddField('run', 'extra', models.BooleanField(default=False))", 1),
        ("RenameField('channel', 'kind', 'type')", 1),
        ("AddIndex('run', models.Index(fields=['trace_context'], name='locks'))", 1),
    ],
)
def test_a_next_migration_that_stops_a_former_version_is_refused(
    operation, refused, tmp_path, monkeypatch
):
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    text = NEXT.format(last=max([FIRST, *LATER]), operation=operation)
    (tmp_path / "9999_next.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path.parent)

    # A name for each case: a module is imported once.
    with override_settings(MIGRATION_MODULES={"inbox": tmp_path.name}):
        assert problems(len(LATER) + 1) == refused
