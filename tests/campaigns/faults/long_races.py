"""The races of tests/races in their long form, inside one process."""

import os
import subprocess
import sys

from tests.campaigns.report import Report
from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY


def long_races() -> Report:
    report = Report("races, long form")
    with PostgresServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "tests/races", "-q", "-p", "no:cacheprovider"],
            env={
                **os.environ,
                "DATABASE_URL": server.create_database("signoff"),
                "SIGNOFF_CAMPAIGN": "long",
            },
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
    lines = done.stdout.strip().splitlines()
    report.figures["pytest"] = lines[-1] if lines else ""
    report.violate(*(line for line in lines if line.startswith(("FAILED", "ERROR"))))
    report.expect(that=done.returncode == 0, otherwise=f"pytest ended with {done.returncode}")
    return report.done()
