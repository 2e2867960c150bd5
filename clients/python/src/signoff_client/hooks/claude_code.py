"""Claude Code: PreToolUse, PermissionRequest, Elicitation, and the events after a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

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
    text_of,
)

#: Modes in which nobody is prompted.
SILENT_MODES: Final = frozenset({"bypassPermissions", "dontAsk"})


class ClaudeCode(Host):
    """Exit code 2 denies before a call; for a PermissionRequest only the words do."""

    name = "claude-code"
    wait_seconds = 540

    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        del event_name
        event = call_event_of(message)
        match event.name:
            case "PreToolUse" | "PermissionRequest":
                is_question = event.tool == "AskUserQuestion" and event.name == "PreToolUse"
                kind = Kind.QUESTION if is_question else Kind.CALL
                return replace(event, kind=kind, args=object_of(message, "tool_input"))
            case "PostToolUse":
                args, result = object_of(message, "tool_input"), message.get("tool_response")
                return replace(event, kind=Kind.SUCCEEDED, args=args, result=result)
            case "PostToolUseFailure":
                kind = Kind.INTERRUPTED if message.get("is_interrupt") else Kind.FAILED
                args, error = object_of(message, "tool_input"), text_of(message, "error")
                return replace(event, kind=kind, args=args, error=error)
            case "Elicitation" if text_of(message, "mode") in ("", "form"):
                return replace(event, kind=Kind.QUESTION, args=message)
            case "Elicitation":
                return replace(event, kind=Kind.IGNORED)  # a page to open, which is the user's
        raise UnexpectedEvent(f"this hook does not answer the event {event.name!r}")

    def allow(self, event: Event, decision: Decision) -> Answer:
        edit = {"updatedInput": decision.args} if decision.edited else {}
        if event.name == "PermissionRequest":
            return _output(event, decision={"behavior": "allow", **edit})
        note = {"additionalContext": words.changed(decision, event.args)} if edit else {}
        reason = {"permissionDecisionReason": words.approved(decision)}
        return _output(event, permissionDecision="allow", **reason, **edit, **note)

    def deny(self, event: Event, decision: Decision) -> Answer:
        text = words.denied(decision)
        if event.name == "PreToolUse":
            text = f"{text} {words.NO_OTHER_WAY}"
        return self.block(event, text)

    def block(self, event: Event, text: str) -> Answer:
        if event.name == "PermissionRequest":
            return _output(
                event, decision={"behavior": "deny", "message": text, "interrupt": False}
            )
        if event.name == "Elicitation":
            return _output(event, action="decline")
        return _output(event, permissionDecision="deny", permissionDecisionReason=text)

    def fail(self, event: Event, text: str) -> Answer:
        return blocked(text) if event.name == "PreToolUse" else self.block(event, text)

    def prompt(self, event: Event) -> Answer | None:
        if event.mode in SILENT_MODES or event.kind is not Kind.CALL:
            return None
        if event.name == "PermissionRequest":
            return Answer({})
        return _output(event, permissionDecision="ask")

    def defer(self, event: Event) -> Answer | None:
        """Return the answer that ends the turn until the session is resumed."""
        if event.name != "PreToolUse" or event.kind is not Kind.CALL:
            return None
        return _output(event, permissionDecision="defer")

    def questions(self, event: Event) -> list[dict[str, Any]]:
        if event.name == "Elicitation":
            title = f"{text_of(event.args, 'mcp_server_name')}: {text_of(event.args, 'message')}"
            schema = object_of(event.args, "requested_schema")
            return [{"id": "1", "title": title[:300], "answer_schema": dict(schema)}]
        return [
            _question_item(str(number), question)
            for number, question in enumerate(_questions(event), start=1)
        ]

    def answer_questions(self, event: Event, answers: Mapping[str, Any]) -> Answer:
        if event.name == "Elicitation":
            return _output(event, action="accept", content=answers["1"])
        texts = {
            text_of(question, "question"): _joined(answers[str(number)])
            for number, question in enumerate(_questions(event), start=1)
        }
        return _output(
            event, permissionDecision="allow", updatedInput={**event.args, "answers": texts}
        )


def _output(event: Event, **members: Any) -> Answer:
    return Answer({"hookSpecificOutput": {"hookEventName": event.name, **members}})


def _questions(event: Event) -> list[Mapping[str, Any]]:
    questions = event.args.get("questions")
    if not isinstance(questions, list) or not all(isinstance(each, dict) for each in questions):
        raise UnexpectedEvent("questions is no list of objects")
    return questions


def _question_item(item_id: str, question: Mapping[str, Any]) -> dict[str, Any]:
    options = question.get("options") or []
    if not all(isinstance(option, dict) for option in options):
        raise UnexpectedEvent("options is no list of objects")
    choices: dict[str, Any] = {"enum": [text_of(option, "label") for option in options]}
    if not options:
        choices = {"type": "string"}
    lines = [f"{text_of(option, 'label')}: {text_of(option, 'description')}" for option in options]
    many = {"type": "array", "items": choices, "minItems": 1, "uniqueItems": True}
    return {
        "id": item_id,
        "title": text_of(question, "question")[:300],
        "why": "\n".join(lines),
        "answer_schema": many if question.get("multiSelect") else choices,
    }


def _joined(answer: Any) -> str:
    return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
