"""Detection of look-alike words: UTS 39 confusables, and where they are ordinary."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import regex
from confusable_homoglyphs import categories
from confusable_homoglyphs.utils import load

#: Words of a text that are checked.
_MOST_WORDS = 20_000


def _ascii_readings() -> dict[str, str]:
    """Return the characters that look like ASCII, with the ASCII text."""
    readings: dict[str, str] = {}
    # The package's own module would keep all of it, 6 MB.
    for char, alternatives in load("confusables.json").items():
        plain = [item["c"] for item in alternatives if item["c"].isascii() and len(item["c"]) <= 2]
        if len(char) == 1 and not char.isascii() and plain:
            readings[char] = plain[0]
    return readings


def _dressed_as(char: str) -> str:
    """Return the ASCII character of a styled variant, e.g. full-width (not ², ½, ① …)."""
    mark, _, code = unicodedata.decomposition(char).rpartition(" ")
    if mark == "<circle>" and unicodedata.category(char) == "No":
        return ""
    dressed = mark in {"<wide>", "<font>", "<small>", "<circle>", "<compat>", ""} and code != ""
    return chr(int(code, 16)) if dressed and 0x20 < int(code, 16) < 0x7F else ""


READINGS = _ascii_readings()


def _among(pattern: str, readings: str | None = None) -> frozenset[str]:
    """Return matching confusables; only those that look like one of `readings`, if given."""
    chosen = regex.compile(pattern, regex.V1)
    return frozenset(
        char
        for char, reading in READINGS.items()
        if chosen.match(char) and (readings is None or reading in readings)
    )


def _one_of(chars: Iterable[str]) -> "re.Pattern[str]":
    return re.compile(f"[{re.escape(''.join(sorted(chars)))}]")


#: Scripts that are written next to Latin letters without a space, or from right to left.
_MIXABLE = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}"
    r"\p{Bidi_Class=R}\p{Bidi_Class=AL}"
)
_LETTER_LIKE = {
    char
    for char in _among(rf"[\p{{L}}--\p{{Latin}}--\p{{Common}}--[{_MIXABLE}]]")
    if READINGS[char].isalnum()
}
_LIKE_LETTER = _one_of(_LETTER_LIKE)
_LIKE_DIGIT = _among(r"\p{L}", "0123456789OoIl")
_LATIN_LIKE = {char for char in _among(r"\p{Latin}") if len(READINGS[char]) == 1}
#: Look like ASCII letters, but are ordinary in some languages, e.g. the Turkish dotless i.
_LIKE_LATIN = _one_of(_LATIN_LIKE)
#: Letters of phonetic alphabets that look like ASCII letters, e.g. U+0251 like a.
_PHONETIC = _one_of(
    char
    for char in _LATIN_LIKE
    if regex.match(
        r"[\p{Blk=IPA_Extensions}\p{Blk=Phonetic_Extensions}\p{Blk=Latin_Extended_C}"
        r"\p{Blk=Phonetic_Extensions_Supplement}\p{Blk=Latin_Extended_D}\p{Blk=Latin_Extended_E}]",
        char,
    )
)
_SIGNS = "/.:@-_?#&=%\\"
_LIKE_SIGN = _one_of(
    _among(r"[^\p{L}\p{N}\p{M}\s]", _SIGNS)
    | {char for char in map(chr, range(0x10000)) if _dressed_as(char) in tuple(_SIGNS)}
)
#: Inside only: Chinese and Japanese punctuation around an address is ordinary.
_SIGN_INSIDE = re.compile(rf"(?<=[!-~]){_LIKE_SIGN.pattern}+(?=[!-~])")
_LIKE_MIXABLE = _one_of(_among(rf"[[{_MIXABLE}]&&\p{{L}}]"))
_BETWEEN_LATIN = re.compile(f"(?<=[A-Za-z]){_LIKE_MIXABLE.pattern}(?=[A-Za-z])")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_EAST_ASIAN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
_CHUNK = regex.compile(r"\S+")
_SEGMENT = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_ADDRESS = regex.compile(
    r"\w@\w|://|^[\p{P}\p{S}]*(?:[\w-]+\.)+\p{L}{2,}[\p{P}\p{S}]*(?:[:/?#\\].*)?$"
)


def lookalikes(text: str, *, is_id: bool, scripts: frozenset[str]) -> Iterator[str]:
    """
    Yield the words of a text that look like other words.

    `is_id` is True for identifiers, which contain no prose. `scripts` are those of the value around
    the text (`scripts_of`).
    """
    if not _NOT_ASCII.search(text):
        return
    own = scripts_of(text)
    has_latin_words = any(word.isascii() for word in _words(text))
    # Some Russian words have look-alike letters only: the text around them decides.
    known_scripts = own if is_id or has_latin_words else own | scripts
    is_east_asian = bool(_EAST_ASIAN.search(text))
    for number, match in enumerate(_CHUNK.finditer(text)):
        if number == _MOST_WORDS:
            return
        chunk = match.group()
        if _NOT_ASCII.search(chunk) and _deceives(chunk, is_id, known_scripts, is_east_asian):
            yield chunk


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts other than Latin of letters that do not look like Latin ones."""
    letters = (char for char in set(text) - _LETTER_LIKE if not char.isascii() and char.isalpha())
    return frozenset(map(_script_of, letters))


