"""Gemini CLI: BeforeTool and AfterTool."""

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
    changed_members,
    object_of,
    text_of,
)


class GeminiCli(Host):
    """The host merges an answer's `tool_input` into its own, so nothing can be removed."""

    name = "gemini-cli"
    wait_seconds = 540

    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        del event_name
        event = Event(
            kind=Kind.CALL,
            name=text_of(message, "hook_event_name"),
            session=text_of(message, "session_id"),
            tool=text_of(message, "tool_name"),
            args=object_of(message, "tool_input"),
            cwd=text_of(message, "cwd"),
        )
        if event.name == "BeforeTool":
            return event
        if event.name == "AfterTool":
            response = message.get("tool_response")
            error = response.get("error") if isinstance(response, dict) else None
            if error:
                return replace(event, kind=Kind.FAILED, error=str(error))
            return replace(event, kind=Kind.SUCCEEDED, result=response)
        raise UnexpectedEvent(f"this hook does not answer the event {event.name!r}")

    def refuse_edit(self, event: Event, args: Mapping[str, Any]) -> str:
        removed = _removed(event.args, args)
        return f"Gemini CLI cannot remove {removed} from a call" if removed else ""

    def allow(self, event: Event, decision: Decision) -> Answer:
        if not decision.edited:
            return Answer({"decision": "allow"})
        names = changed_members(event.args, decision.args)
        changes = {name: decision.args[name] for name in names}
        return Answer({"decision": "allow", "hookSpecificOutput": {"tool_input": changes}})

    def deny(self, event: Event, decision: Decision) -> Answer:
        return self.block(event, words.denied(decision))

    def block(self, event: Event, text: str) -> Answer:
        del event
        return Answer({"decision": "deny", "reason": text})


def _removed(before: Any, after: Any) -> str:
    """Return the first member, at any depth, that is not there any more."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    for name, value in before.items():
        if name not in after:
            return str(name)
        if inner := _removed(value, after[name]):
            return f"{name}.{inner}"
    return ""
