"""Models behind the official TypeScript client of MCP read the errors of tools."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.mcp.mcp_programs import print_programs, read_programs
from tests.support.node import check_out, find_node
from tests.support.processes import manage
from tests.support.product import embedded_product

FOLDER = Path(__file__).parent
NOBODY = "01934f5e-7c10-7e4b-9a52-0d6c6a1f0001"
LIMIT_SECONDS = 120
ERRORS = {
    ("request_approval", '{"tool": "refund", "args": {}, "colour": "red"}'): "colour",
    ("request_approval", '{"tool": "refund", "args": "ch_17"}'): "args",
    ("ask_human", "{}"): "title",
    ("wait_for_decision", json.dumps({"request_id": NOBODY})): "NOT_FOUND",
    ("report_result", json.dumps({"request_id": NOBODY, "attempt": "1"})): "outcome",
    ("withdraw", json.dumps({"request_id": NOBODY})): "NOT_FOUND",
}

pytestmark = pytest.mark.javascript


def test_errors_of_tools_reach_the_official_client_as_results(tmp_path, subtests):
    node = find_node()
    scripts = check_out(FOLDER / "mcp", into=tmp_path / "scripts", node=node)
    calls = [[name, json.loads(arguments)] for name, arguments in ERRORS]
    with embedded_product(tmp_path / "product") as product:
        command = f"from tests.support.mcp.mcp_programs import *; {print_programs.__name__}()"
        program, *_ = read_programs(manage(product.environment, "shell", "-c", command))
        settings = {
            "SIGNOFF_URL": product.url,
            "SIGNOFF_API_KEY": program.key,
            "CALLS": json.dumps(calls),
        }
        driven = subprocess.run(
            [node.node, scripts / "errors.mjs"],
            env=os.environ | settings,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )

    results = [json.loads(line) for line in driven.stdout.splitlines()]
    assert len(results) == len(ERRORS), driven.stderr
    for (call, words), result in zip(ERRORS.items(), results, strict=True):
        with subtests.test(" ".join(call)):
            assert result.get("isError") is True, result
            assert words in result["text"]
