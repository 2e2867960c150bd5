"""Proposals of older agents that are not AG-UI tool calls, and edits in the answers to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.runs.states import Reason
from inbox.rules.schema.schemas import named_members

MODIFICATIONS = "modifications"
#: Members of an answer that are never edits; a proposed value with such a name cannot be edited.
_ANSWER_MEMBERS = ("approved", "editedArgs", MODIFICATIONS)


@dataclass(frozen=True)
class Proposal:
    """
    Values that a person approves, and may edit if the agent reads edits.

    LangGraph agents read edited values beside `approved`, agents of the 2025 draft in
    `modifications`.
    """

    name: str  #: of the tool, or the kind of the value
    values: Mapping[str, Any]
    is_call: bool  #: `{tool, args}`, not the fields of a value
    is_flat: bool  #: edits are members beside `approved`
    is_editable: bool = True

    def edits(self, after: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of an answer that edit the proposed values to these."""
        changed = {
            name: value
            for name, value in after.items()
            if name not in self.values or canonical_json(value) != canonical_json(self.values[name])
        }
        if not changed:
            return {}
        return changed if self.is_flat else {MODIFICATIONS: changed}

    def edited_by(self, payload: Any) -> dict[str, Any]:
        """Return the values with the edits of an answer."""
        answer = _object(payload)
        if answer.get("approved") is not True:
            return dict(self.values)
        edits = answer if self.is_flat else _object(answer.get(MODIFICATIONS))
        if self.is_flat:
            edits = {name: edits[name] for name in self.values if name in edits}
        return {**self.values, **edits}


def proposal_of(interrupt: Mapping[str, Any]) -> Proposal | None:
    """Return the proposal of an AG-UI Interrupt in an older dialect; None for tool calls."""
    members = named_members(interrupt.get("responseSchema"))
    if interrupt.get("reason") == Reason.TOOL_CALL or "approved" not in members:
        return None
    payload = draft_payload(interrupt)
    proposal = _object(payload.get("proposal"))
    if is_call(proposal):
        return Proposal(
            name=str(proposal["tool"]),
            values=_object(proposal["args"]),
            is_call=True,
            is_flat=False,
            is_editable=MODIFICATIONS in members,
        )
    value = langgraph_value(interrupt)
    fields = {
        name: value[name] for name in value if name in members and name not in _ANSWER_MEMBERS
    }
    if not fields:
        return None
    return Proposal(str(value.get("kind") or ""), fields, is_call=False, is_flat=True)


def is_call(value: Any) -> bool:
    """Return whether a value is `{tool, args}`."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("tool"), str)
        and isinstance(value.get("args"), Mapping)
    )


def draft_payload(interrupt: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload of an interrupt of the 2025 draft; empty if it is not an object."""
    return _object(_object(_metadata(interrupt, "draft")).get("payload"))


def langgraph_value(interrupt: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the value of a LangGraph interrupt; empty if it is not an object."""
    metadata = _object(_metadata(interrupt, "langgraph"))
    return _object(metadata.get("value") or metadata.get("raw"))


def _metadata(interrupt: Mapping[str, Any], framework: str) -> Any:
    return _object(interrupt.get("metadata")).get(framework)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
