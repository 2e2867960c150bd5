"""Builders of events: a complete message, and progress."""

from typing import Any

import ag_ui.core as agui
from ag_ui.core import BaseEvent


def text_events(message_id: str, text: str, *, subagent: str | None = None) -> list[BaseEvent]:
    """Build one complete assistant message."""
    return [
        agui.TextMessageStartEvent(
            message_id=message_id, role="assistant", subagent_run_id=subagent
        ),
        agui.TextMessageContentEvent(message_id=message_id, delta=text, subagent_run_id=subagent),
        agui.TextMessageEndEvent(message_id=message_id, subagent_run_id=subagent),
    ]


def progress_event(message_id: str, label: str, done: int | None, total: int | None) -> BaseEvent:
    """Build a progress activity; the next one with its id replaces it."""
    content: dict[str, Any] = {"label": label, "done": done, "total": total}
    return agui.ActivitySnapshotEvent(
        message_id=message_id,
        activity_type="progress",
        content={name: value for name, value in content.items() if value is not None},
        replace=True,
    )
