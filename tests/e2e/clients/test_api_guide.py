"""The examples of docs/api.md work as they are printed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.node import check_out, find_node
from tests.support.product import embedded_product, forbid_self_approval, two_keys

FOLDER = Path(__file__).parent
GUIDE = (FOLDER.parents[2] / "docs" / "api.md").read_text()

pytestmark = pytest.mark.javascript


def blocks(language):
    code_blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert code_blocks
    return code_blocks


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    with embedded_product(tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture(scope="module")
def environment(product):
    forbid_self_approval(product)
    return os.environ | {"SIGNOFF_URL": product.url} | two_keys(product)


def output_of(environment, *command):
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_shell_examples_start_one_run_and_read_its_interrupts(product, environment):
    start, read = (block.replace("http://localhost:8000", product.url) for block in blocks("sh"))

    first, again = (json.loads(output_of(environment, "sh", "-c", start)) for _ in range(2))
    waits = json.loads(output_of(environment, "sh", "-c", read))

    assert first["id"] == again["id"]
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert {"id", "title", "tool", "args", "view_digest"} == set(waits["results"][0])


def test_the_python_program_sees_its_run_through(environment, tmp_path):
    (text,) = blocks("python")
    program = tmp_path / "program.py"
    program.write_text(text)

    question, *events = output_of(environment, sys.executable, str(program)).splitlines()

    assert question == "Send an e-mail to dana@example.com: Your invoice"
    assert events[0] == "RUN_STARTED"
    assert "TOOL_CALL_RESULT" in events
    assert events[-1] == "RUN_FINISHED"


def test_the_program_for_the_official_client_sees_its_run_through(environment, tmp_path):
    (text,) = blocks("ts")
    node = find_node()
    scripts = check_out(FOLDER / "javascript", into=tmp_path / "scripts", node=node)
    program = scripts / "program.mjs"
    program.write_text(text)

    question, result = output_of(environment, str(node.node), str(program)).splitlines()

    assert question == "Send an e-mail to dana@example.com: Your invoice"
    assert '"executionCount":1' in result
