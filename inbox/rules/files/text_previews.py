"""Texts and tables of values as a preview, with everything invisible shown."""

import csv
from dataclasses import dataclass

from inbox.rules.files.file_types import decode_text
from inbox.rules.text.safe_text import escape_invisible

#: How much of a file is shown.
PREVIEW_BYTES = 64 * 1024
MAX_ROWS = 200
MAX_COLUMNS = 30
MAX_CELL_CHARACTERS = 300
_DELIMITERS = {"text/csv": ",", "text/tab-separated-values": "\t"}
_TEXTS = ("application/json", "application/yaml", "application/xml", "image/svg+xml")


@dataclass(frozen=True)
class TextPreview:
    """The start of a text, or of a table if it has rows."""

    text: str
    rows: list[list[str]]
    is_cut: bool


def is_text(media_type: str) -> bool:
    """Return whether a file of this type is displayed as text."""
    return media_type.startswith("text/") or media_type in _TEXTS


def preview_text(start: bytes, media_type: str, *, size: int) -> TextPreview | None:
    """Return the preview of a file of `size` bytes that begins with `start`; None for no text."""
    text = decode_text(start)
    if text is None:
        return None
    is_cut = size > len(start)
    if media_type not in _DELIMITERS:
        return TextPreview(escape_invisible(text), [], is_cut)
    rows, is_row_cut = _table(text, _DELIMITERS[media_type])
    return TextPreview("" if rows else escape_invisible(text), rows, is_cut or is_row_cut)


def _table(text: str, comma: str) -> tuple[list[list[str]], bool]:
    first_line = text.partition("\n")[0]
    if comma == "," and first_line.count(";") > first_line.count(","):
        comma = ";"
    rows: list[list[str]] = []
    try:
        for row in csv.reader(text.splitlines(), delimiter=comma):
            if len(rows) == MAX_ROWS:
                return rows, True
            rows.append([_cell(value) for value in row[:MAX_COLUMNS]])
    except csv.Error:
        return [], False
    return rows, False


def _cell(value: str) -> str:
    text = escape_invisible(value[:MAX_CELL_CHARACTERS])
    return f"{text}…" if len(value) > MAX_CELL_CHARACTERS else text
