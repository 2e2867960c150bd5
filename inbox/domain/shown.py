"""Agent-written values as text that shows everything that is in them."""

import json
import re
import unicodedata
from typing import Any

#: Format, control, private, unassigned and surrogate characters, line and paragraph separators.
_HIDDEN = {"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"}
_MAY_HIDE = re.compile(r"[^\x20-\x7e\n\t]")


def visible(text: str) -> str:
    """
    The text with characters that cannot be seen spelled out, as in `⟨U+202E⟩`.

    A right-to-left override or a zero-width space could make a request read like another one.
    """
    return _MAY_HIDE.sub(_spelled, text.replace("\r\n", "\n"))


def json_text(value: Any) -> str:
    """The value as indented JSON, hidden characters as escapes: the same value, seen whole."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _MAY_HIDE.sub(_escaped, text)


def has_hidden(text: str) -> bool:
    """Whether `json_text` or `visible` had to spell something out."""
    return any(_is_hidden(char) for char in _MAY_HIDE.findall(text.replace("\r\n", "\n")))


def pretty(text: str) -> str:
    """JSON text as indented JSON, any other text as it is; both with nothing hidden."""
    try:
        return json_text(json.loads(text))
    except ValueError:
        return visible(text)


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN


def _spelled(match: re.Match[str]) -> str:
    char = match.group()
    return f"⟨U+{ord(char):04X}⟩" if _is_hidden(char) else char


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if not _is_hidden(char):
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else json.dumps(char)[1:-1]
