"""English messages that pages translate and the API sends unchanged."""

from typing import Any


class TranslatableMessage(str):
    """
    An English text that keeps its pattern: `TranslatableMessage("{who} has this.", who="Bob")`.

    As a `str` it is the filled-in English text; pages translate `pattern` and fill in `values`.
    """

    pattern: str
    values: dict[str, Any]

    def __new__(cls, pattern: str, /, **values: Any) -> "TranslatableMessage":
        message = super().__new__(cls, pattern.format(**values))
        message.pattern = pattern
        message.values = values
        return message
