"""Rules about the source that no other tool checks."""

from pathlib import Path

INBOX = Path(__file__).parents[3] / "inbox"
LOCKS = INBOX / "models" / "locks.py"


def test_row_and_advisory_locks_are_taken_only_in_models_locks():
    for path in INBOX.rglob("*.py"):
        if path != LOCKS and "migrations" not in path.parts:
            text = path.read_text()
            assert "select_for_update" not in text, path
            assert "pg_advisory" not in text, path
            assert "pg_try_advisory" not in text, path
