"""The heading of a request: facts, and texts that the operator wrote."""

import re
from collections.abc import Mapping
from typing import Any

from inbox.rules.errors import InvalidValue
from inbox.rules.runs.states import Reason
from inbox.rules.schema.secrets import is_mask
from inbox.rules.text.messages import TranslatableMessage

MAX_HEADING_CHARACTERS = 300
#: Of the headings that administrators write.
MAX_HEADINGS = 100
MAX_NAME_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 200
#: The name of an argument in such a heading: "Refund {amount} {currency}".
_PLACE = re.compile(r"\{([^{}]+)\}")
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


def check_headings(written: Mapping[str, str]) -> None:
    """
    Raise InvalidValue unless a team may have these headings, by the name of a tool or a kind.

    The texts may name arguments in braces, and have no other braces.
    """
    if len(written) > MAX_HEADINGS:
        raise InvalidValue(
            TranslatableMessage("A team can have at most {most} headings.", most=MAX_HEADINGS),
        )
    for name, text in written.items():
        if not _is_line(name, MAX_NAME_CHARACTERS) or "=" in name:
            problem = TranslatableMessage(
                "A heading belongs to a tool or a kind: 1 to {most} visible characters, without =.",
                most=MAX_NAME_CHARACTERS,
            )
        elif not _is_line(text, MAX_TEXT_CHARACTERS):
            problem = TranslatableMessage(
                "The heading of {name} must have 1 to {most} visible characters in one line.",
                name=name,
                most=MAX_TEXT_CHARACTERS,
            )
        elif re.search(r"[{}]", _PLACE.sub("", text)):
            problem = TranslatableMessage(
                "The heading of {name} has braces that do not name an argument, as {example} does.",
                name=name,
                example="{amount}",
            )
        else:
            continue
        raise InvalidValue(problem)


def _is_line(text: str, longest: int) -> bool:
    return 1 <= len(text) <= longest and text.isprintable() and text == text.strip()


def heading_of(
    *,
    reason: str,
    message: str,
    is_operators: bool,
    tool: str,
    values: Mapping[str, Any],
    written: Mapping[str, str] | None = None,
) -> str:
    """
    Return the heading; what comes over the wire or from a model is never in it as a sentence.

    `written` are the headings that the team's administrators have written. One whose arguments are
    not all there, as short values, is not used: an agent could leave out what matters.

    `is_operators` says that the agent's own code runs in the worker, so that the message is a text
    of its author, with values filled in. `values` are the arguments of the call, or what else is
    proposed for `tool`, with masks in the places of secrets.
    """
    if reason != Reason.OUTCOME_UNKNOWN and (
        filled := _filled(written or {}, tool, reason, values)
    ):
        return filled[:MAX_HEADING_CHARACTERS]
    text = " ".join(message.split())
    if text and (reason == Reason.OUTCOME_UNKNOWN or (is_operators and not _repeats(text, values))):
        return text[:MAX_HEADING_CHARACTERS]
    if not tool:
        return (_OF_REASON.get(reason) or _in_words(reason))[:MAX_HEADING_CHARACTERS]
    if reason == Reason.TOOL_CALL or reason.startswith("draft:"):
        return f"Call {tool}{_told(values)}"[:MAX_HEADING_CHARACTERS]
    return f"{_OF_REASON.get(reason) or _in_words(reason)}: {tool}"[:MAX_HEADING_CHARACTERS]


def _repeats(text: str, values: Mapping[str, Any]) -> bool:
    """Whether a message is little more than one argument of the call, which a model wrote."""
    texts = (" ".join(one.split()) for one in values.values() if isinstance(one, str))
    return any(
        len(value) >= _SHORTEST_WORDS and value in text and len(value) > _MOST_OF_IT * len(text)
        for value in texts
    )


def _filled(
    written: Mapping[str, str], tool: str, reason: str, values: Mapping[str, Any]
) -> str | None:
    """The administrators' heading for a tool or a kind, None without one that can be filled in."""
    text = next(
        (
            written[name]
            for name in (tool, reason, reason.rpartition(":")[2])
            if name and name in written
        ),
        None,
    )
    if text is None:
        return None
    places = set(_PLACE.findall(text))
    if not all(name in values and _is_short(values[name]) for name in places):
        return None
    return _PLACE.sub(lambda place: _spelled(values[place.group(1)]), text)


def _told(values: Mapping[str, Any]) -> str:
    """The first short values, by which requests of one tool are told apart."""
    short = [
        f"{name} {_spelled(value)}"
        for name, value in values.items()
        if _is_short(value) and not is_mask(str(value))
    ]
    return f" ({', '.join(short[:_MOST_ARGUMENTS])})" if short else ""


def _is_short(value: Any) -> bool:
    return (
        isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _LONGEST_ARGUMENT
        and "\n" not in str(value)
    )


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _in_words(reason: str) -> str:
    """A reason without its namespace, as words: "Refund approval"."""
    name = reason.rpartition(":")[2] or reason
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:] if text else reason
