"""The examples of docs/clients.md and the README of the Python client work as they are printed."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from tests.support.clients.live_desk import CLIENT_SOURCE
from tests.support.processes import REPOSITORY

GUIDE = (REPOSITORY / "docs" / "clients.md").read_text()
README = (REPOSITORY / "clients" / "python" / "README.md").read_text()


def block(text: str, begin: str) -> str:
    """Return the only Python block with this text."""
    (code,) = [
        code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if begin in code
    ]
    return code


@pytest.fixture
def run(desk, monkeypatch):
    """Run an example in a thread; return its names when it has ended."""
    monkeypatch.setenv("SIGNOFF_URL", desk.url)
    monkeypatch.setenv("SIGNOFF_API_KEY", desk.key)
    calls = []
    names = {
        "payments": SimpleNamespace(refund=lambda *args: calls.append(args)),
        "publish": lambda **args: calls.append(args),
        "calls": calls,
    }
    with ThreadPoolExecutor() as pool:
        yield lambda code: pool.submit(lambda: (exec(code, names), names)[1])


@pytest.mark.parametrize("text", [GUIDE, README], ids=["guide", "readme"])
def test_a_function_and_a_question(desk, run, text):
    example = run(block(text, "requires_approval"))

    desk.edit(desk.next_request(), {"charge": "ch_17", "amount": 4000})
    desk.decide(desk.next_request(), "us")
    if text is GUIDE:
        desk.deny(desk.next_request())

    names = example.result(60)
    assert names["calls"] == [("ch_17", 4000)]
    assert names["region"] == "us"


def test_a_call_with_a_key(desk, run):
    code = block(GUIDE, "requires_approval").partition("try:")[0]
    example = run(code + block(GUIDE, "with_key"))

    desk.decide(desk.next_request())

    assert example.result(60)["calls"] == [("ch_17", 4750)]


def test_several_items(desk, run):
    example = run(
        "from signoff_client import Signoff\nsignoff = Signoff()\n" + block(GUIDE, "items=")
    )
    request = desk.next_request()

    desk.decide(request, item="publish")
    desk.decide(request, "Faster.", item="notes")

    names = example.result(60)
    assert names["notes"] == "Faster."
    assert names["calls"][0]["version"] == "4.2.0"
    assert names["calls"][0]["idempotency_key"]


def test_the_shell(desk, tmp_path):
    program = tmp_path / "signoff"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m signoff_client "$@"\n')
    program.chmod(0o755)
    (tmp_path / "deploy.sh").write_text('#!/bin/sh\necho "deployed to $1"\n')
    (tmp_path / "deploy.sh").chmod(0o755)
    (code,) = re.findall(r"## From a shell\n\n```sh\n(.*?)```", GUIDE, re.DOTALL)
    environment = desk.environment(tmp_path, PYTHONPATH=str(CLIENT_SOURCE))
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    process = subprocess.Popen(
        ["sh", "-ec", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )

    for _ in range(2):
        desk.decide(desk.next_request())

    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "yes\ndeployed to prod\ndeployed to prod\n")
