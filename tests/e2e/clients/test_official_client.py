"""
The official client, alone and inside CopilotKit, against the running product.

CopilotKit's core and its hook `useInterrupt` run as they are, in Node: React's test renderer takes
the place of a browser. What only draws (package.json, "overrides") is not installed.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.node import check_out, find_node
from tests.support.product import embedded_product, scaled_product
from tools import framework_matrix
from tools.framework_matrix import pinned_version

FOLDER = Path(__file__).parent
CLIENTS = {row.name: pinned_version(row) for row in framework_matrix.CLIENTS if row.lock}
#: What clients can do (docs/frameworks.md), by the scenarios that show it.
CAPABILITIES = {
    "approve": "approve",
    "edit": "edit",
    "deny": "deny",
    "cancel": "cancel",
    "call_off": "cancel",
    "parallel3": "several",
    "several": "several",
    "several_one_by_one": "several",
    "several_by_a_map": "several",
    "input_required": "question",
    "answer": "question",
    "stream:50": "streaming",
    "client_tool": "tools",
    "replay": "replay",
    "connect": "reload",
    "reload": "reload",
}
SHAPES = {"embedded": embedded_product, "scaled": scaled_product}
#: A good run takes ten seconds; drive.mjs itself cuts off a single scenario after half a minute.
LIMIT_SECONDS = 300

pytestmark = pytest.mark.javascript


@pytest.fixture(
    scope="module", params=["embedded", pytest.param("scaled", marks=pytest.mark.services)]
)
def product(request, tmp_path_factory):
    with SHAPES[request.param](tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture(scope="module")
def driven(product, tmp_path_factory):
    node = find_node()
    scripts = check_out(
        FOLDER / "javascript", into=tmp_path_factory.mktemp("client") / "scripts", node=node
    )
    api_key = product.create_api_key("run", "decide", "read")
    return subprocess.run(
        [node.node, scripts / "drive.mjs"],
        env=os.environ | {"SIGNOFF_URL": product.url, "SIGNOFF_API_KEY": api_key},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def results_of(driven):
    return [json.loads(line) for line in driven.stdout.splitlines()]


def test_all_clients_are_run_to_their_end(driven):
    assert {result["client"] for result in results_of(driven)} == set(CLIENTS), driven.stderr
    assert driven.returncode == 0, driven.stderr


@pytest.mark.parametrize("client", CLIENTS)
def test_each_scenario_holds_for_a_client(driven, product, client, subtests, record_property):
    for result in results_of(driven):
        scenario = result["scenario"]
        if result["client"] != client:
            continue
        if name := CAPABILITIES.get(scenario):
            record_property("capability", [client, CLIENTS[client], name, result["ok"]])
        with subtests.test(scenario):
            assert result["ok"], f"{result['error']}\n\n{product.log_tails()}"
