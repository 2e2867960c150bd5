"""Characters that hide, reorder or imitate."""

import pytest

from inbox.rules.text.unicode_spoofing import MOST, find_spoofing

SUSPICIOUS = {
    "right-to-left override": "pay \u202etxt.exe",
    "left-to-right isolate": "a\u2066b",
    "zero-width space": "admin\u200b@example.com",
    "zero-width joiner between letters": "ad\u200dmin",
    "word joiner": "a\u2060b",
    "byte order mark": "\ufeffid",
    "tag characters": "hello\U000e0041\U000e0042",
    "soft hyphen": "pay\u00adpal",
    "lone carriage return": "safe\rrm -rf",
    "escape": "\x1b[2K",
    "private use": "\ue000",
    "unassigned": "\u0378",
    "Hangul filler": "\u3164",
    "Braille blank": "a\u2800b",
    "line separator": "a\u2028b",
    "Cyrillic letter in a Latin word": "p\u0430ypal.com",
    "Cyrillic label in a host": "\u0440\u0430\u0443.com",
    "Greek letter in a Latin word": "\u03b1dmin",
    "full-width letters": "\uff30\uff41\uff59",
    "full-width full stop": "example\uff0ecom",
    "mathematical letters": "\U0001d429\U0001d41a\U0001d432",
}
HARMLESS = [
    "plain",
    "two\nlines\r\nand\ttabs",
    "na\u00efve Stra\u00dfe \u0141\u00f3d\u017a",
    "\u041c\u043e\u0441\u043a\u0432\u0430 \u0395\u03bb\u03bb\u03ac\u03b4\u03b1",
    "\u65e5\u672c\u8a9eABC \u4f60\u597d\uff0c\u4e16\u754c\uff1a",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u00bd \u2026 \u2122 m\u00b2 \u2116 5 \u20ac 5\u00a0000",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
]


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_a_character_that_hides_or_imitates_is_found_with_its_place(name: str) -> None:
    (finding, *_) = find_spoofing({"to": ["ok", SUSPICIOUS[name]]})

    assert finding.path == ("to", 1)


def test_a_suspicious_key_is_found_like_a_value() -> None:
    assert [finding.what for finding in find_spoofing({"a\u200b": 1})] == [
        "U+200B ZERO WIDTH SPACE"
    ]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_texts_of_any_language_are_not_suspected(text: str) -> None:
    assert find_spoofing({"text": text}) == []


def test_a_text_full_of_them_is_told_in_a_few_lines() -> None:
    assert len(find_spoofing(["".join(map(chr, range(0xE000, 0xE200)))])) == MOST
