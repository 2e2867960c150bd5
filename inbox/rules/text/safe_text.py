"""Agent-written values as text that shows everything that is in them."""

import json
from typing import Any

import regex

from inbox.rules.text.unicode_spoofing import HIDDEN_CANDIDATES, is_invisible

#: A longer text folds: nobody reads as far by scrolling past it.
FOLD_CHARACTERS, FOLD_LINES = 2_000, 40


def escape_invisible(text: str) -> str:
    """
    The text with characters that cannot be seen spelled out, as in `⟨U+202E⟩`.

    A right-to-left override or a zero-width space could make a request read like another one.
    """
    return str(HIDDEN_CANDIDATES.sub(_spelled, text.replace("\r\n", "\n")))


def json_text(value: Any) -> str:
    """The value as indented JSON, hidden characters as escapes: the same value, seen whole."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return str(HIDDEN_CANDIDATES.sub(_escaped, text))


def has_invisible_characters(text: str) -> bool:
    """Whether `json_text` or `visible` had to spell something out."""
    text = text.replace("\r\n", "\n")
    return any(is_invisible(text, match.start()) for match in HIDDEN_CANDIDATES.finditer(text))


def is_long(text: str) -> bool:
    """Whether a text has to be opened to be read."""
    return len(text) > FOLD_CHARACTERS or text.count("\n") >= FOLD_LINES


def format_json(text: str) -> str:
    """JSON text as indented JSON, any other text as it is; both with nothing hidden."""
    try:
        return json_text(json.loads(text))
    except ValueError:
        return escape_invisible(text)


def _spelled(match: "regex.Match[str]") -> str:
    char: str = match.group()
    return f"⟨U+{ord(char):04X}⟩" if is_invisible(match.string, match.start()) else char


def _escaped(match: "regex.Match[str]") -> str:
    char: str = match.group()
    if not is_invisible(match.string, match.start()):
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else json.dumps(char)[1:-1]
