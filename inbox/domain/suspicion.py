"""Characters that make a text read like another one: unseen, reordering, or look-alike."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from confusable_homoglyphs import confusables

#: Format, control, private, unassigned and surrogate characters, line and paragraph separators.
_HIDDEN = {"Cf", "Cc", "Co", "Cn", "Cs", "Zl", "Zp"}
#: Letters and symbols that are drawn as nothing.
_BLANK = set("\u115f\u1160\u3164\uffa0\u2800")
#: Joins the parts of one picture, as in a family of emoji; anywhere else it hides something.
_JOINER = "\u200d"
_NOT_PLAIN = re.compile(r"[^\x20-\x7e\n\t]")
_WORD = re.compile(r"\S+")
_LATIN = re.compile("[A-Za-z]")
#: A text is looked through up to here for look-alikes, and this many places are told.
_MOST_WORDS, MOST = 20_000, 50


@dataclass(frozen=True)
class Finding:
    """One suspicious place."""

    path: tuple[str | int, ...]  #: keys and positions from the root
    kind: str  #: "hidden", "lookalike"
    what: str  #: "U+202E RIGHT-TO-LEFT OVERRIDE", or the word with its look-alikes


def is_hidden(text: str, at: int) -> bool:
    """Whether the character at this place of the text cannot be seen (threats, row 16)."""
    char = text[at]
    if char in "\n\t":
        return False
    if char == _JOINER:
        return not (_is_picture(text, at - 1) and _is_picture(text, at + 1))
    if char == "\r":
        return text[at + 1 : at + 2] != "\n"
    return char in _BLANK or unicodedata.category(char) in _HIDDEN


def findings(value: Any) -> list[Finding]:
    """The suspicious places of a JSON value, keys included; at most MOST."""
    found: list[Finding] = []
    for path, text in _texts(value, ()):
        if text.isascii() and not _NOT_PLAIN.search(text):
            continue
        for finding in _in_text(path, text):
            if finding not in found:
                found.append(finding)
            if len(found) == MOST:
                return found
    return found


def _in_text(path: tuple[str | int, ...], text: str) -> Iterator[Finding]:
    for match in _NOT_PLAIN.finditer(text):
        if is_hidden(text, match.start()):
            char = match.group()
            name = unicodedata.name(char, "").strip()
            yield Finding(path, "hidden", f"U+{ord(char):04X} {name}".strip())
    for number, match in enumerate(_WORD.finditer(text)):
        if number == _MOST_WORDS:
            return
        if not match.group().isascii() and is_lookalike(match.group()):
            yield Finding(path, "lookalike", match.group()[:80])


def is_lookalike(word: str) -> bool:
    """
    Whether a word could be read as a Latin one that it is not.

    Either all of it is drawn as ASCII without being ASCII (full-width letters), or it mixes Latin
    letters with letters of another script that look like Latin ones.
    """
    plain = unicodedata.normalize("NFKC", word)
    if plain != word and plain.isascii() and any(map(_stands_for_ascii, word)):
        return True
    return bool(
        _LATIN.search(word)
        and confusables.is_mixed_script(word)
        and confusables.is_confusable(word, preferred_aliases=["latin"], greedy=False)
    )


def _stands_for_ascii(char: str) -> bool:
    """Whether a character is a letter, digit or sign of ASCII in another dress (not ², ½ or …)."""
    mark, _, code = unicodedata.decomposition(char).rpartition(" ")
    dressed = mark in {"<wide>", "<font>", "<small>", "<circle>", "<compat>", ""} and code != ""
    return dressed and 0x20 < int(code, 16) < 0x7F


def _is_picture(text: str, at: int) -> bool:
    """Whether there is a part of an emoji: a symbol, a skin tone, or the sign that colours it."""
    if not 0 <= at < len(text):
        return False
    return text[at] == "\ufe0f" or unicodedata.category(text[at]) in {"So", "Sk"}


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield (*path, key), key
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))
