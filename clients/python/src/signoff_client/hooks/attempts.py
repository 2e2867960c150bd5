"""Calls that a hook let run, in files of the user, until the event after them reports their end."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from signoff_client.hooks.events import Event

_LONGEST_SECONDS: Final = 2 * 86_400
#: Members that some hosts show before a call and leave out after it.
_DESCRIPTIVE: Final = frozenset({"description"})


@dataclass(frozen=True)
class Attempt:
    """The ids that the report of a call needs, and the arguments that were approved."""

    request: str
    item: str
    attempt: str
    args: Mapping[str, Any]


def attempts_directory() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "signoff" / "attempts"


def store(host: str, event: Event, attempt: Attempt) -> None:
    """Store an attempt; without the file a call is reported by nobody, and a person is asked."""
    directory = attempts_directory()
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_old(directory)
        name = f"{_key(host, event, attempt.args)}.{attempt.attempt}.json"
        draft = directory / f"{name}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(attempt), file)
        draft.replace(directory / name)


def claim(host: str, event: Event) -> Attempt | None:
    """Return the attempt that an event after a call is about, once; None if there is none."""
    keys = [_key(host, event, event.args)]
    if event.call_id:  # some hosts tell the id only after the call
        keys.append(_key(host, event, event.args, with_id=False))
    for key in keys:
        for path in sorted(attempts_directory().glob(f"{key}.*.json")):
            claimed = path.with_suffix(f".{os.getpid()}")
            with suppress(OSError, ValueError, TypeError):
                path.rename(claimed)  # only one process wins
                text = claimed.read_text(encoding="utf-8")
                claimed.unlink()
                return Attempt(**json.loads(text))
    return None


def forget(attempt: Attempt) -> None:
    for path in attempts_directory().glob(f"*.{attempt.attempt}.json"):
        path.unlink(missing_ok=True)


def _key(host: str, event: Event, args: Mapping[str, Any], *, with_id: bool = True) -> str:
    parts: list[Any] = [host, event.session]
    if event.call_id and with_id:
        parts.append(event.call_id)
    else:
        essential = {name: value for name, value in args.items() if name not in _DESCRIPTIVE}
        parts += [event.tool, essential]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _remove_old(directory: Path) -> None:
    for path in directory.iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _LONGEST_SECONDS:
                path.unlink()
