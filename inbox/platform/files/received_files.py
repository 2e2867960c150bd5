"""
An upload handler that hashes each file while it is written to the disk.

Why: Django's handlers keep small files in memory, read each file again to hash it, and have no
limit on its size.
"""

import hashlib
import tempfile
from contextlib import suppress
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from inbox.platform import clock
from inbox.rules.files.file_types import HEAD_BYTES

#: The member of an ASGI scope with the body of an upload: an open file.
BODY_FILE = "signoff.body_file"
#: Older files in the folder for uploads were left by processes that ended.
LEFT_AFTER_SECONDS = 24 * 3600


class Shortage(StrEnum):
    """Why the bytes of a file were not kept."""

    TOO_LARGE = "too large"
    DISK_FULL = "disk full"


class ReceivedFile(UploadedFile):  # type: ignore[type-arg]  # not generic at run time
    """An uploaded file on the disk, with its digest and first bytes; removed when it is closed."""

    def __init__(self, file: IO[bytes], name: str, size: int, sha256: str, head: bytes) -> None:
        super().__init__(file, name, None, size, None)
        self._received = file
        self.sha256 = sha256
        self.head = head
        self.shortage: Shortage | None = None

    def temporary_file_path(self) -> str:
        """Return the path, from which storages on the same disk move the file."""
        return str(self._received.name)

    def close(self) -> None:
        """Close and remove the file, unless it was moved."""
        with suppress(FileNotFoundError):
            self._received.close()


class FileReceiver(FileUploadHandler):
    """Writes each file of a request to the disk; too large ones are read on and dropped."""

    _file: IO[bytes] | None = None
    _head = b""
    _size = 0
    _shortage: Shortage | None = None

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._total = 0
        self._hash = hashlib.sha256()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        try:
            self._start(new_temporary_file())
        except OSError:
            self._start(None)
            self._shortage = Shortage.DISK_FULL

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._total += len(raw_data)
        self._size += len(raw_data)
        if self._shortage is not None or self._file is None:
            return
        if self._size > settings.FILE_BYTES or self._total > settings.REQUEST_FILE_BYTES:
            self._drop(Shortage.TOO_LARGE)
            return
        self._hash.update(raw_data)
        if len(self._head) < HEAD_BYTES:
            self._head += raw_data[: HEAD_BYTES - len(self._head)]
        try:
            self._file.write(raw_data)
        except OSError:
            self._drop(Shortage.DISK_FULL)

    def file_complete(self, file_size: int) -> ReceivedFile | None:
        if self._file is not None:
            try:
                self._file.flush()
                self._file.seek(0)  # views read from the start
            except OSError:
                self._drop(Shortage.DISK_FULL)
        file, self._file = self._file, None
        received = ReceivedFile(
            file or BytesIO(),  # without a path: it is refused, and never stored
            self.file_name or "",
            self._size,
            self._hash.hexdigest(),
            self._head,
        )
        received.shortage = self._shortage
        return received

    def upload_interrupted(self) -> None:
        if self._file is not None:
            self._file.close()

    def _start(self, file: IO[bytes] | None) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._head = b""
        self._size = 0
        self._shortage = None

    def _drop(self, shortage: Shortage) -> None:
        self._shortage = shortage
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


def received_bytes(content: bytes, name: str) -> ReceivedFile:
    """Return bytes of this process as a received file. Raises OSError: the disk is full."""
    file = new_temporary_file()
    file.write(content)
    file.flush()
    digest = hashlib.sha256(content).hexdigest()
    return ReceivedFile(file, name, len(content), digest, content[:HEAD_BYTES])


def new_temporary_file() -> IO[bytes]:
    """Return a file in the folder for uploads, which is removed when it is closed."""
    folder = uploads_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return tempfile.NamedTemporaryFile(dir=folder, prefix="upload-")


def uploads_folder() -> Path:
    """Return the folder of unfinished uploads, on the disk of the files in the data directory."""
    return Path(settings.FILES_DIR) / "uploads"


def delete_left_uploads(older_than: float = LEFT_AFTER_SECONDS) -> None:
    """Delete unfinished uploads of processes that ended without removing them."""
    oldest = clock.now().timestamp() - older_than
    for path in uploads_folder().glob("*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()
