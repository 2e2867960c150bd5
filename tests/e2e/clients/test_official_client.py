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

FOLDER = Path(__file__).parent
CLIENTS = {"http", "websocket", "copilotkit", "copilotkit on 1.0", "copilotkit, langgraph"}
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


def test_every_scenario_holds_for_every_client(driven, product, subtests):
    results = [json.loads(line) for line in driven.stdout.splitlines()]

    assert {result["client"] for result in results} == CLIENTS, driven.stderr
    for result in results:
        with subtests.test(f"{result['scenario']} of {result['client']}"):
            assert result["ok"], f"{result['error']}\n\n{product.log_tails()}"
    assert driven.returncode == 0, driven.stderr
