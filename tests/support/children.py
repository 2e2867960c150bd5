"""Child processes that say why they failed and never outlive whoever started them."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_POLL_SECONDS: Final = 0.005


class StartFailed(RuntimeError):
    """A process ended, or did not become ready in time; the text carries the end of its log."""


def start_child(
    command: Sequence[str | Path],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: tuple[int, int] | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """
    Start a process in a session of its own that writes both its outputs to the end of `log`.

    When the thread that called this ends, even by SIGKILL, the process gets `death_signal` (Linux
    only: elsewhere a killed test run leaves it behind). `user` is a uid and gid to run as.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            # Away from the terminal's group: Ctrl-C is for the test run, which stops its children.
            start_new_session=True,
            # Runs one system call and takes no lock, so threads beside it do no harm.
            preexec_fn=_die_with_parent(death_signal),  # noqa: PLW1509
            **_identity(user),
        )


def stop_child(
    process: subprocess.Popen[bytes],
    *,
    first: signal.Signals = signal.SIGTERM,
    patience_seconds: float = 10,
) -> int:
    """Send `first`, then SIGKILL if that did not end the process; return the exit code."""
    if process.poll() is None:
        process.send_signal(first)
    try:
        return process.wait(patience_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def wait_until(
    is_ready: Callable[[], bool],
    *,
    process: subprocess.Popen[bytes],
    log: Path,
    what: str,
    timeout_seconds: float,
) -> None:
    """
    Wait for a condition as long as the process lives.

    Raises:
        StartFailed: the process ended, or the time is over.
    """
    deadline = time.monotonic() + timeout_seconds
    while not is_ready():
        if process.poll() is not None:
            reason = f"ended with code {process.returncode} before it was ready"
        elif time.monotonic() > deadline:
            stop_child(process, first=signal.SIGKILL)
            reason = f"was not ready after {timeout_seconds:g} s"
        else:
            time.sleep(_POLL_SECONDS)
            continue
        raise StartFailed(f"{what} {reason}. The end of {log}:\n{tail(log)}")


def tail(log: Path, *, lines: int = 60) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def free_port() -> int:
    """
    Find a port on 127.0.0.1 that nothing listens on.

    Taken from below the range of outgoing connections: a port that the kernel picked may be
    somebody's outgoing connection by the time a server binds it, or while a server restarts.
    """
    for port in random.sample(range(15_000, 32_000), 100):
        with socket.socket() as probe:
            # As servers do, so that a port whose old connections linger still counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port on 127.0.0.1 among a hundred tried between 15000 and 32000")


def _identity(user: tuple[int, int] | None) -> dict[str, object]:
    if user is None:
        return {}
    uid, gid = user
    return {"user": uid, "group": gid, "extra_groups": []}


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def ask_for_signal() -> None:
        # Popen changes the user before it calls this; a later change would forget the wish.
        libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:
            os._exit(1)

    return ask_for_signal
