"""Formats and limits of audit exports; escapes formulas in spreadsheet cells."""

import unicodedata
from enum import StrEnum
from itertools import dropwhile

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

#: Larger exports have to be split by days.
MAX_ENTRIES = 1_000_000
#: Spreadsheets truncate longer cells or split them into rows.
MAX_CELL_CHARACTERS = 32_000
#: Characters that begin a formula, also the full-width ones of East Asian keyboards (OWASP).
_BEGINS_A_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


class Format(StrEnum):
    """The format of an export; the value is the extension of the file."""

    JSONL = "jsonl"  #: with the proofs, for a verifier
    CSV = "csv"  #: for a spreadsheet; proves nothing


def check_number(count: int) -> None:
    """Raise InvalidValue if there are too many entries for one export."""
    if count > MAX_ENTRIES:
        raise InvalidValue(
            TranslatableMessage(
                "The export would have {count} entries; the limit is {most}. Choose "
                "fewer days or one agent.",
                count=count,
                most=MAX_ENTRIES,
            )
        )


def as_cell(value: object) -> str:
    """Return the text of a cell, truncated and escaped against formulas."""
    text = "" if value is None else str(value)
    if len(text) > MAX_CELL_CHARACTERS:
        text = f"{text[:MAX_CELL_CHARACTERS]}…"
    is_formula = text.startswith(_BEGINS_A_FORMULA) or _visible(text).startswith(_BEGINS_A_FORMULA)
    return f"'{text}" if is_formula else text


def _visible(text: str) -> str:
    """Return the text without leading blank and invisible characters."""
    return "".join(
        dropwhile(lambda char: char.isspace() or unicodedata.category(char) in ("Cf", "Cc"), text)
    )