def _deceives(chunk: str, is_id: bool, known_scripts: frozenset[str], is_east_asian: bool) -> bool:
    is_address = bool(_ADDRESS.search(_reading(chunk)))
    if _is_dressed_ascii(chunk) and (is_id or is_address or not is_east_asian):
        return True
    if (is_id or is_address) and _has_wrong_sign(chunk):
        return True
    if is_address:
        # For an address, only its own labels count.
        known_scripts = scripts_of(chunk)
    return any(_is_lookalike(word, known_scripts) for word in _SEGMENT.findall(chunk))


def _is_lookalike(word: str, known_scripts: frozenset[str]) -> bool:
    if word.isascii():
        return False
    if _ASCII_LETTER.search(word):
        mixed = (_LIKE_LETTER, _PHONETIC, _BETWEEN_LATIN)
        return any(pattern.search(word) for pattern in mixed)
    return _is_false_number(word, known_scripts) or _is_whole_script(word, known_scripts)


def _is_whole_script(word: str, known_scripts: frozenset[str]) -> bool:
    """Return True if all letters are of a non-Latin script and look Latin."""
    letters = [char for char in word if char.isalpha()]
    if not letters or not _LETTER_LIKE.issuperset(letters):
        return False
    return not {_script_of(char) for char in letters} <= known_scripts


def _is_false_number(word: str, known_scripts: frozenset[str]) -> bool:
    """Return True if digits are mixed with look-alike letters or digits of another script."""
    digits = [char for char in word if char.isdecimal()]
    letters = [char for char in word if char.isalpha()]
    if len({_script_of(char) for char in digits}) > 1:
        return True
    if letters:
        is_followed = word[-1].isdecimal() or len(letters) > 1
        return (
            bool(digits)
            and all(char in _LIKE_DIGIT for char in letters)
            and (is_followed or READINGS[letters[0]] in "OoIl")
        )
    foreign = bool(digits) and not word.isascii() and all(char in READINGS for char in digits)
    return foreign and _script_of(digits[0]) not in known_scripts


def _has_wrong_sign(chunk: str) -> bool:
    """Return True if a sign or letter of an address or id looks like an ASCII one."""
    if _SIGN_INSIDE.search(chunk) or _LIKE_LATIN.search(chunk):
        return True
    return any(
        (_dressed_as(left).isalnum() and right.isascii())
        or (left.isascii() and _dressed_as(right).isalnum())
        for left, right in pairwise(chunk)
    )


def _is_dressed_ascii(chunk: str) -> bool:
    """Return True if all of it looks like ASCII but is not, as full-width letters do."""
    plain = unicodedata.normalize("NFKC", chunk)
    return plain != chunk and plain.isascii() and any(map(_dressed_as, chunk))


def _reading(chunk: str) -> str:
    return unicodedata.normalize("NFKC", "".join(READINGS.get(char, char) for char in chunk))


def _words(text: str) -> Iterator[str]:
    return (match.group() for match in regex.finditer(r"[^\W\d_]{2,}", text))


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    return str(categories.alias(char))
