"""Parts of messages that are not text, as cards on pages: stored files with their preview."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from agents.agui.content import MediaPart, media_parts
from inbox.queries.files.files import files_of_thread
from inbox.rules.files.references import parse_address
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.files.file_cards import FileCard, card_of

_KINDS = {
    "image": (gettext_noop("Image"), "file-image"),
    "audio": (gettext_noop("Audio"), "file-audio"),
    "video": (gettext_noop("Video"), "file-video"),
    "document": (gettext_noop("Document"), "file-text"),
    "binary": (gettext_noop("File"), "file"),
}


@dataclass(frozen=True)
class PartCard:
    """A part of a message: a stored file of the thread, or what its sender says of it."""

    name: str
    icon: str
    media_type: str
    address: str
    size: int | None
    file: FileCard | None = None


def files_of_messages(
    thread_id: UUID, messages: Iterable[Mapping[str, Any]]
) -> Mapping[UUID, FileCard]:
    """Return the files of the thread that parts of messages refer to; no query without any."""
    ids = {
        address.id
        for message in messages
        for part in media_parts(message.get("content"))
        if (address := parse_address(part.address))
    }
    rows = files_of_thread(thread_id, ids) if ids else ()
    return {row.pk: card_of(row.reference, is_erased=row.erased_at is not None) for row in rows}


def part_cards(content: Any, files: Mapping[UUID, FileCard]) -> Sequence[PartCard]:
    """Return the parts of a message's content that are not text."""
    return [_card(part, files) for part in media_parts(content)]


def _card(part: MediaPart, files: Mapping[UUID, FileCard]) -> PartCard:
    address = parse_address(part.address)
    file = files.get(address.id) if address else None
    kind, icon = _KINDS.get(part.kind, (None, "file"))
    return PartCard(
        name=escape_invisible(part.name or (gettext(kind) if kind else part.kind)),
        icon=icon,
        media_type=escape_invisible(part.media_type),
        address=escape_invisible(part.address),
        size=part.size,
        file=file if address and file and file.sha256 == address.sha256 else None,
    )
