"""
A process that has imported what the product needs, and forks the product's processes from it.

A campaign that starts a thousand of them would otherwise import for half an hour. Each one is still
`manage.py serve`, with the points of `tests.campaigns.faults.failpoints` in it.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.processes import REPOSITORY


class Child:
    """A process of the product."""

    def __init__(self, pid: int, log: Path) -> None:
        self.pid = pid
        self.log = log
        self.code: int | None = None  #: how it ended, negative for a signal; None while it lives

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.code is None:
            os.kill(self.pid, number)


class Nursery:
    """Bears processes of the product; all of them end with it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.faults.process_forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
            cwd=REPOSITORY,
            text=True,
            bufsize=1,
        )
        self._last = 0
        self._children: dict[int, Child] = {}  #: by number
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, name="nursery", daemon=True)
        self._reader.start()

    def bear(self, command: Sequence[str], *, log: Path, **environment: str) -> Child:
        """Start `manage.py` with these arguments and this addition to the environment."""
        assert self._process.stdin is not None
        with self._changed:
            # A number of ours: after a while, the system gives process ids once more.
            self._last = number = self._last + 1
            order = {"number": number, "command": list(command), "log": str(log)}
            self._process.stdin.write(json.dumps({**order, "environment": environment}) + "\n")
            self._process.stdin.flush()
            if not self._changed.wait_for(lambda: number in self._children, timeout=60):
                raise TimeoutError("no process was born")
            child = self._children[number]
            child.log = log
            return child

    def wait_for_an_end(self, seconds: float) -> None:
        """Wait until some process has ended, or so long."""
        with self._changed:
            self._changed.wait(seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            with self._changed:
                if "pid" in message:
                    self._children[message["number"]] = Child(message["pid"], Path())
                else:
                    self._children[message["number"]].code = message["code"]
                self._changed.notify_all()


def _main() -> None:
    """Read orders, tell of births and ends, until nobody gives orders any more."""
    _import_the_product()
    assert threading.active_count() == 1, "a thread would not be there after a fork"
    living: dict[int, int] = {}  # pid -> number
    unread = b""
    while True:
        ready, _, _ = select.select([0], [], [], 0.02)
        if ready:
            read = os.read(0, 65_536)
            if not read:
                break
            *lines, unread = (unread + read).split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = _fork(order)
                living[pid] = order["number"]
                _tell({"number": order["number"], "pid": pid})
        while living and (exited := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(exited[1])
            _tell({"number": living.pop(exited[0]), "code": code})
    for pid in living:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _tell(fact: dict[str, Any]) -> None:
    os.write(1, (json.dumps(fact) + "\n").encode())


def _fork(order: dict[str, Any]) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
        os.setsid()
        log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.environ.update(order["environment"])
        _serve(order["command"])
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    os._exit(code)


def _serve(command: list[str]) -> None:
    # Daphne's event loop was made before the fork, and its poll would be shared with siblings.
    again = ("server", "http_protocol", "ws_protocol", "endpoints")
    for name in ("twisted.internet.reactor", *(f"daphne.{module}" for module in again)):
        sys.modules.pop(name, None)
    from django.core.management import execute_from_command_line

    from tests.campaigns.faults.failpoints import install

    install()
    execute_from_command_line(["manage.py", *command])


def _import_the_product() -> None:
    """Import what costs most, and open nothing: a fork would share it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    import django

    django.setup()
    import celery.concurrency.thread
    import celery.worker  # noqa: F401
    import django.core.management.commands.migrate
    import kombu.transport.memory
    import kombu.transport.redis  # noqa: F401

    import inbox.config.asgi
    import inbox.config.urls
    import inbox.sweeper  # noqa: F401
    import tests.campaigns.faults.desk  # noqa: F401


if __name__ == "__main__":
    _main()
