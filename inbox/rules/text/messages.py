"""Sentences that pages show in the reader's language, and machines get in English."""

from typing import Any


class Sentence(str):
    """
    An English sentence that remembers its pattern: `Sentence("{who} has this.", who="Bob")`.

    It is the filled-in text wherever a text is wanted; only pages ask for the pattern.
    """

    pattern: str
    values: dict[str, Any]

    def __new__(cls, pattern: str, /, **values: Any) -> "Sentence":
        sentence = super().__new__(cls, pattern.format(**values))
        sentence.pattern = pattern
        sentence.values = values
        return sentence
