"""Headings of requests: from facts, from the agent's author, or from a team's templates."""

import re
from collections.abc import Mapping
from typing import Any

from inbox.rules.errors import InvalidValue
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.runs.states import Reason
from inbox.rules.schema.secrets import is_mask
from inbox.rules.text.messages import TranslatableMessage

MAX_HEADING_CHARACTERS = 300
#: The number of heading templates of a team.
MAX_HEADINGS = 100
MAX_NAME_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 200
#: A placeholder for an argument in a template: "Refund {amount} {currency}".
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_MAX_ARGUMENTS = 3
_MAX_ARGUMENT_CHARACTERS = 40
#: A message is the text of a model if one argument makes up more than this share of it.
_MAX_ARGUMENT_SHARE = 0.6
_MIN_ARGUMENT_CHARACTERS = 12
#: The visible spaces other than the plain one, such as the no-break space.
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def check_headings(templates: Mapping[str, str]) -> None:
    """
    Raise InvalidValue unless a team may have these templates, by the name of a tool or a reason.

    The only braces in a template are around names of arguments.
    """
    if len(templates) > MAX_HEADINGS:
        raise InvalidValue(
            TranslatableMessage("A team can have at most {most} headings.", most=MAX_HEADINGS),
        )
    for name, text in templates.items():
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
        elif re.search(r"[{}]", _PLACEHOLDER.sub("", text)):
            problem = TranslatableMessage(
                "The heading of {name} has braces that do not name an argument, as {example} does.",
                name=name,
                example="{amount}",
            )
        else:
            continue
        raise InvalidValue(problem)


def _is_line(text: str, max_length: int) -> bool:
    is_visible = _SPACE.sub(" ", text).isprintable()
    return 1 <= len(text) <= max_length and is_visible and text == text.strip()


def heading_of(
    *,
    reason: str,
    message: str,
    is_operators: bool,
    tool: str,
    values: Mapping[str, Any],
    templates: Mapping[str, str] | None = None,
) -> str:
    """
    Return the heading; sentences of a remote agent or of a model are never used.

    `templates` are those of the team's administrators. A template is only used if all its
    arguments are present as short values: an agent could omit the important ones.

    `is_operators` means that the agent's code runs in the worker, so its author wrote the message.
    `values` are the arguments of the call, or other values proposed for `tool`, with masks.
    """
    if reason != Reason.OUTCOME_UNKNOWN and (
        filled := _fill_template(templates or {}, tool, reason, values)
    ):
        return filled[:MAX_HEADING_CHARACTERS]
    text = " ".join(message.split())
    if text and (reason == Reason.OUTCOME_UNKNOWN or (is_operators and not _repeats(text, values))):
        return text[:MAX_HEADING_CHARACTERS]
    if not tool:
        return str(reason_name(reason))[:MAX_HEADING_CHARACTERS]
    if reason == Reason.TOOL_CALL or reason.startswith("draft:"):
        return call_heading(tool, values)
    return f"{reason_name(reason)}: {tool}"[:MAX_HEADING_CHARACTERS]


def call_heading(tool: str, values: Any) -> str:
    """Return a heading made of a tool's name and its arguments, with masks."""
    named = values if isinstance(values, Mapping) else {}
    return f"Call {tool}{_distinguishing_values(named)}"[:MAX_HEADING_CHARACTERS]


def _repeats(text: str, values: Mapping[str, Any]) -> bool:
    """Return whether a message is little more than one argument, which a model wrote."""
    texts = (" ".join(value.split()) for value in values.values() if isinstance(value, str))
    return any(
        len(value) >= _MIN_ARGUMENT_CHARACTERS
        and value in text
        and len(value) > _MAX_ARGUMENT_SHARE * len(text)
        for value in texts
    )


def _fill_template(
    templates: Mapping[str, str], tool: str, reason: str, values: Mapping[str, Any]
) -> str | None:
    """Return the filled template for a tool or a reason, None without one that can be filled."""
    text = next(
        (
            _SPACE.sub(" ", templates[name])
            for name in (tool, reason, reason.rpartition(":")[2])
            if name and name in templates
        ),
        None,
    )
    if text is None:
        return None
    names = set(_PLACEHOLDER.findall(text))
    if not all(name in values and _is_short(values[name]) for name in names):
        return None
    return _PLACEHOLDER.sub(lambda match: _value_text(values[match.group(1)]), text)


def _distinguishing_values(values: Mapping[str, Any]) -> str:
    """Return the first short values in parentheses, to distinguish requests for one tool."""
    short = [
        f"{name} {_value_text(value)}"
        for name, value in values.items()
        if _is_short(value) and not is_mask(str(value))
    ]
    return f" ({', '.join(short[:_MAX_ARGUMENTS])})" if short else ""


def _is_short(value: Any) -> bool:
    return (
        isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _MAX_ARGUMENT_CHARACTERS
        and "\n" not in str(value)
    )


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
