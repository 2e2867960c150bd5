"""What an agent tells beside its question, as labelled facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from inbox.forms.values import label_of
from inbox.rules.runs.proposals import Proposal, is_call
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text

#: More facts than this are shown as JSON.
_MOST = 60
_DEEPEST = 3
#: Names under which agents give code, and those of a risk.
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
#: Shown in other places of the page: the question, its schema and what routes it.
_ELSEWHERE = {
    "kind", "responseSchema", "response_schema", "inputSchema", "expiresAt", "expires_at",
    "signoff",
}  # fmt: skip


#: Where the readers of older dialects keep what the agent said in its own words, and under what.
_DIALECTS = {"draft": ("payload",), "langgraph": ("value", "raw")}
#: The draft's own names beside these words; the page shows them as what they are.
_DRAFT = {"id", "reason", "type"}


@dataclass(frozen=True)
class Fact:
    """One value with its label; `look` is "text", "code" or "badge"."""

    label: str
    text: str
    look: str = "text"
    tone: str = ""  #: of a badge


def facts_of(asked: Mapping[str, Any], proposal: Proposal | None) -> list[Fact]:
    """
    What the metadata of an AG-UI Interrupt tell, masked: risks first, then in the agent's order.

    Values that stand in the form as proposed values are left out, and so is the question.
    """
    metadata = asked.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata:
        return []
    in_form = frozenset(proposal.values) if proposal and proposal.is_flat else frozenset()
    message = asked.get("message")
    shown = NAMES.masked(_told(metadata, in_form, message))
    facts = sorted(_facts(shown, ()), key=lambda fact: fact.look != "badge")
    return facts if len(facts) <= _MOST else [Fact(gettext("Details"), json_text(shown), "code")]


def _told(metadata: Mapping[str, Any], in_form: frozenset[str], message: Any) -> dict[str, Any]:
    """
    The metadata with the words of older dialects at the top, where people look for them.

    A name that stands there already goes below its dialect: nothing takes the place of another.
    """
    told: dict[str, Any] = {
        name: value
        for name, value in metadata.items()
        if name not in (*_ELSEWHERE, *_DIALECTS) and not _is_message(name, value, message)
    }
    for name, places in _DIALECTS.items():
        value = metadata.get(name)
        if not isinstance(value, Mapping):
            told |= {} if value is None else {name: value}
            continue
        place = next((place for place in places if place in value), None)
        beside = {place, *_DRAFT} if name == "draft" else {place}
        if rest := {key: item for key, item in value.items() if key not in beside}:
            told[name] = rest
        said = _without_question(value.get(place), in_form, message)
        told |= {key: item for key, item in said.items() if key not in told} | {
            f"{name} {key}": item for key, item in said.items() if key in told
        }
    return told


def _is_message(name: str, value: Any, message: Any) -> bool:
    """Whether this is the question, which stands above; other words of the agent are facts."""
    return name in ("message", "question", "prompt", "description") and value == message


def _without_question(value: Any, in_form: frozenset[str], message: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        # A text is the question itself.
        return {} if value is None or isinstance(value, str) else {"payload": value}
    hidden = {*_ELSEWHERE, *in_form}
    return {
        name: one
        for name, one in value.items()
        if name not in hidden
        and not _is_message(name, one, message)
        and not (name == "proposal" and is_call(one))
    }


def _facts(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Fact]:
    for name, one in value.items():
        label = (*path, label_of(name))
        if isinstance(one, Mapping) and one and len(label) < _DEEPEST:
            yield from _facts(one, label)
        else:
            yield _fact(name, " / ".join(label), one)


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
