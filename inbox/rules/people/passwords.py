"""Passwords that consist of words about their user, the team or the product."""

import re
from collections.abc import Iterable
from typing import Final

MIN_PASSWORD_CHARACTERS: Final = 12
#: Characters that a password needs beside the words about its context.
_MIN_OTHER_CHARACTERS: Final = 8
_MIN_WORD_CHARACTERS: Final = 4


def is_built_of(password: str, texts: Iterable[str]) -> bool:
    """
    Return whether a password has few characters beside words of these texts.

    The case does not count, nor do words of fewer than four characters.
    """
    remaining_text = password.casefold()
    words = {word for text in texts for word in re.split(r"[\W_]+", text.casefold())}
    for word in sorted(words, key=len, reverse=True):
        if len(word) >= _MIN_WORD_CHARACTERS:
            remaining_text = remaining_text.replace(word, "")
    return len(remaining_text) < min(_MIN_OTHER_CHARACTERS, len(password))
