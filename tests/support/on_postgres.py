"""
Run a command on a PostgreSQL of its own: `python -m tests.support.on_postgres COMMAND ...`.

SQLite ignores row locks, so whatever is said about races is only said here.
"""

import os
import subprocess
import sys

from tests.support.postgres import PostgresServer


def main() -> int:
    # Statistics collected during a run would change the plans that tests look at.
    with PostgresServer(settings={"autovacuum": "off"}) as server:
        environment = {**os.environ, "DATABASE_URL": server.create_database("signoff")}
        return subprocess.run(sys.argv[1:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
