"""Previews of images and PDF pages, made by a process with limits and kept for a day."""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings

from inbox.platform import clock
from inbox.platform.files import preview_process
from inbox.platform.files.received_files import new_temporary_file
from inbox.platform.files.storage import copy_checked

log = structlog.get_logger(__name__)

MEDIA_TYPE = "image/webp"
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
PDF = "application/pdf"
TIMEOUT_SECONDS = 20.0
#: Processes at the same time; a request waits so long for its turn.
_turns = threading.BoundedSemaphore(2)
_WAIT_SECONDS = 10.0
_KEPT_SECONDS = 24 * 3600


class PreviewFailed(Exception):
    """The file is damaged, too large to draw, or has no such page."""


class PreviewBusy(Exception):
    """Too many previews are made at the moment."""


@dataclass(frozen=True)
class Preview:
    """A picture of an image or of one page."""

    pages: int
    content: bytes  #: of MEDIA_TYPE


def has_preview(media_type: str) -> bool:
    """Return whether `preview_of` draws files of this type."""
    return media_type in IMAGES or media_type == PDF


def preview_of(key: str, sha256: str, media_type: str, page: int = 1) -> Preview:
    """
    Return the preview of a stored object; its pages count from 1.

    Raises:
        PreviewFailed, PreviewBusy, FileNotFoundError.
        FileChanged: the bytes of the object have another SHA-256.
    """
    path = _folder() / f"{_name_of(key)}-{sha256}-{page}"
    try:
        answer = path.read_bytes()
    except FileNotFoundError:
        answer = _draw(key, sha256, "pdf" if media_type == PDF else "image", page)
        _keep(path, answer)
    header, _, content = answer.partition(b"\n")
    try:
        pages: Any = json.loads(header).get("pages")
    except ValueError:
        pages = None
    if not isinstance(pages, int) or not content:
        raise PreviewFailed
    return Preview(pages, content)


def delete_previews(key: str = "") -> None:
    """Delete the previews of an object, or all that are older than a day."""
    oldest = clock.now().timestamp() - _KEPT_SECONDS
    for path in _folder().glob(f"{_name_of(key)}-*" if key else "*"):
        with suppress(FileNotFoundError):
            if key or path.stat().st_mtime < oldest:
                path.unlink()


def _draw(key: str, sha256: str, kind: str, page: int) -> bytes:
    if not _turns.acquire(timeout=_WAIT_SECONDS):
        raise PreviewBusy
    try:
        # A copy: the bytes that are drawn are those that were checked.
        with new_temporary_file() as copy:
            copy_checked(key, sha256, copy)
            return _run(kind, copy.name, page)
    finally:
        _turns.release()


def _run(kind: str, path: str, page: int) -> bytes:
    """Return what the process prints; "{}" if it failed, which is kept as well."""
    command = [sys.executable, "-I", preview_process.__file__, kind, path, str(page)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, timeout=TIMEOUT_SECONDS, check=True, env={}
        )
    except (subprocess.SubprocessError, OSError) as error:
        log.info("preview failed", error=type(error).__name__)
        return b"{}\n"
    return done.stdout


def _keep(path: Path, answer: bytes) -> None:
    """Keep an answer for the next request; without it the next one is only slower."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path.with_name(f"{path.name}.{threading.get_ident()}.part")
        part.write_bytes(answer)
        part.replace(path)


def _folder() -> Path:
    return Path(settings.FILES_DIR) / "previews"


def _name_of(key: str) -> str:
    return sha256_of(key.encode()).hexdigest()
