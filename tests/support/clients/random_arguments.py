"""Random arguments of calls: JSON that languages read and write in different ways."""

import math
import random
from typing import Any

_NUMBERS = (
    *(0, -1, 2**53 - 1, -(2**53) + 1, 0.1, -0.0, 1e21, 1e-7, 1e20, 1e16, 123456789012345680.0),
    *(5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e-6, 333333333.3333332, 4.0),
)
_TEXTS = (
    *("", "null", "1", "é", "e\u0301", "\u2028\u2029", '"\\/', "\x00", "\x7f\x1f\t\n", "\ufeff"),
    *("\u202eevil", "\uff04", "\uffff", "😀", "\U0010ffff", "</script>", "\\ud83d", "x" * 300),
)
#: Languages give some of these names a meaning or an order of their own.
_NAMES = (
    *("a", "b", "10", "9", "__proto__", "constructor", "toString", "length"),
    *("", "é", "😀", "\ufb33"),
)


def random_arguments(source: random.Random) -> dict[str, Any]:
    """Return a JSON object with up to four members; it may be nested."""
    return _random_object(source, 4)


def _random_value(source: random.Random, depth: int) -> Any:
    kinds = _LEAVES if depth == 0 else (*_LEAVES, _random_array, _random_object)
    return source.choice(kinds)(source, depth - 1)


def _random_array(source: random.Random, depth: int) -> list[Any]:
    return [_random_value(source, depth) for _ in range(source.randrange(4))]


def _random_object(source: random.Random, depth: int) -> dict[str, Any]:
    names = source.sample(_NAMES, source.randrange(5))
    return {name: _random_value(source, depth) for name in names}


def _random_choice(source: random.Random, _: int) -> Any:
    return source.choice((None, True, False, *_NUMBERS, *_TEXTS))


def _random_number(source: random.Random, _: int) -> float:
    """Return an integer that every language has, or a float with any exponent."""
    if source.randrange(2):
        return source.randrange(-(2**53) + 1, 2**53)
    number = math.ldexp(source.uniform(-1, 1), source.randrange(-1070, 1024))
    return number if source.randrange(2) else round(number, 2)


def _random_text(source: random.Random, _: int) -> str:
    codes = [source.randrange(source.choice((0x80, 0x110000))) for _ in range(source.randrange(6))]
    # Half of a character is no text.
    return "".join(chr(0x20 if 0xD800 <= code < 0xE000 else code) for code in codes)


_LEAVES = (_random_choice, _random_choice, _random_number, _random_text)
