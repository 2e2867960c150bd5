"""The wheel of the Python client works in an empty environment, with each Python of the machine."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

from tests.support.clients.hook_process import event_of
from tests.support.clients.live_desk import live_desk
from tests.support.processes import REPOSITORY

FOLDER = Path(__file__).parent
PACKAGE = REPOSITORY / "clients" / "python"
VERSIONS = [f"3.{minor}" for minor in range(10, 15)]


def pythons() -> dict[str, str]:
    """Return the interpreters of the machine that the client supports, by version."""
    installed = {}
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}")]
        candidates += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")))
        for candidate in filter(None, candidates):
            done = subprocess.run(
                [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.stdout.strip() == version:
                installed[version] = candidate
    return installed


PYTHONS = pythons()


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with live_desk(tmp_path_factory.mktemp("desk")) as running:
        yield running


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", folder, PACKAGE)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture
def install(wheel, tmp_path):
    def make(version: str, extra: str = "") -> Path:
        """Make an environment with the wheel, and return its folder of programs."""
        folder = tmp_path / f"venv{version}{extra}"
        run(find_uv_bin(), "venv", "--quiet", "--python", PYTHONS[version], folder)
        offline = [] if extra else ["--no-index"]
        target = f"signoff-client{extra} @ file://{wheel}"
        pip = [find_uv_bin(), "pip"]
        run(*pip, "install", "--quiet", *offline, "--python", folder, target)
        if not extra:
            assert re.findall(r"^[\w-]+", run(*pip, "freeze", "--python", folder), re.M) == [
                "signoff-client"
            ]
        return folder / "bin"

    return make


def start(desk: Any, home: Path, *command: str | Path, **more: Any) -> "subprocess.Popen[str]":
    environment = desk.environment(home)
    del environment["PYTHONPATH"]
    return subprocess.Popen(
        [str(part) for part in command],
        env=environment,
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def test_the_oldest_python_of_the_project_is_tested():
    assert "3.11" in PYTHONS


def test_the_wheel_has_the_package_and_its_types_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert "signoff_client/py.typed" in names
    assert all(name.startswith(("signoff_client/", "signoff_client-")) for name in names)


@pytest.mark.parametrize("version", PYTHONS)
def test_a_program_asks_and_runs_what_was_approved(desk, install, tmp_path, version):
    desk.take_next_agent()
    programs = install(version)
    process = start(desk, tmp_path, programs / "python", FOLDER / "python_program.py")

    desk.edit(desk.next_request(), {"charge": "ch_17", "amount": 4000})
    desk.decide(desk.next_request(), "us")
    desk.deny(desk.next_request(), "not now")

    output, error = process.communicate(timeout=60)
    assert error == ""
    assert json.loads(output) == ["refunded 4000", "us", "not now", [["ch_17", 4000]]]


@pytest.mark.parametrize("version", PYTHONS)
def test_the_command_and_the_hook_are_installed(desk, install, tmp_path, version):
    desk.take_next_agent()
    program = install(version) / "signoff"
    question = start(desk, tmp_path, program, "ask", "Deploy?", "--wait", "1m")
    desk.decide(desk.next_request())
    assert question.communicate(timeout=60)[0] == "yes\n"

    hook = start(desk, tmp_path, program, "hook", "codex", "--wait", "60", stdin=subprocess.PIPE)
    assert hook.stdin is not None
    json.dump(event_of("codex", "pretooluse"), hook.stdin)
    hook.stdin.close()
    hook.stdin = None
    desk.decide(desk.next_request())
    output, _ = hook.communicate(timeout=60)

    assert (hook.returncode, json.loads(output)) == (0, {})


def test_the_extra_has_the_async_client(desk, install, tmp_path):
    desk.take_next_agent()
    programs = install(min(PYTHONS, key=VERSIONS.index), "[async]")
    process = start(desk, tmp_path, programs / "python", FOLDER / "async_program.py")

    desk.decide(desk.next_request())

    assert process.communicate(timeout=60)[0] == "refunded ch_17 4750\n"
