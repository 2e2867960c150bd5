"""Where tests keep what is slow to make, outside the tree: shared by workers, safe to delete."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_directory() -> Path:
    """
    Return this user's cache below the temporary directory, made when missing.

    Readable by everyone, because a server may have to run as another user, and writable by its
    owner alone, because what lies in it is executed.
    """
    path = Path(tempfile.gettempdir()) / f"signoff-tests-{os.getuid()}"
    path.mkdir(mode=0o755, exist_ok=True)
    status = path.lstat()
    is_safe = (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
    if not is_safe:
        raise RuntimeError(f"{path} must be a directory that only user {os.getuid()} can write to")
    path.chmod(0o755)  # whatever the umask was
    return path


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the cached directory `name`, filled by `make` under a temporary name if it is new."""
    done = cache_directory() / name
    if done.exists():
        return done
    with exclusive(name):
        if done.exists():
            return done
        draft = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=cache_directory()))
        try:
            make(draft)
            draft.chmod(0o755)
            draft.rename(done)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return done


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Let one process of this user at a time do `name`."""
    with (cache_directory() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
