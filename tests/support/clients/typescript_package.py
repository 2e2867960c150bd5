"""The TypeScript client as its users get it: built, packed and installed in an empty project."""

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.caches import make_once
from tests.support.node import Node, find_node
from tests.support.processes import REPOSITORY

SOURCE = REPOSITORY / "clients" / "typescript"
#: Of people who check everything, also the types of the package.
_STRICT = ("--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess")
_MODULES = ("--module", "NodeNext", "--target", "ES2022", "--lib", "ES2022,DOM")


@dataclass(frozen=True)
class Project:
    """A project that depends on the client only."""

    node: Node
    directory: Path
    tools: Path  #: node_modules with the compiler and the types of Node

    def compile(self, files: Sequence[Path]) -> None:
        """
        Compile TypeScript in its place; the types of the package are checked, too.

        Raises:
            AssertionError: with the errors of the compiler.
        """
        types = ("--typeRoots", str(self.tools / "@types"), "--types", "node")
        compiler = self.tools / "typescript" / "bin" / "tsc"
        self._run(compiler, *_STRICT, *_MODULES, *types, *files)

    def run(
        self, *arguments: str | Path, environment: Mapping[str, str], seconds: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run Node in the project, and return how it ended."""
        return subprocess.run(
            [self.node.node, *arguments],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def _run(self, *arguments: str | Path) -> None:
        done = self.run(*arguments, environment={})
        assert done.returncode == 0, done.stdout + done.stderr


def install_package(directory: Path) -> Project:
    """Build and pack the client, and install it in a new project below `directory`."""
    node = find_node()
    tools = _tools(node)
    build = directory / "build"
    left_out = shutil.ignore_patterns("node_modules", "dist", "build")
    shutil.copytree(SOURCE, build, ignore=left_out)
    (build / "node_modules").symlink_to(tools, target_is_directory=True)
    project = Project(node, directory / "project", tools)
    project.directory.mkdir()
    node.run_npm("pack", "--pack-destination", str(directory), cwd=build)
    (package,) = directory.glob("*.tgz")
    (project.directory / "package.json").write_text('{"private": true, "type": "module"}')
    options = ("--offline", "--ignore-scripts", "--no-audit", "--no-fund")
    node.run_npm("install", *options, str(package), cwd=project.directory)
    return project


def _tools(node: Node) -> Path:
    """Return the node_modules of the lock file, which are installed once."""
    lock = (SOURCE / "package-lock.json").read_bytes()
    key = hashlib.sha256(lock + str(node.node).encode()).hexdigest()[:16]

    def install(draft: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, draft)
        node.run_npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=draft)

    return make_once(f"node-{key}", install) / "node_modules"
