"""The values of an interrupt's metadata, which the agent says beside its question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inbox.rules.presentations.vocabulary import Present, Severity, severity_of
from inbox.rules.runs.proposals import Proposal, is_call
from inbox.rules.schema.secrets import NAMES

#: Members that are displayed elsewhere or only route the interrupt.
_ELSEWHERE = {
    "kind", "responseSchema", "response_schema", "inputSchema", "expiresAt", "expires_at",
    "signoff",
}  # fmt: skip
#: The metadata members in which readers of older dialects store the agent's own values.
_DIALECTS = {"draft": ("payload",), "langgraph": ("value", "raw")}
#: The draft's own members beside `payload`; the page displays them elsewhere.
_DRAFT = {"id", "reason", "type"}
_RISK = re.compile(r"risk(_?level)?|severity", re.IGNORECASE)
_REVERSIBLE = re.compile(r"(is_?)?reversible", re.IGNORECASE)


@dataclass(frozen=True)
class Risk:
    """The harm that a request can do, by its agent; None where the agent does not say it."""

    severity: Severity | None = None
    is_reversible: bool | None = None


def metadata_values(
    interrupt: Mapping[str, Any], proposal: Proposal | None = None
) -> Mapping[str, Any]:
    """
    Return the metadata of an AG-UI Interrupt by name, masked, in the agent's order.

    Values of older dialects are at the top level; a name that is already in use there gets its
    dialect as a prefix. The message, proposed values that have a field in the form, and what
    `risk_of` returns are left out, and so are nulls, which say nothing.
    """
    metadata = interrupt.get("metadata")
    if not isinstance(metadata, Mapping) or not metadata:
        return {}
    in_form = frozenset(proposal.values) if proposal and proposal.is_flat else frozenset()
    flattened = _flattened(metadata, in_form, interrupt.get("message"))
    masked: Mapping[str, Any] = NAMES.masked(flattened)
    return {
        name: value
        for name, value in masked.items()
        if value is not None and not _is_risk(name, value)
    }


def risk_of(interrupt: Mapping[str, Any], present: Present) -> Risk:
    """Return the risk that the author declares, or that the metadata names in usual words."""
    metadata = interrupt.get("metadata")
    is_object = isinstance(metadata, Mapping) and bool(metadata)
    values = _flattened(metadata or {}, frozenset(), None) if is_object else {}
    severity, is_reversible = present.severity, present.is_reversible
    for name, value in values.items():
        if severity is None and _RISK.fullmatch(name):
            severity = severity_of(value)
        if is_reversible is None and _REVERSIBLE.fullmatch(name) and isinstance(value, bool):
            is_reversible = value
    return Risk(severity, is_reversible)


def _is_risk(name: str, value: Any) -> bool:
    if _RISK.fullmatch(name):
        return severity_of(value) is not None
    return _REVERSIBLE.fullmatch(name) is not None and isinstance(value, bool)


def _flattened(
    metadata: Mapping[str, Any], in_form: frozenset[str], message: Any
) -> dict[str, Any]:
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
        remaining_members = {
            key: item for key, item in value.items() if key not in beside and item is not None
        }
        if remaining_members:
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
