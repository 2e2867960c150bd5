"""The modules that processes import."""

import subprocess
import sys

from tests.support.processes import REPOSITORY, embedded_environment, manage

UNUSED = ("psycopg", "redis", "requests")
SCRIPT = f"""
import sys
from django.urls import get_resolver
from inbox.config import asgi
assert get_resolver().url_patterns
print("imported:", *sorted(set({UNUSED}) & set(sys.modules)))
"""


def test_a_process_with_sqlite_imports_no_client_of_other_servers(tmp_path):
    output = manage(embedded_environment(tmp_path), "shell", "--no-imports", "-c", SCRIPT)

    assert output.split() == ["imported:"]


def test_a_command_of_operators_imports_no_pages(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "audit_key"],
        env=embedded_environment(tmp_path),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "inbox.models" in done.stderr
    assert "inbox.web" not in done.stderr
    assert "inbox.api" not in done.stderr
