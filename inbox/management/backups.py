"""
Archives of an embedded installation: its database, files and keys.

An archive is a tar file, compressed with gzip:

    signoff.sqlite3     the database, as of one moment
    files/...           stored files, without unfinished uploads
    secret-key, ...     keys of the data directory; those of the environment are not in it
    checkpoints         the checkpoint file of the audit trail
    manifest.json       when it was made, and the size and SHA-256 of every other member
"""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DATABASE = "signoff.sqlite3"
MANIFEST = "manifest.json"
FORMAT = 1
#: Files of the data directory with secrets, or that belong to the database.
SMALL_FILES = (
    *("secret-key", "encryption-keys", "vapid-key", "audit-key", "demo-credentials.json"),
)
CHECKPOINTS = "checkpoints"
STORED_FILES = "files/stored"


class BackupFailed(Exception):
    """A backup that cannot be restored; the text says why."""


@dataclass(frozen=True)
class Manifest:
    """The contents of an archive, and when it was made."""

    made_at: str  #: ISO 8601
    key_digests: dict[str, str]  #: setting -> start of the SHA-256 of a key of the environment
    has_files: bool = True  #: False if they are in a bucket
    format: int = FORMAT
    members: dict[str, str] = field(default_factory=dict)  #: name -> SHA-256


def key_digest(key: str) -> str:
    """Return a digest by which to recognise a key, which is too random to be guessed by it."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def write_backup(target: Path, *, data: Path, database: Path, manifest: Manifest) -> Manifest:
    """
    Write an archive of a running installation, and return its manifest.

    The checkpoint file is read before the database, so that the database has every checkpoint of
    it, and files after the database, so that every file that the database names is there.

    Raises:
        OSError, sqlite3.Error.
    """
    unfinished = target.with_name(f"{target.name}.part")
    copy = target.with_name(f"{target.name}.database")
    members: dict[str, str] = {}
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
                for name in (CHECKPOINTS, *SMALL_FILES):
                    _add(archive, data / name, name, members)
                _copy_database(database, copy)
                _add(archive, copy, DATABASE, members)
                if manifest.has_files:
                    for path in _files_below(data / STORED_FILES):
                        _add(archive, path, path.relative_to(data).as_posix(), members)
                complete = Manifest(**{**asdict(manifest), "members": members})
                _add_text(archive, MANIFEST, json.dumps(asdict(complete), indent=1))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(target)
    finally:
        for leftover in (unfinished, copy):
            leftover.unlink(missing_ok=True)
    return complete


def unpack_backup(archive: Path, folder: Path) -> Manifest:
    """
    Unpack an archive into an empty folder and check all of it.

    Raises:
        BackupFailed: it is no backup, of a newer format, incomplete or damaged.
    """
    folder.mkdir(parents=True, mode=0o700)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar.extractall(folder, filter="data")
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text()))
    except (tarfile.TarError, EOFError, OSError, ValueError, TypeError) as error:
        raise BackupFailed(f"{archive} is no complete backup: {error}") from error
    if manifest.format != FORMAT:
        raise BackupFailed(f"{archive} was made by another version (format {manifest.format}).")
    (folder / MANIFEST).unlink()
    for name, sha256 in manifest.members.items():
        path = folder / name
        if not path.is_file() or _digest(path) != sha256:
            raise BackupFailed(f"{archive} is damaged: {name} is missing or differs.")
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        (result,) = database.execute("PRAGMA integrity_check").fetchone()
    if result != "ok":
        raise BackupFailed(f"The database of {archive} is damaged: {result}")
    return manifest


def applied_migrations(database: Path) -> set[tuple[str, str]]:
    """Return the migrations of a database, as pairs of an app and a name."""
    with closing(sqlite3.connect(database)) as connection:
        return set(connection.execute("SELECT app, name FROM django_migrations"))


def move_into(data: Path, folder: Path) -> None:
    """
    Move what was unpacked to a data directory, the database last.

    Until then the directory has no database, so that an interrupted restore is seen as such.
    """
    names = sorted((path.name for path in folder.iterdir()), key=lambda name: name == DATABASE)
    for name in names:
        target = data / name
        if target.is_dir():
            shutil.rmtree(target)
        (folder / name).replace(target)
    folder.rmdir()
    os.sync()


def _copy_database(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as live,
        closing(sqlite3.connect(target)) as copy,
    ):
        # In one step: it reads a snapshot, and writers go on meanwhile.
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def _add(archive: tarfile.TarFile, path: Path, name: str, members: dict[str, str]) -> None:
    """Add a file, unless it is missing: a file of the store may be erased at any time."""
    try:
        with path.open("rb") as file:
            info = archive.gettarinfo(arcname=name, fileobj=file)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            reader = _DigestingReader(file)
            # A file that grows meanwhile is cut at the size that the header has.
            archive.addfile(info, reader)  # type: ignore[arg-type]  # it only calls read
    except FileNotFoundError:
        return
    members[name] = reader.sha256.hexdigest()


class _DigestingReader:
    def __init__(self, file: Any) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        content: bytes = self._file.read(size)
        self.sha256.update(content)
        return content


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    content = text.encode()
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    archive.addfile(info, io.BytesIO(content))


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
