"""Source trees of two versions of the product, for upgrades while both run."""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.support.processes import REPOSITORY

_FOLDERS = ("agents", "inbox", "locale", "static", "templates", "tools")
_NEXT_MIGRATION = '''"""Add a column and a table, as the next version does."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inbox", "{last}")]

    operations = [
        migrations.AddField("run", "written_by_next", models.CharField(max_length=20, null=True)),
        migrations.CreateModel(
            "NextThing",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("run", models.ForeignKey("inbox.run", models.PROTECT, related_name="+")),
            ],
        ),
    ]
'''
#: Changes of the code, by file: a text that is there, and what the next version has instead.
_NEXT_CODE = {
    "inbox/models/runs/threads.py": (
        "    started_at = models.DateTimeField(null=True)\n",
        """    started_at = models.DateTimeField(null=True)
    written_by_next = models.CharField(max_length=20, null=True)
""",
    ),
    "inbox/actions/runs/start_run.py": (
        '            "id": idempotency.result_id,\n',
        '            "id": idempotency.result_id,\n            "written_by_next": "yes",\n',
    ),
}


def make_next_version(directory: Path) -> Path:
    """
    Write a next version into a directory: this one, with a further column that its code writes.

    The migration only adds to the schema, as every migration of a rolling upgrade does.
    """
    for name in _FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, directory / name, ignore=ignored)
    shutil.copy(REPOSITORY / "manage.py", directory)
    migrations = directory / "inbox" / "migrations"
    last = max(path.stem for path in migrations.glob("[0-9]*.py"))
    text = _NEXT_MIGRATION.format(last=last)
    (migrations / f"{int(last[:4]) + 1:04}_next_version.py").write_text(text)
    for name, (before, after) in _NEXT_CODE.items():
        path = directory / name
        code = path.read_text()
        if before not in code:
            raise LookupError(f"{name} has changed: write the next version anew")
        path.write_text(code.replace(before, after, 1))
    return directory


def commit_before_the_last_migration() -> str:
    """Return the commit whose migrations are one step behind; "" without that much history."""
    last = _git("log", "-1", "--first-parent", "--format=%H", "--", "inbox/migrations")
    return _git("rev-parse", "--verify", "--quiet", f"{last}^1") if last else ""


def extract_version(commit: str, directory: Path) -> Path:
    """Write the files of a commit into a directory."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", commit, *_FOLDERS, "manage.py"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(directory, filter="data")
    return directory


def _git(*arguments: str) -> str:
    """Return what git prints, "" if it fails or is missing: a source archive has no history."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
