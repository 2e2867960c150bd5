"""Translation of a graph's stream into events: model texts, tool calls and results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from agents.adapters.framework_run import FrameworkRun, result_content

Json = dict[str, Any]


@dataclass
class _Text:
    """A streamed message of a model."""

    task: str  #: LangGraph's id of the node's run
    text: str = ""
    emitted: int = 0  #: characters
    has_ended: bool = False


class MessageStream:
    """
    Emits each message of a run once, and one after the other.

    `calls` are the tool calls without a result in the graph's state; `texts_before` are the texts
    of the previous run by task, which a node repeats when it runs again after a pause.
    """

    def __init__(
        self,
        framework_run: FrameworkRun,
        calls: Mapping[str, Any],
        texts_before: Mapping[str, list[str]],
    ) -> None:
        self._framework_run = framework_run
        self._texts_before = texts_before
        self._known: set[str] = set()  # ids of messages in the state
        self._texts: dict[str, _Text] = {}  # message id -> incomplete text
        self._ended: set[str] = set()
        self.calls: dict[str, tuple[str, Json]] = {
            call_id: (name, args) for call_id, (name, args) in calls.items()
        }
        self.texts_by_task: dict[str, list[str]] = {}

    def add_known_messages(self, state: Any) -> None:
        """Record the messages of a state, because nodes may add them again."""
        self._known |= {message.id for message in messages_in(state) if message.id}

    def stream(self, message: Any, metadata: Mapping[str, Any]) -> None:
        """Emit a part of a model's text, or a complete message that was not streamed."""
        if not isinstance(message, AIMessage) or message.id is None:
            return
        if message.id in self._known | self._ended:
            return
        task = str(metadata.get("langgraph_checkpoint_ns", ""))
        text = self._texts.setdefault(message.id, _Text(task))
        text.text += message.text
        if not isinstance(message, AIMessageChunk) or message.chunk_position == "last":
            text.has_ended = True
        self._emit()

    def update(self, change: Any) -> list[str]:
        """Emit a node's changes of the state; return the calls that got results."""
        answered = []
        for message in messages_in(change):
            if message.id in self._known:
                continue
            self._known.add(message.id or "")
            if isinstance(message, AIMessage):
                self._propose_calls(message)
            elif isinstance(message, ToolMessage):
                answered.append(message.tool_call_id)
                self.calls.pop(message.tool_call_id, None)
                self._framework_run.add_result(
                    message.tool_call_id, result_content(message.content)
                )
        return answered

    def end(self) -> None:
        """Emit the rest of incomplete messages."""
        for text in self._texts.values():
            text.has_ended = True
        self._emit()

    def _propose_calls(self, message: AIMessage) -> None:
        if message.id in self._texts:
            self._texts[message.id].has_ended = True
            self._emit()
        for call in message.tool_calls:
            call_id = str(call["id"])
            self.calls[call_id] = (call["name"], call["args"])
            self._framework_run.forget_result(call_id)
            self._framework_run.propose(call_id, call["name"], call["args"])

    def _emit(self) -> None:
        """Emit the text of the oldest message; later ones wait until it has ended."""
        for name, text in [*self._texts.items()]:
            before = self._texts_before.get(text.task, ())
            may_be_repeated = any(text_before.startswith(text.text) for text_before in before)
            if may_be_repeated and not text.has_ended:
                return
            if text.text not in before:
                self._framework_run.append_text(text.text[text.emitted :])
                text.emitted = len(text.text)
            if not text.has_ended:
                return
            self._framework_run.end_message()
            del self._texts[name]
            self._ended.add(name)
            if text.text:
                self.texts_by_task.setdefault(text.task, []).append(text.text)


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """Yield the messages in a state or in a node's changes."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from messages_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from messages_in(item)
