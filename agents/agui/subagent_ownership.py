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
        self._owners: dict[Kind, dict[str, str | None]] = {
            "message": {},
            "tool call": {},
            "reasoning": {},
            "activity": {},
        }

    def has_owner(self, kind: Kind, entity_id: str) -> bool:
        return entity_id in self._owners[kind]

    def owner(self, kind: Kind, entity_id: str) -> str | None:
        """Return the subagent that owns an id, None for the parent agent."""
        return self._owners[kind].get(entity_id)

    def open(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Record the first owner of an id; the same owner may open it again."""
        self.check(kind, event, entity_id)
        self._owners[kind].setdefault(entity_id, event.subagent_run_id)

    def check(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Raise if the event names another subagent than the owner; it may name none."""
        tag = event.subagent_run_id
        owners = self._owners[kind]
        if tag is not None and entity_id in owners and owners[entity_id] != tag:
            raise ProtocolViolation(
                f"{event.type.value} comes from subagent '{tag}', but the {kind} '{entity_id}' "
                f"belongs to {_name(owners[entity_id])}; leave the tag out or name the owner."
            )

    def replace(self, kind: Kind, event: Any, entity_id: str) -> None:
        """Record a new owner, for events that replace their entity."""
        self._owners[kind][entity_id] = event.subagent_run_id

    def open_tool_call(self, event: ToolCallStartEvent) -> None:
        """Record a tool call; its owner is the owner of its parent message."""
        messages, calls = self._owners["message"], self._owners["tool call"]
        tag, parent = event.subagent_run_id, event.parent_message_id
        if parent is not None and parent in messages:
            if tag is not None and tag != messages[parent]:
                raise ProtocolViolation(
                    f"TOOL_CALL_START '{event.tool_call_id}' comes from subagent '{tag}', but its "
                    f"parent message '{parent}' belongs to {_name(messages[parent])}."
                )
            tag = messages[parent]
            if calls.get(event.tool_call_id, tag) != tag:
                raise ProtocolViolation(
                    f"Tool call '{event.tool_call_id}' belongs to "
                    f"{_name(calls[event.tool_call_id])}, but its parent message '{parent}' "
                    f"to {_name(tag)}."
                )
        self.check("tool call", event, event.tool_call_id)
        calls.setdefault(event.tool_call_id, tag)

    def seed(self, messages: Iterable[Message], *, authoritative: bool) -> None:
        """Record the owners of earlier messages; an authoritative list replaces recorded ones."""
        for message in messages:
            owners = self._owners[_ROLE_KINDS.get(message.role, "message")]
            if authoritative or message.id not in owners:
                owners[message.id] = message.subagent_run_id
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.tool_calls or ():
                if authoritative or not self.has_owner("tool call", call.id):
                    self._owners["tool call"][call.id] = message.subagent_run_id


def _name(owner: str | None) -> str:
    return "the parent agent" if owner is None else f"subagent '{owner}'"
