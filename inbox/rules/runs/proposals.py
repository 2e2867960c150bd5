"""What an agent proposes without a tool call, and how its answer says what was changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.runs.states import Reason
from inbox.rules.schema.schemas import named_members

MODIFICATIONS = "modifications"
#: Members of an answer that decide; a proposed value of the same name cannot be edited beside them.
_DECIDING = ("approved", "editedArgs", MODIFICATIONS)


@dataclass(frozen=True)
class Proposal:
    """
    Values that a person approves, and may change if the agent reads changes.

    LangGraph's agents read changed values beside `approved`, those of the draft of 2025 in
    `modifications`.
    """

    name: str  #: of the tool, or the kind of the value
    values: Mapping[str, Any]
    is_call: bool  #: `{tool, args}` rather than the fields of a value
    is_flat: bool  #: changes stand beside `approved`
    is_editable: bool = True

    def edits(self, after: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of an answer that change the proposed values to these."""
        changed = {
            name: value
            for name, value in after.items()
            if name not in self.values or canonical_json(value) != canonical_json(self.values[name])
        }
        if not changed:
            return {}
        return changed if self.is_flat else {MODIFICATIONS: changed}

    def edited_by(self, payload: Any) -> dict[str, Any]:
        """Return the values as an answer leaves them."""
        answer = payload if isinstance(payload, Mapping) else {}
        if answer.get("approved") is not True:
            return dict(self.values)
        changes = answer if self.is_flat else answer.get(MODIFICATIONS)
        known = changes if isinstance(changes, Mapping) else {}
        if self.is_flat:
            known = {name: known[name] for name in self.values if name in known}
        return {**self.values, **known}


def proposal_of(asked: Mapping[str, Any]) -> Proposal | None:
    """Return what an AG-UI Interrupt proposes in an older dialect's words, but for tool calls."""
    named = named_members(asked.get("responseSchema"))
    if asked.get("reason") == Reason.TOOL_CALL or "approved" not in named:
        return None
    payload = draft_payload(asked)
    proposal = _object(payload.get("proposal"))
    if is_call(proposal):
        return Proposal(
            name=str(proposal["tool"]),
            values=_object(proposal["args"]),
            is_call=True,
            is_flat=False,
            is_editable=MODIFICATIONS in named,
        )
    value = langgraph_value(asked)
    fields = {name: value[name] for name in value if name in named and name not in _DECIDING}
    if not fields:
        return None
    return Proposal(str(value.get("kind") or ""), fields, is_call=False, is_flat=True)


def is_call(value: Any) -> bool:
    """Whether a value is `{tool, args}`."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("tool"), str)
        and isinstance(value.get("args"), Mapping)
    )


def draft_payload(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload of an interrupt of the draft, empty if there is none that is an object."""
    return _object(_object(_metadata(asked, "draft")).get("payload"))


def langgraph_value(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value that a graph of LangGraph paused with, empty if it is no object."""
    told = _object(_metadata(asked, "langgraph"))
    return _object(told.get("value") or told.get("raw"))


def _metadata(asked: Mapping[str, Any], framework: str) -> Any:
    return _object(asked.get("metadata")).get(framework)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
