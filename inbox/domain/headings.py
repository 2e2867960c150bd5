"""The heading of a request: facts, and texts that the operator wrote."""

import re
from collections.abc import Mapping
from typing import Any

from inbox.domain.masks import is_mask
from inbox.domain.states import Reason

LONGEST_HEADING = 300
_MOST_ARGUMENTS = 3
_LONGEST_ARGUMENT = 40
#: A message of which so much is one argument is what a model wrote into it.
_MOST_OF_IT = 0.6
_SHORTEST_WORDS = 12
_OF_REASON: dict[str, str] = {
    Reason.INPUT_REQUIRED: "Question",
    Reason.CONFIRMATION: "Confirmation",
    Reason.OUTCOME_UNKNOWN: "Outcome unknown",
}


def heading_of(
    *, reason: str, message: str, is_operators: bool, tool: str, values: Mapping[str, Any]
) -> str:
    """
    Return the heading; what comes over the wire or from a model is never in it as a sentence.

    `is_operators` says that the agent's own code runs in the worker, so that the message is a text
    of its author, with values filled in. `values` are the arguments of the call, or what else is
    proposed for `tool`, with masks in the places of secrets.
    """
    text = " ".join(message.split())
    if text and (reason == Reason.OUTCOME_UNKNOWN or (is_operators and not _repeats(text, values))):
        return text[:LONGEST_HEADING]
    if not tool:
        return (_OF_REASON.get(reason) or _in_words(reason))[:LONGEST_HEADING]
    if reason == Reason.TOOL_CALL or reason.startswith("draft:"):
        return f"Call {tool}{_told(values)}"[:LONGEST_HEADING]
    return f"{_OF_REASON.get(reason) or _in_words(reason)}: {tool}"[:LONGEST_HEADING]


def _repeats(text: str, values: Mapping[str, Any]) -> bool:
    """Whether a message is little more than one argument of the call, which a model wrote."""
    texts = (" ".join(one.split()) for one in values.values() if isinstance(one, str))
    return any(
        len(value) >= _SHORTEST_WORDS and value in text and len(value) > _MOST_OF_IT * len(text)
        for value in texts
    )


def _told(values: Mapping[str, Any]) -> str:
    """The first short values, by which requests of one tool are told apart."""
    short = [
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in values.items()
        if isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _LONGEST_ARGUMENT
        and "\n" not in str(value)
        and not is_mask(str(value))
    ]
    return f" ({', '.join(short[:_MOST_ARGUMENTS])})" if short else ""


def _in_words(reason: str) -> str:
    """A reason without its namespace, as words: "Refund approval"."""
    name = reason.rpartition(":")[2] or reason
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:] if text else reason
