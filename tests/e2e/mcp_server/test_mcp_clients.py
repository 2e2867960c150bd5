"""The real clients of the package mcp, of both eras, against the running product."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.frameworks.environments import find_python

DRIVERS = Path(__file__).parent / "drivers"
LIMIT_SECONDS = 300


@pytest.mark.parametrize(
    ("name", "version", "count"),
    [
        ("handshake", "2025-06-18", 6),
        ("handshake", "2025-11-25", 6),
        ("stateless", "2025-11-25", 6),
        ("stateless", "2026-07-28", 7),
    ],
)
def test_every_scenario_holds_for_every_client(
    product, program, bob, subtests, name, version, count
):
    settings = {
        "SIGNOFF_URL": product.url,
        "SIGNOFF_KEY": program.key,
        "SIGNOFF_AGENT": program.agent,
        "SIGNOFF_PERSON": bob.key,
        "SIGNOFF_VERSION": version,
    }
    driven = subprocess.run(
        [find_python(f"mcp_{name}"), DRIVERS / f"{name}_driver.py"],
        env={**os.environ, **settings, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )

    results = [json.loads(line) for line in driven.stdout.splitlines()]
    assert len(results) == count, driven.stderr
    for result in results:
        with subtests.test(result["scenario"]):
            assert not result["error"], f"{result['error']}\n\n{product.log_tails()}"
