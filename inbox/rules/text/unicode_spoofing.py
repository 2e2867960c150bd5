"""Detection of Unicode spoofing: invisible, reordering, overlaid and look-alike characters."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import idna
import regex

from inbox.rules.text.confusables import lookalikes, scripts_of

#: Characters that may be invisible: controls, format, private and unassigned characters, everything
#: that Unicode allows fonts to omit, every space but the ordinary one, the Braille blank.
HIDDEN_CANDIDATES = regex.compile(
    r"[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[\n\t\x20]]", regex.V1
)
#: Contexts in which they are ordinary: emoji, the flags of England, Scotland and Wales, and spaces
#: that typographers use: French punctuation, numbers, indented Japanese paragraphs.
_FLAGS = "|".join(
    "".join(chr(0xE0000 + ord(char)) for char in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_WIDE = r"[[\p{East_Asian_Width=W}\p{East_Asian_Width=F}]--\u3000]"
_ORDINARY = regex.compile(
    rf"""
    (?<=[\p{{Emoji}}--[\x00-\x7f]])\ufe0f
    | (?<=[0-9#*])\ufe0f(?=\u20e3)
    | (?<=[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}\ufe0f])
      \u200d(?=\p{{Extended_Pictographic}})
    | (?<=\U0001f3f4)(?:{_FLAGS})
    | (?<![^\n]|\u3000)\u3000(?={_WIDE})
    | (?<={_WIDE})\u3000(?=\S)
    | (?<=[\d\p{{Pi}}\p{{Pd}}:;!?\u2116\xa7\xb0])[\u00a0\u202f\u2007\u2009]
      (?=[\w\p{{Sc}}%\u2030\xb0(])
    | (?<=[\w\p{{Pe}}\p{{Pf}}"'.,%\u2026])[\u00a0\u202f]
      (?=[:;!?%\u2030\xb0\p{{Pf}}\p{{Pd}}\p{{Sc}}])
    | \r(?=\n)
    """,
    regex.V1 | regex.VERBOSE,
)
#: Without a number or a sign beside it, only between words of a sentence.
_BETWEEN_WORDS = regex.compile(r"(?<=[\w.,'\p{Pf}])[\u00a0\u202f](?=[\w\p{Pi}\"(])")
_JOINERS = "\u200c\u200d"
_OVERLAY = regex.compile(
    r"[\p{Canonical_Combining_Class=1}\p{Me}]"
    r"|[[\p{Mn}&&\p{Script=Inherited}]--\p{Default_Ignorable_Code_Point}]{3,}|\p{M}{6,}",
    regex.V1,
)
_KEYCAP = regex.compile(r"(?<=[0-9#*]\ufe0f?)\u20e3")
_NOT_PLAIN = regex.compile(r"[^\x20-\x7e\n\t]")
#: Keys whose values are identifiers, not prose.
_ID_WORDS = frozenset(
    (
        *("account", "bcc", "branch", "cc", "command", "domain", "email", "file", "from", "host"),
        *("hostname", "iban", "id", "ids", "key", "login", "mail", "path", "payee", "recipient"),
        *("recipients", "repo", "repository", "sender", "server", "to", "tool", "uri", "url"),
        *("user", "username"),
    )
)
_KEY_WORD = regex.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: The maximum number of findings.
MOST = 50

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Finding:
    """One suspicious place."""

    path: Path  #: keys and positions from the root
    kind: str  #: "hidden", "overlay", "lookalike"
    what: str  #: "U+202E RIGHT-TO-LEFT OVERRIDE", or the word with its look-alikes


def is_invisible(text: str, at: int) -> bool:
    """Return True if the character at this index is invisible."""
    if not HIDDEN_CANDIDATES.match(text, at):
        return False
    # A flag is the longest of the ordinary sequences, 6 characters after its base.
    for start in range(max(0, at - 5), at + 1):
        match = _ORDINARY.match(text, start)
        if match and match.end() > at:
            return False
    if text[at] in _JOINERS:
        return not _is_joiner_of_script(text, at)
    return not (_BETWEEN_WORDS.match(text, at) and _is_prose(text, at))


def find_spoofing(value: Any) -> list[Finding]:
    """Return the suspicious places of a JSON value, keys included; at most MOST."""
    texts = [(path, text) for path, text in _texts(value, ()) if _NOT_PLAIN.search(text)]
    scripts = frozenset[str]().union(*(scripts_of(text) for _, text in texts))
    findings: dict[Finding, None] = {}
    for path, text in texts:
        for finding in _in_text(path, text, scripts):
            findings[finding] = None
            if len(findings) == MOST:
                return list(findings)
    return list(findings)


def cached_findings(key: str, value: Callable[[], Any]) -> list[Finding]:
    """Return the findings of a value, cached per process; it must not change under its key."""
    remembered = _remembered(key)
    if not remembered:
        remembered.append(find_spoofing(value()))
    return remembered[0]


@lru_cache(maxsize=2_000)
def _remembered(_key: str) -> list[list[Finding]]:
    return []


def _in_text(path: Path, text: str, scripts: frozenset[str]) -> Iterator[Finding]:
    for match in HIDDEN_CANDIDATES.finditer(text):
        if is_invisible(text, match.start()):
            yield Finding(path, "hidden", _name(match.group()))
    for match in _OVERLAY.finditer(text):
        if len(match.group()) > 1 or _covers(text, match.start()):
            yield Finding(path, "overlay", _name(match.group()[0]))
    for word in lookalikes(text, is_id=_is_id(path), scripts=scripts):
        yield Finding(path, "lookalike", word[:80])


def _name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()


def _covers(text: str, at: int) -> bool:
    """Return True if marks drawn over a letter make it unreadable or like another one."""
    if _KEYCAP.match(text, at):
        return False
    # ≠ may be written as = and a bar: the two are one character.
    return len(unicodedata.normalize("NFC", text[max(0, at - 1) : at + 1])) > 1 or at == 0


def _is_joiner_of_script(text: str, at: int) -> bool:
    """Return True if a joiner affects letters, as in Hindi and Persian (RFC 5892, A.1)."""
    try:
        return idna.core.valid_contextj(text, at)
    except ValueError:  # Unicode has no data about a neighbour
        return False


def _is_prose(text: str, at: int) -> bool:
    chunk = text[text.rfind(" ", 0, at) + 1 :].partition(" ")[0]
    return " " in text and "@" not in chunk and "://" not in chunk


def _is_id(path: Path) -> bool:
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    return any(word.lower() in _ID_WORDS for word in _KEY_WORD.findall(name))


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield (*path, key), key
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))
