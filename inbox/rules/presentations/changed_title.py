"""Mark in a title the values that a person has changed: `Refund [$142.50] $112.50 for order 7`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from inbox.rules.decisions.change_summary import ChangeSummary, SummaryLine
from inbox.rules.presentations.vocabulary import is_currency
from inbox.rules.text.numbers import FORMATS, AmbiguousNumber, NotANumber, NumberFormat
from inbox.rules.text.safe_text import escape_invisible

#: A number with the sign or the code of a currency on one side at least.
_MONEY = re.compile(
    r"(?<![\w.,$€£\u2212-])(?P<before>[$€£]|[A-Z]{3}[ \u00a0])?"
    r"(?P<number>[0-9](?:[0-9.,\u00a0]{0,50}[0-9])?)(?P<after>[ \u00a0]?[€$£]|[ \u00a0][A-Z]{3})?"
    r"(?![\w€$£]|[.,][0-9])"
)
_MIN_TEXT = 3


@dataclass(frozen=True)
class TitlePart:
    """A part of a title; of a changed value both texts."""

    text: str
    was: str = ""


@dataclass(frozen=True)
class ChangedTitle:
    """A title in parts, and the changes that it does not show."""

    parts: tuple[TitlePart, ...]
    changes: ChangeSummary


def mark_changes(title: str, changes: ChangeSummary) -> ChangedTitle:
    """
    Return the title with its old values and the new ones beside them.

    A value is marked only if the title has it once and no other value looks like it, an amount only
    with its currency: the title could mean another one. Invisible characters are escaped.
    """
    parts: tuple[TitlePart, ...] = (TitlePart(escape_invisible(title)),)
    others = []
    # An amount in the title would keep the currency that it no longer has.
    has_new_currency = any(is_currency(line.before) for line in changes.lines)
    for line in changes.lines:
        marked = None if line.is_number and has_new_currency else _mark(parts, line)
        if marked is None:
            others.append(line)
        else:
            parts = marked
    return ChangedTitle(parts, replace(changes, lines=tuple(others)))


def _mark(parts: Sequence[TitlePart], line: SummaryLine) -> tuple[TitlePart, ...] | None:
    """Return the parts with the line's value marked, None if it is not in them exactly once."""
    places = [
        (index, start, end, text)
        for index, part in enumerate(parts)
        if not part.was
        for start, end, text in _places(part.text, line)
    ]
    if len(places) != 1:
        return None
    index, start, end, text = places[0]
    full_text = parts[index].text
    pieces = (
        TitlePart(full_text[:start]),
        TitlePart(text, was=full_text[start:end]),
        TitlePart(full_text[end:]),
    )
    non_empty = [piece for piece in pieces if piece.text]
    return (*parts[:index], *non_empty, *parts[index + 1 :])


def _places(text: str, line: SummaryLine) -> list[tuple[int, int, str]]:
    """Return where the line's old value is, with the new one as the title writes it."""
    if not line.after or line.is_ambiguous:
        return []
    if line.is_number:
        return _amounts(text, line)
    if len(line.before) < _MIN_TEXT or not any(map(str.isalpha, line.before)):
        return []
    pattern = rf"(?<!\w){re.escape(line.before)}(?!\w)"
    return [(*match.span(), line.after) for match in re.finditer(pattern, text)]


def _amounts(text: str, line: SummaryLine) -> list[tuple[int, int, str]]:
    places = []
    for match in _MONEY.finditer(text):
        before, number, after = (match[name] or "" for name in ("before", "number", "after"))
        if not (is_currency(before.strip()) or is_currency(after.strip())):
            continue
        written = _as_written(number, line)
        if written:
            places.append((*match.span(), f"{before}{written}{after}"))
    return places


def _as_written(number: str, line: SummaryLine) -> str:
    """Return the new amount in the format of the old one, "" if the number is not the old one."""
    if not re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", line.after):
        return ""
    for each in FORMATS.values():
        value = _read(number, each)
        if value is None or Decimal(value) != Decimal(line.before):
            continue
        decimals = len(value.partition(".")[2])
        integral, _, fraction = line.after.partition(".")
        fraction = fraction.ljust(decimals, "0")
        text = f"{integral}.{fraction}" if fraction else integral
        is_grouped = each.group in number or len(value.partition(".")[0]) < 4
        return each.write_grouped(text) if is_grouped else each.write(text)
    return ""


def _read(number: str, form: NumberFormat) -> str | None:
    try:
        return form.read(number)
    except AmbiguousNumber as ambiguous:
        return str(ambiguous.readings[0])
    except NotANumber:
        return None
