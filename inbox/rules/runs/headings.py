"""Headings of requests: from facts, from the agent's author, or from a team's templates."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from inbox.rules.errors import InvalidValue
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.runs.states import Reason
from inbox.rules.schema.secrets import is_mask
from inbox.rules.text.labels import separate_words
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
_MAX_ACTING_CHARACTERS = 60
_MAX_TOOL_CHARACTERS = 60
#: An argument that has to share a heading with many others is cut to that many at least.
_MIN_TEXT_CHARACTERS = 5
#: The arguments that act, in the order of a heading; docs/inbox.md lists them. An agent can name
#: further ones, so all of them are in the heading, before any other argument.
ACTING_ARGUMENTS = (
    *("command", "cmd", "commands", "script", "shell", "code", "query", "sql", "statement"),
    *("to", "recipient", "recipients", "payee", "beneficiary", "email", "channel", "phone"),
    *("amount", "total", "price", "account", "iban", "path", "file_path", "file", "filename"),
    *("url", "uri", "host", "domain", "environment", "table", "database"),
)
#: A message is the text of a model if one argument makes up more than this share of it.
_MAX_ARGUMENT_SHARE = 0.6
_MIN_ARGUMENT_CHARACTERS = 12
#: Characters that no database stores.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
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
    agent: str,
    is_approval: bool,
    is_program: bool = False,
    templates: Mapping[str, str] | None = None,
) -> str:
    """
    Return the heading; sentences of a remote agent or of a model are never used.

    `templates` are those of the team's administrators. A template is only used if all its
    arguments are present, long ones cut: an agent could omit the important ones.

    `is_operators` means that the agent's code runs in the worker, so its author wrote the message.
    `is_approval` means that the answer approves or denies `tool`.
    `is_program` means that a program asks: the words of its question are quoted as its own.
    `values` are the arguments of the call, or other values proposed for `tool`, with masks.
    """
    if reason != Reason.OUTCOME_UNKNOWN and (
        filled := _fill_template(templates or {}, tool, reason, values)
    ):
        return filled[:MAX_HEADING_CHARACTERS]
    text = _line(message)
    if text and (reason == Reason.OUTCOME_UNKNOWN or (is_operators and not _repeats(text, values))):
        return text[:MAX_HEADING_CHARACTERS]
    if tool and (is_approval or reason.startswith("draft:")):
        return call_heading(tool, values)
    if is_program and text:
        return quoted_heading(agent, text)
    if tool:
        return f"{reason_name(reason)}: {tool}"[:MAX_HEADING_CHARACTERS]
    name = str(reason_name(reason))
    return f"Question from {agent}" if name == "Question" else name[:MAX_HEADING_CHARACTERS]


def quoted_heading(agent: str, words: str) -> str:
    """Return the heading of a program's question: its words, quoted as its own."""
    text = _line(words).replace('"', "'")
    return f'{agent}: "{_cut(text, MAX_HEADING_CHARACTERS - len(agent) - 4)}"'


def has_words(heading: str, words: str) -> bool:
    """Return whether a heading is this message, or quotes all of it."""
    text = _line(words)
    return heading == words or heading.endswith(': "{}"'.format(text.replace('"', "'")))


def call_heading(tool: str, values: Any) -> str:
    """
    Return a heading made of a tool's name and its arguments, with masks.

    The arguments that act are first, then others in the agent's order. Long ones are cut, never
    left out: otherwise an agent could choose what the heading shows.
    """
    named = values if isinstance(values, Mapping) else {}
    names = _acting_names(named)
    tool = _cut(tool, _MAX_TOOL_CHARACTERS)
    room = MAX_HEADING_CHARACTERS - len(f"Call {tool} (, …)")
    acting = _fitted(_argument_texts(named, names), room)
    others = _argument_texts(named, [name for name in named if name not in names])
    visible = [*acting, *others[: max(0, _MAX_ARGUMENTS - len(acting))]]
    while len(visible) > len(acting) and len(", ".join(visible)) > room:
        visible.pop()
    more = ["…"] if len(visible) < len(acting) + len(others) else []
    arguments = ", ".join([*visible, *more])
    return _cut(f"Call {tool} ({arguments})" if visible else f"Call {tool}", MAX_HEADING_CHARACTERS)


def _acting_names(values: Mapping[str, Any]) -> list[str]:
    """Return the arguments that act; further spellings of one, as in `to` and `To`, come last."""
    by_key: dict[str, list[str]] = {}
    for name in values:
        by_key.setdefault(_snake_case(name), []).append(name)
    spellings = [by_key[key] for key in ACTING_ARGUMENTS if key in by_key]
    first = [names[0] for names in spellings]
    return first + [name for names in spellings for name in names[1:]]


def _argument_texts(values: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    texts = [(name, _argument_text(values[name], _is_acting(name))) for name in names]
    return [f"{_cut(_line(name), 40)} {text}" for name, text in texts if text]


def _is_acting(name: str) -> bool:
    return _snake_case(name) in ACTING_ARGUMENTS


def _fitted(texts: Sequence[str], room: int) -> list[str]:
    """Return the texts with the longest ones cut, so that each of them has room."""
    most = max(map(len, texts), default=0)
    while most > _MIN_TEXT_CHARACTERS and len(", ".join(_cut(text, most) for text in texts)) > room:
        most -= 1
    return [_cut(text, most) for text in texts]


def _argument_text(value: Any, is_acting: bool) -> str:
    """Return the text of an argument in a heading; "" for masks, empty values and other objects."""
    if isinstance(value, list) and is_acting:
        value = ", ".join(_value_text(item) for item in value if _is_scalar(item))
    elif isinstance(value, Mapping) and is_acting:
        value = json.dumps(value, ensure_ascii=False)
    if not _is_scalar(value) or is_mask(str(value)):
        return ""
    most = _MAX_ACTING_CHARACTERS if is_acting else _MAX_ARGUMENT_CHARACTERS
    return _cut(_value_text(value), most)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _snake_case(name: str) -> str:
    return re.sub(r"[-\s]+", "_", separate_words(name, "_").lower())


def _line(text: str) -> str:
    """Return a text in one line, without what a database does not store."""
    return " ".join(_UNSTORABLE.sub("\ufffd", text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


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
    if not all(_is_scalar(values.get(name)) and str(values[name]).strip() for name in names):
        return None
    return _PLACEHOLDER.sub(
        lambda match: _cut(_value_text(values[match.group(1)]), _MAX_ACTING_CHARACTERS), text
    )


def _value_text(value: Any) -> str:
    return _line(value) if isinstance(value, str) else json.dumps(value)
