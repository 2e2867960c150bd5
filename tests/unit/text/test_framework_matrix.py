"""The tables of docs/frameworks.md are those of the results, which are of pinned versions."""

import pytest

from agents.agui.legacy.servers import SERVERS as TRANSLATED
from tools import framework_matrix
from tools.framework_matrix import (
    CLIENT_CAPABILITIES,
    CLIENTS,
    LOCKS,
    PAGE,
    ROWS,
    SERVER_CAPABILITIES,
    SERVERS,
    pinned_version,
    results,
)

RUN = [row for row in ROWS if row.lock]
BY_NAME = {row.name: row for row in SERVERS}


def test_the_tables_are_those_of_the_results():
    assert PAGE.read_text() == framework_matrix.page(), "run `make references`"


def test_results_are_of_rows_of_the_matrix():
    assert set(results()) == {row.name for row in RUN}
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    ("rows", "capabilities"),
    [(SERVERS, SERVER_CAPABILITIES), (CLIENTS, CLIENT_CAPABILITIES)],
    ids=["servers", "clients"],
)
def test_results_are_of_capabilities_of_the_matrix(rows, capabilities):
    tried = [outcomes for row in rows for outcomes in results().get(row.name, {}).values()]

    assert {name for outcomes in tried for name in outcomes} <= {*capabilities, "date"}


@pytest.mark.parametrize("row", RUN, ids=lambda row: row.name)
def test_each_row_that_is_run_has_results_of_its_pin(row):
    assert "yes" in results()[row.name][pinned_version(row)].values()
    assert len(results()[row.name]) <= 2, "one pinned version, and one newest one"


@pytest.mark.parametrize("row", RUN, ids=lambda row: row.name)
def test_each_capability_that_is_missing_says_why(row):
    outcomes = results()[row.name][pinned_version(row)]

    missing = {name for name, outcome in outcomes.items() if outcome == "no"}
    assert missing == set(row.limits)


def test_each_environment_of_an_agui_server_is_in_the_matrix():
    environments = {path.stem for path in LOCKS.glob("*.in")} | {
        path.parent.name for path in LOCKS.glob("*/package.json")
    }

    missing = environments - {row.lock for row in RUN}
    assert {name for name in missing if not name.startswith("mcp_")} == set()


@pytest.mark.parametrize("server", TRANSLATED, ids=lambda server: server.package)
def test_translations_are_for_the_version_in_the_matrix(server):
    rows = [row for row in SERVERS if row.package == server.package]

    assert len(rows) == (0 if server.package.startswith("any ") else 1)
    assert all(pinned_version(row).startswith(server.versions) for row in rows)


def test_a_capability_without_a_test_is_not_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(framework_matrix, "RESULTS", tmp_path / "results.json")
    version = pinned_version(BY_NAME["ag2"])
    outcomes = '{"approve": "yes", "edit": "no", "date": "2026-11-28"}'
    framework_matrix.RESULTS.write_text(f'{{"ag2": {{"{version}": {outcomes}}}}}')

    (line,) = [line for line in framework_matrix.page().splitlines() if "| yes | no (1) |" in line]
    assert line.startswith(f"| AG2 {version} | yes | no (1) | not tried |")
    assert line.count("not tried") == len(SERVER_CAPABILITIES) - 2
