"""Copilot CLI: preToolUse, permissionRequest and postToolUse; also in the spelling of VS Code."""

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
    object_of,
    text_of,
)


class CopilotCli(Host):
    """Its messages do not name their event: the command line of the hook does, with `--event`."""

    name = "copilot-cli"
    wait_seconds = 540

    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        is_snake = "tool_name" in message
        name = text_of(message, "hook_event_name") or event_name
        if not name:
            name = "postToolUse" if "toolResult" in message else "preToolUse"
        event = Event(
            kind=Kind.CALL,
            name=name[:1].lower() + name[1:],
            session=text_of(message, "session_id" if is_snake else "sessionId"),
            tool=text_of(message, "tool_name" if is_snake else "toolName"),
            args=object_of(message, "tool_input" if is_snake else "toolArgs"),
            cwd=text_of(message, "cwd"),
        )
        if event.name in ("preToolUse", "permissionRequest"):
            return event
        if event.name == "postToolUse":
            return _ended(event, message.get("tool_response" if is_snake else "toolResult"))
        raise UnexpectedEvent(f"this hook does not answer the event {event.name!r}")

    def accepts_edits(self, event: Event) -> bool:
        return event.name == "preToolUse"

    def refuse_edit(self, event: Event, args: Mapping[str, Any]) -> str:
        del args
        return "" if self.accepts_edits(event) else "Copilot runs its own call after a prompt."

    def allow(self, event: Event, decision: Decision) -> Answer:
        if event.name == "permissionRequest":
            return Answer({"behavior": "allow"})
        edit = {"modifiedArgs": decision.args} if decision.edited else {}
        return Answer({"permissionDecision": "allow", **edit})

    def deny(self, event: Event, decision: Decision) -> Answer:
        return self.block(event, words.denied(decision))

    def block(self, event: Event, text: str) -> Answer:
        if event.name == "permissionRequest":
            return Answer({"behavior": "deny", "message": text, "interrupt": False})
        return Answer({"permissionDecision": "deny", "permissionDecisionReason": text})


def _ended(event: Event, result: Any) -> Event:
    kind = result.get("resultType") if isinstance(result, dict) else "success"
    if kind in (None, "success"):
        return replace(event, kind=Kind.SUCCEEDED, result=result)
    return replace(event, kind=Kind.FAILED, error=f"{kind}: {result}")
