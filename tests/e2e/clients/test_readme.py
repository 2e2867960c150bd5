"""The first snippets a newcomer copies work as they are printed."""

import json
import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.node import check_out, find_node
from tests.support.product import embedded_product, forbid_self_approval, two_keys

FOLDER = Path(__file__).parent
README = (FOLDER.parents[2] / "README.md").read_text()

pytestmark = pytest.mark.javascript


def snippet(language):
    (text,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return text


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    with embedded_product(tmp_path_factory.mktemp("product")) as running:
        forbid_self_approval(running)
        yield running


def test_the_client_snippet_ends_with_the_tools_result(product, tmp_path):
    node = find_node()
    scripts = check_out(FOLDER / "javascript", into=tmp_path / "scripts", node=node)
    script = scripts / "readme.mjs"
    script.write_text(snippet("js").replace("http://localhost:8000", product.url))

    done = subprocess.run(
        [node.node, script],
        env=os.environ | two_keys(product),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    question, result = done.stdout.splitlines()
    assert question == "Send an e-mail to dana@example.com: Your invoice"
    assert '"executionCount":1' in result


def test_the_curl_line_starts_a_run_that_waits_in_the_inbox(product):
    key = product.create_api_key("run", "read")
    *_, curl = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)

    done = subprocess.run(
        ["sh", "-c", curl.replace("http://localhost:8000", product.url)],
        env=os.environ | {"SIGNOFF_API_KEY": key},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    run = json.loads(done.stdout)
    headers = {"Authorization": f"Bearer {key}"}
    address = f"{product.url}/api/runs/{run['id']}?wait=30"
    assert httpx.get(address, headers=headers, timeout=60).json()["status"] == "interrupted"
    titles = [item["title"] for item in interrupts(product, key)]
    assert any("dana@example.com" in title for title in titles)


def interrupts(product, key):
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{product.url}/api/interrupts", headers=headers).json()["results"]
