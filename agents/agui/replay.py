"""Replay of a run after a lost worker: events that are committed are not emitted twice."""

from collections import deque
from collections.abc import Iterable
from typing import Any

from ag_ui.core import BaseEvent

from agents.agui.chunks import Delta, target


class ReplayDiverged(ValueError):
    """The agent yielded other events than at its first attempt, so the run cannot continue."""


class ReplayCursor:
    """
    Compares the events of a second attempt with the committed ones.

    `committed` holds the agent's own events: not RUN_STARTED, nor snapshots that the engine added.
    Deltas are compared by their text, because they may have been coalesced before they were
    committed. Timestamps and raw events are ignored.
    """

    def __init__(self, committed: Iterable[BaseEvent]) -> None:
        self._committed = deque(
            event for event in committed if not isinstance(event, Delta) or event.delta
        )
        self._consumed = 0  # characters of the first committed event, when it is a delta

    @property
    def exhausted(self) -> bool:
        """True when all committed events were repeated; later events are new."""
        return not self._committed

    def feed(self, event: BaseEvent) -> BaseEvent | None:
        """
        Return the new part of the event: None, the rest of its delta, or the event.

        Raises:
            ReplayDiverged: another event is committed at this position.
        """
        if not self._committed:
            return event
        if isinstance(event, Delta):
            return self._feed_delta(event)
        if self._consumed or _comparable(event) != _comparable(self._committed[0]):
            raise self._diverged(event)
        self._committed.popleft()
        return None

    def _feed_delta(self, event: Delta) -> BaseEvent | None:
        text = event.delta
        while text and self._committed:
            text = text[self._consume(event, text) :]
        if not text:
            return None
        return event.model_copy(update={"delta": text})

    def _consume(self, event: Delta, text: str) -> int:
        """Match the text with the first committed event; return how many characters it covered."""
        first = self._committed[0]
        if not isinstance(first, Delta) or target(first) != target(event):
            raise self._diverged(event)
        length = min(len(text), len(first.delta) - self._consumed)
        if not first.delta.startswith(text[:length], self._consumed):
            raise self._diverged(event)
        self._consumed += length
        if self._consumed == len(first.delta):
            self._committed.popleft()
            self._consumed = 0
        return length

    def _diverged(self, event: BaseEvent) -> ReplayDiverged:
        return ReplayDiverged(
            f"The agent yielded {event.type.value}, but another {self._committed[0].type.value} is "
            "committed here; a restartable agent yields the same events again."
        )


def _comparable(event: BaseEvent) -> dict[str, Any]:
    return event.model_dump(mode="json", by_alias=True, exclude={"timestamp", "raw_event"})
