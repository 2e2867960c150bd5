"""Cursor: the events before a command, an MCP call and a tool; it takes no changed arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from signoff_client.hooks import words
from signoff_client.hooks.events import (
    BLOCKED,
    Answer,
    Decision,
    Event,
    Host,
    Kind,
    UnexpectedEvent,
    object_of,
    text_of,
)


class Cursor(Host):
    """Calls are handed over: nothing is reported about how they end."""

    name = "cursor"
    wait_seconds = 540
    reports = False

    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        del event_name
        name, session = text_of(message, "hook_event_name"), text_of(message, "conversation_id")
        roots = message.get("workspace_roots")
        cwd = text_of(message, "cwd")
        if not cwd and isinstance(roots, list) and roots:
            cwd = str(roots[0])
        if name == "beforeShellExecution":
            args = {"command": text_of(message, "command"), "cwd": cwd}
            return Event(Kind.CALL, name, session, tool="Shell", args=args, cwd=cwd)
        if name == "beforeMCPExecution":
            server = text_of(message, "url") or text_of(message, "command")
            return Event(
                Kind.CALL,
                name,
                session,
                tool=text_of(message, "tool_name"),
                args=object_of(message, "tool_input"),
                cwd=cwd,
                why=f"MCP server: {server}" if server else "",
            )
        if name == "preToolUse":
            tool, arguments = text_of(message, "tool_name"), object_of(message, "tool_input")
            return Event(Kind.CALL, name, session, tool=tool, args=arguments, cwd=cwd)
        raise UnexpectedEvent(f"this hook does not answer the event {name!r}")

    def accepts_edits(self, event: Event) -> bool:
        del event
        return False

    def refuse_edit(self, event: Event, args: Mapping[str, Any]) -> str:
        del event, args
        return "Cursor runs its own call after a hook."

    def allow(self, event: Event, decision: Decision) -> Answer:
        del event, decision
        return Answer({"permission": "allow"})

    def deny(self, event: Event, decision: Decision) -> Answer:
        reason = f": {decision.reason}" if decision.reason else ""
        who = decision.decider or "a policy"
        for_model = f"Denied by a person. {words.NO_OTHER_WAY}"
        return _denial(event, f"Denied in Signoff by {who}{reason}", for_model)

    def block(self, event: Event, text: str) -> Answer:
        return _denial(event, text, text)


def _denial(event: Event, user_message: str, agent_message: str) -> Answer:
    """The exit code denies a preToolUse in every version; its words have changed with versions."""
    output = {
        "permission": "deny",
        "user_message": user_message,
        "agent_message": agent_message,
    }
    return Answer(output, code=BLOCKED if event.name == "preToolUse" else 0)
