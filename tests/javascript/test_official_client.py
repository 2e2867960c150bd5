import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.node import check_out, find_node
from tests.support.product import embedded_product, scaled_product

HERE = Path(__file__).parent
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
    scripts = check_out(HERE, into=tmp_path_factory.mktemp("client") / "scripts", node=node)
    api_key = product.create_api_key("run", "decide", "read")
    return subprocess.run(
        [node.node, scripts / "drive.mjs"],
        env=os.environ | {"SIGNOFF_URL": product.url, "SIGNOFF_API_KEY": api_key},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def test_every_scenario_holds_for_the_official_client(driven, product, subtests):
    results = [json.loads(line) for line in driven.stdout.splitlines()]

    assert {result["transport"] for result in results} == {"http", "websocket"}, driven.stderr
    for result in results:
        with subtests.test(f"{result['scenario']} over {result['transport']}"):
            assert result["ok"], f"{result['error']}\n\n{product.log_tails()}"
    assert driven.returncode == 0, driven.stderr
