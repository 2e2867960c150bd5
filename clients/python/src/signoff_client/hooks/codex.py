"""Codex: PreToolUse, or PermissionRequest where a person uses it; never both for one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from signoff_client.hooks import words
from signoff_client.hooks.events import (
    Answer,
    Decision,
    Event,
    Host,
    Kind,
    UnexpectedEvent,
    blocked,
    call_event_of,
    object_of,
)


class Codex(Host):
    """Codex runs a call whose hook answers a bare "allow": an approval without changes is `{}`."""

    name = "codex"
    wait_seconds = 540

    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        del event_name
        event = replace(call_event_of(message), args=object_of(message, "tool_input"))
        if event.name in ("PreToolUse", "PermissionRequest"):
            return event
        if event.name == "PostToolUse":
            return replace(event, kind=Kind.SUCCEEDED, result=message.get("tool_response"))
        raise UnexpectedEvent(f"this hook does not answer the event {event.name!r}")

    def accepts_edits(self, event: Event) -> bool:
        return event.name == "PreToolUse"

    def refuse_edit(self, event: Event, args: Mapping[str, Any]) -> str:
        del args
        return "" if self.accepts_edits(event) else "Codex runs its own call after a prompt."

    def allow(self, event: Event, decision: Decision) -> Answer:
        if event.name == "PermissionRequest":
            return _output(event, decision={"behavior": "allow"})
        if decision.edited:
            return _output(event, permissionDecision="allow", updatedInput=decision.args)
        return Answer({})

    def deny(self, event: Event, decision: Decision) -> Answer:
        return self.block(event, words.denied(decision))

    def block(self, event: Event, text: str) -> Answer:
        if event.name == "PermissionRequest":
            return _output(event, decision={"behavior": "deny", "message": text})
        return _output(event, permissionDecision="deny", permissionDecisionReason=text)

    def fail(self, event: Event, text: str) -> Answer:
        return blocked(text) if event.name == "PreToolUse" else self.block(event, text)

    def prompt(self, event: Event) -> Answer | None:
        return Answer({}) if event.name == "PermissionRequest" else None


def _output(event: Event, **members: Any) -> Answer:
    return Answer({"hookSpecificOutput": {"hookEventName": event.name, **members}})
