"""What an export of the audit trail is: its formats, its bound, and cells that are no formulas."""

import unicodedata
from enum import StrEnum
from itertools import dropwhile

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

#: More than this is asked for in parts, by days.
MAX_ENTRIES = 1_000_000
#: Spreadsheets cut what is longer, or push the rest of it into the next row.
MAX_CELL_CHARACTERS = 32_000
#: What makes a cell a formula, also in full width as East Asian keyboards have it (OWASP).
_BEGINS_A_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


class Format(StrEnum):
    """The value is how the name of the file ends."""

    JSONL = "jsonl"  #: with the proofs, for a verifier
    CSV = "csv"  #: for a spreadsheet; proves nothing


def check_number(count: int) -> None:
    """Raise InvalidValue unless an export may have so many entries."""
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
    """The text of a cell: no spreadsheet takes it for a formula, and it fits in."""
    text = "" if value is None else str(value)
    if len(text) > MAX_CELL_CHARACTERS:
        text = f"{text[:MAX_CELL_CHARACTERS]}…"
    is_formula = text.startswith(_BEGINS_A_FORMULA) or _visible(text).startswith(_BEGINS_A_FORMULA)
    return f"'{text}" if is_formula else text


def _visible(text: str) -> str:
    """Return the text from its first character that is neither blank nor invisible."""
    return "".join(
        dropwhile(lambda one: one.isspace() or unicodedata.category(one) in ("Cf", "Cc"), text)
    )
