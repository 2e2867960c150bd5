"""Files as cards on pages: what they are, a small preview, and the way to the bytes."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from inbox.platform.files.previews import has_preview
from inbox.queries.files.files import erased_among, files_of_answer
from inbox.rules.files.references import MARK, FileReference, reference_of
from inbox.rules.files.text_previews import is_text
from inbox.rules.text.safe_text import escape_invisible

if TYPE_CHECKING:
    from inbox.models import Decision, Interrupt

_ICONS = {"image": "file-image", "text": "file-text", "audio": "file-audio", "video": "file-video"}


@dataclass(frozen=True)
class FileCard:
    """A file as a page shows it."""

    id: UUID
    name: str
    media_type: str
    size: int
    sha256: str
    is_erased: bool

    @property
    def has_picture(self) -> bool:
        return not self.is_erased and has_preview(self.media_type)

    @property
    def is_text(self) -> bool:
        return not self.is_erased and is_text(self.media_type)

    @property
    def icon(self) -> str:
        return _ICONS.get(self.media_type.partition("/")[0], "file")


def card_of(reference: FileReference, *, is_erased: bool = False) -> FileCard:
    return FileCard(
        id=reference.id,
        name=escape_invisible(reference.name),
        media_type=reference.media_type,
        size=reference.size,
        sha256=reference.sha256,
        is_erased=is_erased,
    )


def cards_of_request(row: "Interrupt") -> Sequence[FileCard]:
    """Return the files that the agent attached; no query without files."""
    return _cards(map(reference_of, json.loads(row.files))) if row.files else ()


def cards_of_answer(row: "Interrupt", decision: "Decision | None") -> Sequence[FileCard]:
    """Return the files of the decision's answer; no query without files."""
    if decision is None or MARK not in (decision.payload or ""):
        return ()
    payload: Any = json.loads(decision.payload or "null")
    return _cards(files_of_answer(row.thread_id, payload))


def _cards(references: Iterable[FileReference]) -> list[FileCard]:
    listed = list(references)
    erased = erased_among(reference.id for reference in listed) if listed else set()
    return [card_of(item, is_erased=item.id in erased) for item in listed]
