"""Coalescing of neighbouring text deltas into fewer, larger events."""

from collections.abc import Iterable, Iterator

from ag_ui.core import (
    BaseEvent,
    ReasoningMessageContentEvent,
    TextMessageContentEvent,
    ToolCallArgsEvent,
)

Delta = TextMessageContentEvent | ReasoningMessageContentEvent | ToolCallArgsEvent


def coalesce(events: Iterable[BaseEvent]) -> Iterator[BaseEvent]:
    """
    Merge neighbouring deltas of the same message or tool call into one event each.

    A merged event keeps the timestamp of the first. Deltas that carry more than text (metadata, a
    raw event, unknown fields) stay as they are.
    """
    first: Delta | None = None
    parts: list[str] = []
    for event in events:
        if isinstance(event, Delta) and _has_text_only(event):
            if first is not None and target(event) == target(first):
                parts.append(event.delta)
                continue
            if first is not None:
                yield _merged(first, parts)
            first, parts = event, [event.delta]
            continue
        if first is not None:
            yield _merged(first, parts)
            first = None
        yield event
    if first is not None:
        yield _merged(first, parts)


def _has_text_only(event: Delta) -> bool:
    return event.metadata is None and event.raw_event is None and not event.model_extra


def target(event: Delta) -> tuple[type[Delta], str, str | None]:
    """Return the key of the entity that the delta is appended to."""
    entity_id = event.tool_call_id if isinstance(event, ToolCallArgsEvent) else event.message_id
    return (type(event), entity_id, event.subagent_run_id)


def _merged(first: Delta, parts: list[str]) -> Delta:
    if len(parts) == 1:
        return first
    return first.model_copy(update={"delta": "".join(parts)})
