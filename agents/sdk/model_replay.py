"""Replay of committed model answers: a model cannot reproduce them after a lost worker."""

from collections.abc import Sequence

import ag_ui.core as agui
from ag_ui.core import BaseEvent

from agents.agui.conversation import Conversation


class ModelReplay:
    """The committed answers of a model, by message id."""

    def __init__(self, committed_events: Sequence[BaseEvent]) -> None:
        conversation = Conversation()
        for event in committed_events:
            conversation.apply(event)
        self._messages = {message.id: message for message in conversation.messages}
        self._calls = conversation.tool_call_ids
        self._results = {
            message.tool_call_id: message.content
            for message in conversation.messages
            if isinstance(message, agui.ToolMessage) and isinstance(message.content, str)
        }
        self._ended = {
            event.message_id
            for event in committed_events
            if isinstance(event, agui.TextMessageEndEvent)
        }

    def answer(self, message_id: str) -> agui.AssistantMessage | None:
        """Return the committed part of an answer, None if nothing was committed."""
        message = self._messages.get(message_id)
        return message if isinstance(message, agui.AssistantMessage) else None

    def is_complete(self, message_id: str) -> bool:
        """
        Return True if the whole answer was committed.

        The end of its text and its calls are committed together.
        """
        answer = self.answer(message_id)
        return answer is not None and (message_id in self._ended or bool(answer.tool_calls))

    @property
    def complete_answer_count(self) -> int:
        """The number of complete answers."""
        return sum(map(self.is_complete, self._messages))

    def result(self, tool_call_id: str) -> str:
        """Return the committed result of a call, "" if there is none."""
        return self._results.get(tool_call_id, "")

    def is_committed(self, event: BaseEvent) -> bool:
        """Return True if the run's conversation contains the event already."""
        if isinstance(event, agui.ToolCallResultEvent):
            return event.tool_call_id in self._results
        if (call := getattr(event, "tool_call_id", None)) is not None:
            return call in self._calls
        return getattr(event, "message_id", None) in self._messages
