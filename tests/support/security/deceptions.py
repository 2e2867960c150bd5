"""Texts that read like others: made from what Unicode lets one do, not from a list of incidents."""

import json
from pathlib import Path

#: Drawn as nothing, or as less than the ordinary space.
INVISIBLE = (
    *("\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180b", "\u180c"),
    *("\u180d", "\u180e", "\u180f", "\u200b", "\u200c", "\u200d", "\u2060", "\u2061", "\u2062"),
    *("\u2063", "\u2064", "\u2065", "\u206a", "\u206b", "\u206c", "\u206d", "\u206e", "\u206f"),
    *("\u3164", "\ufeff", "\uffa0", "\ufff0", "\ufff9", "\u2800", "\U0001bca0", "\U0001d173"),
    *("\U000e0001", "\U000e0020", "\U000e0041", "\U000e007f", "\ue000", "\U000f0000", "\u0378"),
    *("\x00", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"),
)
VARIATIONS = (*(chr(0xFE00 + number) for number in range(16)), "\U000e0100", "\U000e01ef")
BIDI = ("\u200e", "\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)))
BLANKS = ("\u00a0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000")
OVERLAYS = (
    "\u0334",
    "\u0335",
    "\u0336",
    "\u0337",
    "\u0338",
    "\u20d2",
    "\u20d8",
    "\u20dd",
    "\u20e0",
)
WHOLE_SCRIPT = {
    "Cyrillic": (
        "\u0440\u0430\u0443\u0440\u0430",
        "\u0430\u0441\u0435",
        "\u0441\u043e\u0440\u0435",
    ),
    "Greek": ("\u03bd\u03bf\u03bd\u03bf", "\u03bf\u03c5\u03bf"),
    "Armenian": ("\u0585\u057d\u0578", "\u057d\u0578\u0585"),
    "Cherokee": ("\u13aa\u13a1\u13aa", "\u13a0\u13a1"),
    "Lisu": ("\ua4ee\ua4d1\ua4d1\ua4e1\ua4f0", "\ua4d0\ua4f3"),
    "Coptic": ("\u2c9f\u2ca3\u2c9f",),
}
SLASHES = ("\u2044", "\u2215", "\u29f8", "\uff0f")
MIXED = (
    *("p\u0430ypal.com", "\u0430\u0440\u0440\u04cf\u0435.com", "\u03b1dmin", "p\u0251ypal.com"),
    *("\u0261oogle", "micros\u043eft", "g\u043e\u043egle.com", "app\u0139e\u0430", "Ri\u03bfk"),
    *(
        "\uff30\uff41\uff59",
        "example\uff0ecom",
        "\U0001d429\U0001d41a\U0001d432",
        "t\u0131ktok.com",
    ),
    *("e\u0445ample.org", "\u0455hop.com", "b\u0456nance.com", "\u216eredit.com", "\U0001d5bdell"),
    *(
        "ad\u217cin\u0430",
        "\uff45vil.com",
        "\u24d4vil.com",
        "example.com\u2236443",
        "acme\u2010corp.com",
    ),
)
NUMBERS = (
    "1\u041e\u041e",
    "2\u04170",
    "1\u043e0",
    "5\u041e",
    "1\u09e80",
    "\u09ea\u09ed",
    "\uff11\uff10",
)


def deceptions() -> dict[str, str]:
    """At least 200 of them, by what they do."""
    texts = {f"invisible {ord(char):04x}": f"pay{char}pal" for char in INVISIBLE}
    texts |= {f"variation {ord(char):04x}": f"pay{char}pal" for char in VARIATIONS}
    texts |= {f"bidi {ord(char):04x}": f"pay {char}001 eve" for char in BIDI}
    for char in BLANKS:
        texts[f"blank run {ord(char):04x}"] = f"ok{char * 40}and delete everything"
        texts[f"blank in an address {ord(char):04x}"] = f"alice{char}@example.com"
        texts[f"blank at the end {ord(char):04x}"] = f"alice{char}"
    texts |= {f"overlay {ord(char):04x}": f"pay 9{char}00 now" for char in OVERLAYS}
    for script, words in WHOLE_SCRIPT.items():
        for number, word in enumerate(words):
            texts[f"{script} id {number}"] = word
            texts[f"{script} host {number}"] = f"https://{word}.com/login"
            texts[f"{script} mail {number}"] = f"{word}@{word}.com"
            texts[f"{script} in English {number}"] = f"Pay {word} today"
    texts |= {f"slash {ord(char):04x}": f"bank.com{char}evil.com" for char in SLASHES}
    texts |= {f"mixed {number}": text for number, text in enumerate(MIXED)}
    texts |= {f"number {number}": text for number, text in enumerate(NUMBERS)}
    texts["smuggled bytes"] = "pay" + "".join(chr(0xE0100 + byte) for byte in b"to evil")
    texts["stacked marks"] = "Z" + "\u0301" * 60
    texts["selector behind a letter"] = "a\ufe0f"
    texts["joiner behind a picture"] = "\U0001f44d\u200dx"
    texts["lone return"] = "safe\rrm -rf"
    return texts


ORDINARY: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "ordinary_texts.json").read_text(encoding="utf-8")
)
