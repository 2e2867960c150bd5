"""An interrupt's metadata as labelled facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from inbox.forms.values import label_of
from inbox.rules.runs.proposals import Proposal, is_call
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text

#: More facts than this are displayed as JSON.
_MOST = 60
_DEEPEST = 3
#: Names of members that contain code, and of those that rate a risk.
_CODE = re.compile(r"query|sql|code|script|command|diff|patch", re.IGNORECASE)
_RISK = re.compile(r"risk(_?level)?|severity", re.IGNORECASE)
_TONES = {
    "critical": "bad",
    "high": "bad",
    "severe": "bad",
    "medium": "warn",
    "moderate": "warn",
    "low": "ok",
}
#: Members that are displayed elsewhere or only route the interrupt.
_ELSEWHERE = {
    "kind", "responseSchema", "response_schema", "inputSchema", "expiresAt", "expires_at",
    "signoff",
}  # fmt: skip


#: The metadata members in which readers of older dialects store the agent's own values.
_DIALECTS = {"draft": ("payload",), "langgraph": ("value", "raw")}
#: The draft's own members beside `payload`; the page displays them elsewhere.
_DRAFT = {"id", "reason", "type"}


@dataclass(frozen=True)
class Fact:
    """One value with its label; `look` is "text", "code" or "badge"."""

    label: str
    text: str
    look: str = "text"
    tone: str = ""  #: of a badge


def facts_of(interrupt: Mapping[str, Any], proposal: Proposal | None) -> list[Fact]:
    """
    Return the metadata of an AG-UI Interrupt, masked: risks first, then in the agent's order.

    The message, and proposed values that have a field in the form, are left out.
    """
    metadata = interrupt.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata:
        return []
    in_form = frozenset(proposal.values) if proposal and proposal.is_flat else frozenset()
    message = interrupt.get("message")
    displayed_metadata = NAMES.masked(_flattened(metadata, in_form, message))
    facts = sorted(_facts(displayed_metadata, ()), key=lambda fact: fact.look != "badge")
    return (
        facts
        if len(facts) <= _MOST
        else [Fact(gettext("Details"), json_text(displayed_metadata), "code")]
    )


def _flattened(
    metadata: Mapping[str, Any], in_form: frozenset[str], message: Any
) -> dict[str, Any]:
    """
    Return the metadata with the values of older dialects moved to the top level.

    A name that is already in use there gets its dialect as a prefix.
    """
    facts: dict[str, Any] = {
        name: value
        for name, value in metadata.items()
        if name not in (*_ELSEWHERE, *_DIALECTS) and not _is_message(name, value, message)
    }
    for name, places in _DIALECTS.items():
        value = metadata.get(name)
        if not isinstance(value, Mapping):
            facts |= {} if value is None else {name: value}
            continue
        place = next((place for place in places if place in value), None)
        beside = {place, *_DRAFT} if name == "draft" else {place}
        if remaining_members := {key: item for key, item in value.items() if key not in beside}:
            facts[name] = remaining_members
        values = _without_question(value.get(place), in_form, message)
        facts |= {key: item for key, item in values.items() if key not in facts} | {
            f"{name} {key}": item for key, item in values.items() if key in facts
        }
    return facts


def _is_message(name: str, value: Any, message: Any) -> bool:
    """Return True for the interrupt's message, which the page displays as its title."""
    return name in ("message", "question", "prompt", "description") and value == message


def _without_question(value: Any, in_form: frozenset[str], message: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        # A plain text is the message itself.
        return {} if value is None or isinstance(value, str) else {"payload": value}
    hidden = {*_ELSEWHERE, *in_form}
    return {
        name: item
        for name, item in value.items()
        if name not in hidden
        and not _is_message(name, item, message)
        and not (name == "proposal" and is_call(item))
    }


def _facts(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Fact]:
    for name, item in value.items():
        label = (*path, label_of(name))
        if isinstance(item, Mapping) and item and len(label) < _DEEPEST:
            yield from _facts(item, label)
        else:
            yield _fact(name, " / ".join(label), item)


def _fact(name: str, label: str, value: Any) -> Fact:
    if isinstance(value, str):
        text = escape_invisible(value)
        if _RISK.fullmatch(name):
            return Fact(label, text, "badge", _TONES.get(value.strip().lower(), "line"))
        return Fact(label, text, "code" if _CODE.fullmatch(name) else "text")
    if isinstance(value, bool):
        return Fact(label, gettext("Yes") if value else gettext("No"))
    if value is None:
        return Fact(label, gettext("No value"))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return Fact(label, "\n".join(map(escape_invisible, value)))
    return Fact(label, json_text(value), "code" if isinstance(value, dict | list) else "text")
