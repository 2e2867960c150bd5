"""The imports of a process with SQLite."""

from tests.support.processes import embedded_environment, manage

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
