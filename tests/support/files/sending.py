"""Sending files as programs and pages do, and what the storage holds."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from inbox.models import File, StoredBlob


def send(api_key: str, content: bytes, name: str = "invoice.pdf", agent: str = "rehearsal") -> Any:
    """Send a file over REST."""
    return Client().post(
        "/api/files",
        {"file": SimpleUploadedFile(name, content), "agent": agent},
        headers={"Authorization": f"Bearer {api_key}"},
    )


def sent(
    api_key: str, content: bytes, name: str = "invoice.pdf", agent: str = "rehearsal"
) -> dict[str, Any]:
    """Send a file over REST, and return it."""
    answer = send(api_key, content, name, agent)
    assert answer.status_code == 201, answer.content
    return dict(json.loads(answer.content))


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def stored_keys() -> set[str]:
    """Return the objects in the folder of the storage."""
    folder = Path(settings.FILES_DIR) / "stored"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def orphans() -> set[str]:
    """Return objects that no row names."""
    return stored_keys() - set(StoredBlob.objects.values_list("key", flat=True))


def broken_references() -> list[Any]:
    """Return the files whose bytes are not in the storage."""
    rows = File.objects.filter(erased_at=None).select_related("blob")
    keys = stored_keys()
    return [row.pk for row in rows if row.blob is None or row.blob.key not in keys]
