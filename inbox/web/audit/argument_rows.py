"""The arguments of a call as rows: each with what was proposed, approved and executed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext

from inbox.forms.values import ABSENT
from inbox.rules.schema.secrets import without_mask_numbers
from inbox.rules.text.safe_text import escape_invisible, json_text

#: Further arguments are in the JSON below the rows.
MAX_ROWS: Final = 100
#: Longer texts are folded.
_CHARACTERS, _LINES = 240, 6
_BEGINNING: Final = 100


@dataclass(frozen=True)
class Cell:
    """A value; `mark` is "del", "ins", "other" (executed otherwise than approved) or ""."""

    text: str
    mark: str
    beginning: str  #: of a text that is folded, else ""
    is_code: bool


@dataclass(frozen=True)
class ArgumentRow:
    name: str  #: "" if the arguments are one value
    cells: Sequence[Cell | None]  #: None where the argument is absent


def argument_rows(values: Sequence[Any]) -> list[ArgumentRow]:
    """
    Return the rows of what was proposed, approved and executed, each ABSENT if it is unknown.

    The values have numbered masks, so that secrets that differ are told apart.
    """
    sets = [_members(value) for value in values]
    names = dict.fromkeys(name for members in sets for name in members or ())
    return [_row(name, sets) for name in names]


def value_cell(value: Any, mark: str = "", *, as_json: bool = False, is_code: bool = False) -> Cell:
    """Return a value as people read it: a text as it is, and others as JSON."""
    is_text = isinstance(value, str) and not as_json
    text = without_mask_numbers(escape_invisible(value) if is_text else json_text(value))
    is_long = len(text) > _CHARACTERS or text.count("\n") >= _LINES
    beginning = " ".join(text[: 2 * _BEGINNING].split())[:_BEGINNING] + "…" if is_long else ""
    return Cell(text, mark, beginning, is_code or isinstance(value, Mapping | list))


def _members(value: Any) -> Mapping[str, Any] | None:
    if value is ABSENT:
        return None
    return value if isinstance(value, Mapping) else {"": value}


def _row(name: str, sets: Sequence[Mapping[str, Any] | None]) -> ArgumentRow:
    values = [ABSENT if members is None else members.get(name, ABSENT) for members in sets]
    texts = [None if value is ABSENT else json.dumps(value, sort_keys=True) for value in values]
    proposed, approved, executed = texts
    is_edited = sets[1] is not None and approved != proposed
    is_other = None not in (sets[1], sets[2]) and executed != approved
    removed, added = ("del", "ins") if is_edited else ("", "")
    marks = (removed, added, "other" if is_other else added)
    # "5" and 5 look alike: beside each other, texts have their quotes.
    pairs = zip(values, texts, strict=True)
    plain = {value if isinstance(value, str) else text for value, text in pairs}
    as_json = len(plain) < len(set(texts))
    cells = [
        value_cell(value, mark, as_json=as_json) if value is not ABSENT else _cell_of_absence(mark)
        for value, mark in zip(values, marks, strict=True)
    ]
    return ArgumentRow(without_mask_numbers(escape_invisible(name)), cells)


def _cell_of_absence(mark: str) -> Cell | None:
    """Return a cell for an argument that was approved and not executed."""
    return Cell(gettext("missing"), mark, "", is_code=False) if mark == "other" else None
