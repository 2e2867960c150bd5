"""Two linters find no error in the description of the API, and generated clients are small."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from inbox.api.base.openapi import describe_api
from tests.support.caches import make_once
from tests.support.children import StartFailed
from tests.support.node import find_node

PACKAGES = ("@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3")
REDOCLY = {"extends": ["recommended"]}
SPECTRAL = {"extends": ["spectral:oas"]}

pytestmark = pytest.mark.javascript


def _install(draft: Path) -> None:
    (draft / "package.json").write_text('{"private": true}')
    options = ("--ignore-scripts", "--no-audit", "--no-fund")
    find_node().run_npm("install", *options, *PACKAGES, cwd=draft)


@pytest.fixture(scope="module")
def linters():
    """The folder of both programs, installed once into the cache of the tests."""
    key = "-".join(name.rpartition("@")[2] for name in PACKAGES)
    try:
        return make_once(f"openapi-linters-{key}", _install) / "node_modules" / ".bin"
    except StartFailed as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no linters: {error}")


@pytest.fixture
def lint(linters, tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(describe_api()))
    (tmp_path / "redocly.yaml").write_text(json.dumps(REDOCLY))
    (tmp_path / ".spectral.json").write_text(json.dumps(SPECTRAL))
    node = find_node().node

    def run(program, *arguments):
        done = subprocess.run(
            [node, linters / program, "lint", "schema.json", *arguments],
            cwd=tmp_path,
            env={**os.environ, "REDOCLY_TELEMETRY": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    return run


def test_redocly_finds_no_error(lint):
    report = json.loads(lint("redocly", "--config=redocly.yaml", "--format=json"))

    errors = [item for item in report["problems"] if item["severity"] == "error"]
    assert errors == []
    assert report["totals"]["errors"] == 0


def test_spectral_finds_no_error(lint):
    output = lint("spectral", "--ruleset=.spectral.json", "--format=json", "--quiet")

    problems = json.loads(output or "[]")
    assert [problem for problem in problems if problem["severity"] == 0] == []
    # Nobody answers letters for an installation.
    assert {problem["code"] for problem in problems} <= {"info-contact"}


def test_the_linters_do_find_errors(linters, lint, tmp_path):
    document = describe_api()
    broken = {name: value for name, value in document.items() if name != "servers"}
    (tmp_path / "schema.json").write_text(json.dumps(broken))

    report = json.loads(lint("redocly", "--config=redocly.yaml", "--format=json"))

    assert [item["ruleId"] for item in report["problems"] if item["severity"] == "error"] == [
        "no-empty-servers"
    ]
