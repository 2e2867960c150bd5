"""Presentations that a team chooses for tools, whatever their agents say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from inbox.rules.errors import InvalidValue
from inbox.rules.presentations.registry import PresentationName, roles_of
from inbox.rules.presentations.vocabulary import (
    MAX_MINOR_UNIT,
    ValueHint,
    ValueType,
    hints_of,
    is_minor_unit,
)
from inbox.rules.text.messages import TranslatableMessage

MAX_TOOL_PRESENTATIONS: Final = 200  #: of a team
MAX_TOOL_CHARACTERS: Final = 200
MAX_ARGUMENTS: Final = 50
MAX_ARGUMENT_CHARACTERS: Final = 200
MAX_LABEL_CHARACTERS: Final = 80
MAX_UNIT_CHARACTERS: Final = 20
#: Characters that no database stores.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
#: The roles of all presentations.
ROLES: Sequence[str] = [
    *dict.fromkeys(role for name in PresentationName for role in roles_of(name))
]


@dataclass(frozen=True)
class ToolPresentation:
    """The presentation of a tool, "" to choose it by the call, and how to show its arguments."""

    kind: str = ""
    values: Mapping[str, ValueHint] = field(default_factory=dict)  #: by the argument's name

    def to_json(self) -> dict[str, Any]:
        """Return it in the words of `metadata.signoff.present`, without empty members."""
        values = {
            name: {
                member: text
                for member, text in (
                    ("label", hint.label),
                    ("type", hint.type.value if hint.type else ""),
                    ("unit", hint.unit),
                    ("role", hint.role),
                    ("minor_unit", hint.minor_unit),
                )
                if text not in ("", None)
            }
            for name, hint in self.values.items()
        }
        return {"kind": self.kind, "values": {name: item for name, item in values.items() if item}}


def tool_presentation_of(body: Mapping[str, Any]) -> ToolPresentation:
    """Return the presentation of a body that `check_tool_presentation` has accepted."""
    return ToolPresentation(str(body.get("kind") or ""), hints_of(body.get("values")))


def check_tool_presentation(tool: str, body: Mapping[str, Any]) -> None:
    """
    Raise InvalidValue unless a team may show the calls of a tool like this.

    `body` has `kind`, the name of a presentation or "", and `values`: by the name of an argument
    any of `label`, `type`, `unit`, `role` and `minor_unit`.
    """
    kind, values = body.get("kind", ""), body.get("values", {})
    if not _is_line(tool, MAX_TOOL_CHARACTERS):
        _refuse(
            "tool",
            TranslatableMessage(
                "Enter the name of a tool: 1 to {most} visible characters.",
                most=MAX_TOOL_CHARACTERS,
            ),
        )
    if kind and kind not in set(PresentationName):
        _refuse("kind", TranslatableMessage("There is no presentation {name}.", name=repr(kind)))
    if not kind and not any(values.values()):
        _refuse("kind", TranslatableMessage("Choose a presentation, or describe an argument."))
    if len(values) > MAX_ARGUMENTS:
        _refuse(
            "values",
            TranslatableMessage("At most {most} arguments can be described.", most=MAX_ARGUMENTS),
        )
    for name, hint in values.items():
        _check_hint(name, hint, kind)
    _check_roles_once(values)


def _check_hint(name: str, hint: Mapping[str, Any], kind: str) -> None:
    if not 1 <= len(name) <= MAX_ARGUMENT_CHARACTERS or _UNSTORABLE.search(name):
        message = TranslatableMessage(
            "The name of an argument has 1 to {most} characters.", most=MAX_ARGUMENT_CHARACTERS
        )
    elif not _is_blank_or_line(hint.get("label", ""), MAX_LABEL_CHARACTERS):
        message = TranslatableMessage(
            "The label of {name} can have at most {most} visible characters in one line.",
            name=name,
            most=MAX_LABEL_CHARACTERS,
        )
    elif not _is_blank_or_line(hint.get("unit", ""), MAX_UNIT_CHARACTERS):
        message = TranslatableMessage(
            "The unit of {name} can have at most {most} visible characters in one line.",
            name=name,
            most=MAX_UNIT_CHARACTERS,
        )
    elif hint.get("type", "") not in {"", *ValueType}:
        message = TranslatableMessage(
            "There is no type {type}, which {name} has.", type=repr(hint["type"]), name=name
        )
    elif "minor_unit" in hint and not is_minor_unit(hint["minor_unit"]):
        message = TranslatableMessage(
            "The decimals of {name} are a number from 0 to {most}.", name=name, most=MAX_MINOR_UNIT
        )
    elif hint.get("role", "") not in {"", *(roles_of(kind) if kind else ROLES)}:
        message = TranslatableMessage(
            "The presentation has no role {role}, which {name} has.",
            role=repr(hint["role"]),
            name=name,
        )
    else:
        return
    _refuse("values", message)


def _check_roles_once(values: Mapping[str, Mapping[str, str]]) -> None:
    seen: dict[str, str] = {}
    for name, hint in values.items():
        role = hint.get("role", "")
        if role and role in seen:
            _refuse(
                "values",
                TranslatableMessage(
                    "Only one argument can have the role {role}: {first} or {second}.",
                    role=repr(role),
                    first=seen[role],
                    second=name,
                ),
            )
        seen[role] = name


def _refuse(member: str, message: TranslatableMessage) -> None:
    raise InvalidValue(message, problems={member: [message]})


def _is_line(text: str, most: int) -> bool:
    return 1 <= len(text) <= most and text.isprintable() and text == text.strip()


def _is_blank_or_line(text: str, most: int) -> bool:
    return not text or _is_line(text, most)
