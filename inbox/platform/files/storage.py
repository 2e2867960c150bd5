"""The storage of files: a folder of the data directory, or a bucket with the API of S3."""

import hashlib
import os
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, Storage, storages

from inbox.rules.errors import FileChanged
from inbox.rules.text.messages import TranslatableMessage

ALIAS = "files"


class DurableFolder(FileSystemStorage):
    """
    A folder whose new files survive a power failure once `save` returns.

    Django's storage moves an upload to its place without writing it through to the disk.
    """

    def _save(self, name: str, content: Any) -> str:
        with open(content.temporary_file_path(), "rb") as file:  # noqa: PTH123
            os.fsync(file.fileno())
        saved: str = super()._save(name, content)  # type: ignore[misc]  # not in the stubs
        _write_through(Path(self.path(saved)).parent)
        return saved


def file_storage() -> Storage:
    """Return the storage that the setting SIGNOFF_FILES_URL selects."""
    return storages[ALIAS]


def copy_checked(key: str, sha256: str, target: IO[bytes]) -> None:
    """
    Copy the bytes of an object to a file, which is rewound.

    Raises:
        FileNotFoundError.
        FileChanged: the bytes have another SHA-256; somebody else has written to the storage.
    """
    bytes_read = hashlib.sha256()
    with file_storage().open(key, "rb") as content:
        for chunk in content.chunks():
            bytes_read.update(chunk)
            target.write(chunk)
    if bytes_read.hexdigest() != sha256:
        raise FileChanged(
            TranslatableMessage(
                "The stored bytes of this file were changed after it was sent, so it is neither "
                "served nor approved. Reject the request, or have the file sent again."
            )
        )
    target.seek(0)


def storage_options(address: str, folder: Path) -> dict[str, Any]:
    """
    Return the entry of STORAGES for SIGNOFF_FILES_URL: "" for the folder, or `s3://bucket/prefix`.

    Raises:
        ImproperlyConfigured.
    """
    if not address:
        options: dict[str, Any] = {"location": folder / "stored", "file_permissions_mode": 0o600}
        options["directory_permissions_mode"] = 0o700
        return {"BACKEND": "inbox.platform.files.storage.DurableFolder", "OPTIONS": options}
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.netloc:
        raise ImproperlyConfigured("SIGNOFF_FILES_URL has the form s3://bucket/prefix.")
    options = {
        "bucket_name": parts.netloc,
        "location": parts.path.strip("/"),
        "default_acl": None,
        "file_overwrite": True,
        "querystring_auth": True,
        "max_memory_size": 1024 * 1024,
    }
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


def _write_through(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
