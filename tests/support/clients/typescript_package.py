"""The TypeScript client as its users get it: built, packed and installed in an empty project."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.node import OLDEST_MAJOR, Node, find_node, install_modules
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

    def compile(self, files: Sequence[Path], *options: str) -> None:
        """
        Compile TypeScript in its place; the types of packages are checked, too.

        Raises:
            AssertionError: with the errors of the compiler.
        """
        types = ("--typeRoots", str(self.tools / "@types"), "--types", "node")
        compiler = self.tools / "typescript" / "bin" / "tsc"
        self._run(compiler, *_STRICT, *_MODULES, *types, *options, *files)

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


def install_package(directory: Path, *, oldest_major: int = OLDEST_MAJOR) -> Project:
    """Build and pack the client, and install it in a new project below `directory`."""
    node = find_node(oldest_major)
    tools = install_modules(SOURCE, node=node)
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


def add_modules(project: Project, modules: Path) -> None:
    """Let a project import the modules of a lock file, too."""
    own = project.directory / "node_modules"
    for module in modules.iterdir():
        if not (own / module.name).exists():
            (own / module.name).symlink_to(module, target_is_directory=True)
