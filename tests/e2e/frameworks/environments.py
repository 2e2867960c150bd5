"""The environments of other frameworks, which could not live in one with ours: Python and Node."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from uv import find_uv_bin

from tests.support.caches import make_once
from tests.support.children import StartFailed
from tests.support.node import Node, find_node, install_modules

LOCKS: Final = Path(__file__).resolve().parents[3] / "requirements" / "servers"


def find_python(name: str) -> Path:
    """
    Return the interpreter of the environment that requirements/servers/`name`.txt describes.

    It is made once for each lock file and Python, by uv, in the cache. With SIGNOFF_TEST_NEWEST it
    has the newest versions of today instead.

    Raises:
        StartFailed: it cannot be installed; the text carries what uv wrote.
    """
    if os.environ.get("SIGNOFF_TEST_NEWEST"):
        return _find_newest(name)
    lock = LOCKS / f"{name}.txt"
    key = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]

    def install(draft: Path) -> None:
        python = draft / "bin" / "python"
        _uv("venv", "--quiet", "--python", sys.executable, str(draft))
        _uv("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(lock))

    return make_once(f"python-{name}-{key}", install) / "bin" / "python"


def _find_newest(name: str) -> Path:
    def install(draft: Path) -> None:
        requirements = (LOCKS / f"{name}.in").read_text()
        _uv("venv", "--quiet", "--python", sys.executable, str(draft))
        (draft / "newest.in").write_text(re.sub(r"==\S+", "", requirements))
        arguments = ("--python", str(draft / "bin" / "python"), "-r", str(draft / "newest.in"))
        _uv("pip", "install", "--quiet", "--upgrade", "--refresh", *arguments)

    today = datetime.now(UTC).date()
    return make_once(f"python-{name}-{today}", install) / "bin" / "python"


def find_server_node(name: str) -> Node:
    """Return a Node that is new enough for the packages of requirements/servers/`name`/."""
    manifest = json.loads((LOCKS / name / "package.json").read_text())
    match = re.match(r">=(\d+)", manifest.get("engines", {}).get("node", ""))
    return find_node(int(match[1])) if match else find_node()


def find_modules(name: str) -> Path:
    """Return the node_modules of requirements/servers/`name`/, in the way of `find_python`."""
    node = find_server_node(name)
    if not os.environ.get("SIGNOFF_TEST_NEWEST"):
        return install_modules(LOCKS / name, node=node)

    def install(draft: Path) -> None:
        shutil.copy(LOCKS / name / "package.json", draft)
        packages = json.loads((LOCKS / name / "package.json").read_text())["dependencies"]
        options = ("--ignore-scripts", "--no-audit", "--no-fund")
        newest = [f"{package}@latest" for package in packages]
        node.run_npm("install", *options, *newest, cwd=draft)

    return make_once(f"node-{name}-{datetime.now(UTC).date()}", install) / "node_modules"


@cache
def find_version(name: str, package: str) -> str:
    """Return the version of a package that the environment `name` has."""
    if (LOCKS / name).is_dir():
        manifest = find_modules(name) / package / "package.json"
        return str(json.loads(manifest.read_text())["version"])
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.check_output([find_python(name), "-c", code], text=True).strip()


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [find_uv_bin(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StartFailed(f"uv {' '.join(arguments)} failed:\n{done.stdout}")
