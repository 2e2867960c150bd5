"""Ownership of entities within one run: each belongs to the parent agent or to one subagent."""

from collections.abc import Iterable
from typing import Any, Literal

from ag_ui.core import AssistantMessage, Message, ToolCallStartEvent

from agents.agui.errors import ProtocolViolation

Kind = Literal["message", "tool call", "reasoning", "activity"]
_ROLE_KINDS: dict[str, Kind] = {"reasoning": "reasoning", "activity": "activity"}


class SubagentOwners:
    """
    The subagent that opened each id, None for the parent agent.

    An id is unique within its kind only. Owners are kept after the entity ends: an encrypted
    value may follow a TOOL_CALL_END.
    """

    def __init__(self) -> None:
        self._owners: dict[tuple[Kind, str], str | None] = {}

    def has_owner(self, kind: Kind, entity_id: str) -> bool:
        return (kind, entity_id) in self._owners

    def owner(self, kind: Kind, entity_id: str) -> str | None:
        """Return the subagent that owns an id, None for the parent agent."""
        return self._owners.get((kind, entity_id))

    def open(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Record the first owner of an id; the same owner may open it again."""
        self.check(kind, event, entity_id)
        self._owners.setdefault((kind, entity_id), event.subagent_run_id)

    def check(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Raise if the event names another subagent than the owner; it may name none."""
        tag = event.subagent_run_id
        if tag is not None and self._owners.get((kind, entity_id), tag) != tag:
            raise ProtocolViolation(
                f"{event.type.value} comes from subagent '{tag}', but the {kind} '{entity_id}' "
                f"belongs to {self._name(kind, entity_id)}; leave the tag out or name the owner."
            )

    def replace(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Record a new owner, for events that replace their entity."""
        self._owners[kind, entity_id] = event.subagent_run_id

    def open_tool_call(self, event: ToolCallStartEvent) -> None:
        """Record a tool call; its owner is the owner of its parent message."""
        tag, parent, call_id = event.subagent_run_id, event.parent_message_id, event.tool_call_id
        if parent is not None and self.has_owner("message", parent):
            owner = self.owner("message", parent)
            if tag is not None and tag != owner:
                raise ProtocolViolation(
                    f"TOOL_CALL_START '{call_id}' comes from subagent '{tag}', but its "
                    f"parent message '{parent}' belongs to {self._name('message', parent)}."
                )
            if self._owners.get(("tool call", call_id), owner) != owner:
                raise ProtocolViolation(
                    f"Tool call '{call_id}' belongs to {self._name('tool call', call_id)}, but its "
                    f"parent message '{parent}' to {self._name('message', parent)}."
                )
            tag = owner
        self.check("tool call", event, call_id)
        self._owners.setdefault(("tool call", call_id), tag)

    def seed(self, messages: Iterable[Message], *, authoritative: bool) -> None:
        """Record the owners of earlier messages; an authoritative list replaces recorded ones."""
        for message in messages:
            keys: list[tuple[Kind, str]] = [(_ROLE_KINDS.get(message.role, "message"), message.id)]
            if isinstance(message, AssistantMessage):
                keys += [("tool call", call.id) for call in message.tool_calls or ()]
            for key in keys:
                if authoritative or key not in self._owners:
                    self._owners[key] = message.subagent_run_id

    def _name(self, kind: Kind, entity_id: str) -> str:
        owner = self._owners[kind, entity_id]
        return "the parent agent" if owner is None else f"subagent '{owner}'"
