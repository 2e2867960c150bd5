"""Display of agents' values with invisible characters escaped."""

import json
from typing import Any

import regex

from inbox.rules.text.unicode_spoofing import HIDDEN_CANDIDATES, is_invisible

_ENCODER = json.JSONEncoder(indent=2, ensure_ascii=False)
#: Longer texts are collapsed.
FOLD_CHARACTERS, FOLD_LINES = 2_000, 40


def escape_invisible(text: str) -> str:
    """
    Return the text with invisible characters as `⟨U+202E⟩`.

    A right-to-left override or a zero-width space could make a request look like another one.
    """
    return str(HIDDEN_CANDIDATES.sub(_spelled, text.replace("\r\n", "\n")))


def json_text(value: Any) -> str:
    """Return the value as indented JSON with invisible characters escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return str(HIDDEN_CANDIDATES.sub(_escaped, text))


def json_beginning(value: Any, characters: int) -> str:
    """Return `json_text` of a value up to more than so many characters, white space left out."""
    parts: list[str] = []
    count = 0
    for part in _ENCODER.iterencode(value):
        parts.append(part)
        count += len("".join(part.split()))
        if count > characters:
            break
    return str(HIDDEN_CANDIDATES.sub(_escaped, "".join(parts)))


def has_invisible_characters(text: str) -> bool:
    """Return True if `json_text` and `escape_invisible` escape a character."""
    text = text.replace("\r\n", "\n")
    return any(is_invisible(text, match.start()) for match in HIDDEN_CANDIDATES.finditer(text))


def is_long(text: str) -> bool:
    """Return True if pages collapse the text."""
    return len(text) > FOLD_CHARACTERS or text.count("\n") >= FOLD_LINES


def format_json(text: str) -> str:
    """Indent JSON text, leave other text; escape invisible characters in both."""
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
