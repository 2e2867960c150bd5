"""The product's own processes, started as its operators start them."""

import hashlib
import http.client
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.caches import make_once
from tests.support.children import StartFailed, free_port, start_child, stop_child, tail, wait_until

REPOSITORY: Final = Path(__file__).resolve().parents[2]

#: What docker-compose.yml starts, without the interpreter: a test compares them.
EMBEDDED_COMMAND: Final = ("manage.py", "serve")
WEB_COMMAND: Final = ("manage.py", "serve", "--web")
WORKER_COMMAND: Final = ("manage.py", "serve", "--worker")
SIGNER_COMMAND: Final = ("manage.py", "serve", "--signer")

#: A busy machine is no reason to fail.
_START_SECONDS: Final = 180
_COLLECT: Final = """
from inbox.platform.http.static_files import collect_static_files
collect_static_files()
"""
_HOST: Final = "127.0.0.1"
#: What would point a process at somebody else's servers or data, and is not inherited.
_OWN_PREFIXES: Final = ("SIGNOFF_", "DJANGO_")
_OWN_NAMES: Final = frozenset({"DATABASE_URL", "REDIS_URL", "HOST", "PORT"})


class ProductProcess:
    """A running process of the product; `url` is where a web process answers, else empty."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        is_ready: Callable[["ProductProcess"], bool],
        url: str = "",
        tree: Path = REPOSITORY,
    ) -> None:
        self.url = url
        self.log = log
        self._log_start = log.stat().st_size if log.exists() else 0
        self._process = start_child([sys.executable, *command], log=log, env=environment, cwd=tree)
        wait_until(
            lambda: is_ready(self),
            process=self._process,
            log=log,
            what=" ".join(command),
            timeout_seconds=_START_SECONDS,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def has_logged(self, text: str) -> bool:
        """Tell whether the process wrote `text` since it was started."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return text.encode() in log.read()

    def log_tail(self, *, lines: int = 60) -> str:
        """Return the last lines it wrote, for a failure message."""
        return tail(self.log, lines=lines)

    def terminate(self, *, patience_seconds: float = 30) -> int:
        """Ask it to drain and end, kill it when it does not; return the exit code."""
        return stop_child(self._process, patience_seconds=patience_seconds)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        stop_child(self._process, first=signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.terminate()


def embedded_environment(data_directory: Path, **more: str) -> dict[str, str]:
    """Return the environment of the embedded shape: SQLite and everything else in one directory."""
    return _environment(data_directory, **more)


def scaled_environment(
    data_directory: Path, *, database_url: str, redis_url: str, **more: str
) -> dict[str, str]:
    """Return the environment that every process of one scaled product shares."""
    return _environment(
        data_directory,
        SIGNOFF_SECRET_KEY="a key for tests, the same for every process of one product",
        DATABASE_URL=database_url,
        REDIS_URL=redis_url,
        **more,
    )


def start_embedded(
    environment: Mapping[str, str],
    *,
    log: Path,
    port: int | None = None,
    demo: bool = False,
    prepared: bool = True,
    command: Sequence[str] = EMBEDDED_COMMAND,
) -> ProductProcess:
    """
    Start the product in one process and wait until it answers; `demo` seeds team and people.

    `command` is one that ends in `manage.py serve` after it has added to the product. Unless
    `prepared` is False, an empty data directory gets a copy of a migrated database, and the static
    files are not collected again: both take longer than everything else at a start.
    """
    if prepared:
        _copy_migrated_database(Path(environment["SIGNOFF_DATA_DIR"]))
        environment = {"SIGNOFF_STATIC_ROOT": str(_collected_static_files()), **environment}
    return _start_web(command, environment, log=log, port=port, demo=demo)


def start_web(
    environment: Mapping[str, str],
    *,
    log: Path,
    port: int | None = None,
    demo: bool = False,
    tree: Path = REPOSITORY,
) -> ProductProcess:
    """
    Start a web process of the scaled shape, its database migrated, and wait until it answers.

    `tree` has the code of another version, which collects its own static files.
    """
    if tree == REPOSITORY:
        environment = {"SIGNOFF_STATIC_ROOT": str(_collected_static_files()), **environment}
    return _start_web(WEB_COMMAND, environment, log=log, port=port, demo=demo, tree=tree)


def start_worker(
    environment: Mapping[str, str], *, log: Path, tree: Path = REPOSITORY
) -> ProductProcess:
    """Start a worker of the scaled shape, its database migrated, and wait until it takes runs."""
    return ProductProcess(
        WORKER_COMMAND,
        environment=environment,
        log=log,
        is_ready=lambda process: process.has_logged("worker.ready"),
        tree=tree,
    )


def start_signer(environment: Mapping[str, str], *, log: Path) -> ProductProcess:
    """Start the separate signer of the scaled shape."""
    return ProductProcess(
        SIGNER_COMMAND,
        environment=environment,
        log=log,
        is_ready=lambda process: process.has_logged("signer.ready"),
    )


def manage(environment: Mapping[str, str], *arguments: str, tree: Path = REPOSITORY) -> str:
    """
    Run a management command to its end and return what it printed, without the last newline.

    Raises:
        StartFailed: it ended with another code than 0; the text carries what it wrote.
    """
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=dict(environment),
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StartFailed(
            f"manage.py {' '.join(arguments)} ended with code {done.returncode}:\n"
            f"{done.stdout}{done.stderr}"
        )
    return done.stdout.strip()


def is_healthy(url: str) -> bool:
    """Tell whether the web process at `url` says that it is ready."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _copy_migrated_database(data: Path) -> None:
    """Put an empty migrated SQLite database into a data directory that has none."""
    database = data / "signoff.sqlite3"
    if database.exists():
        return

    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.copy(migrated_database(), database)
    database.chmod(0o600)


def migrated_database() -> Path:
    """Return an empty migrated SQLite database, to copy."""

    def migrate(draft: Path) -> None:
        manage(embedded_environment(draft), "migrate", "-v0")

    digest = _digest("inbox/migrations", "inbox/models", "inbox/platform")
    return make_once(f"migrated-{digest}", migrate) / "signoff.sqlite3"


def _collected_static_files() -> Path:
    """Return a directory with the static files as `manage.py serve` collects them."""

    def collect(draft: Path) -> None:
        environment = embedded_environment(
            draft / "data", SIGNOFF_STATIC_ROOT=str(draft / "static")
        )
        manage(environment, "shell", "-c", _COLLECT)

    digest = _digest("static", "inbox/platform", "inbox/management")
    return make_once(f"static-{digest}", collect) / "static"


def _digest(*folders: str) -> str:
    """Return a digest of the files in these folders, the settings and the installed packages."""
    files = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.*")]
    files += [REPOSITORY / "inbox/config/settings.py", REPOSITORY / "requirements/base.txt"]
    digest = hashlib.sha256()
    for path in sorted(files):
        if path.suffix != ".pyc":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _start_web(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    log: Path,
    port: int | None,
    demo: bool,
    tree: Path = REPOSITORY,
) -> ProductProcess:
    port = port or free_port()
    return ProductProcess(
        (*command, "--demo", "--no-history") if demo else command,
        environment={**environment, "HOST": _HOST, "PORT": str(port)},
        log=log,
        is_ready=lambda process: is_healthy(process.url),
        url=f"http://{_HOST}:{port}",
        tree=tree,
    )


def _environment(data_directory: Path, **more: str) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in _OWN_NAMES and not name.startswith(_OWN_PREFIXES)
    }
    ours = {
        "SIGNOFF_DATA_DIR": str(data_directory),
        "SIGNOFF_LEDGER": str(data_directory / "rehearsal-ledger.sqlite3"),
        "PYTHONUNBUFFERED": "1",
    }
    return inherited | ours | more
