import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.node import check_out, find_node
from tests.support.processes import embedded_environment, manage, start_embedded

HERE = Path(__file__).parent
#: A good run takes ten seconds; drive.mjs itself cuts off a single scenario after half a minute.
LIMIT_SECONDS = 300

pytestmark = pytest.mark.javascript


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return embedded_environment(tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="module")
def product(environment, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "log"
    with start_embedded(environment, log=log, demo=True) as running:
        yield running


@pytest.fixture(scope="module")
def api_key(environment, product):
    scopes = [part for scope in ("run", "decide", "read") for part in ("--scope", scope)]
    return manage(environment, "create_api_key", "--name", "js", *scopes)


@pytest.fixture(scope="module")
def driven(product, api_key, tmp_path_factory):
    node = find_node()
    scripts = check_out(HERE, into=tmp_path_factory.mktemp("client") / "scripts", node=node)
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
            assert result["ok"], f"{result['error']}\n\n{product.log_tail()}"
    assert driven.returncode == 0, driven.stderr
