"""What a graph streams, told as it comes: texts of models, calls they want, and results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from agents.adapters.framework_run import FrameworkRun, result_content

Json = dict[str, Any]


@dataclass
class _Text:
    """A message of a model, as far as it has come."""

    task: str  #: the run of a node that it belongs to, by LangGraph's name
    text: str = ""
    told: int = 0  #: characters
    has_ended: bool = False


class MessageStream:
    """
    Tells the framework_run of one run's messages, each once, and one after the other.

    `calls` are those that a model wants and that have no result in the graph's state, as the run
    before left them; `said_before` are its texts, by task: a node that runs again behind a pause
    says them again.
    """

    def __init__(
        self,
        framework_run: FrameworkRun,
        calls: Mapping[str, Any],
        said_before: Mapping[str, list[str]],
    ) -> None:
        self._framework_run = framework_run
        self._said_before = said_before
        self._known: set[str] = set()  # messages that were in the state before, or came to it
        self._texts: dict[str, _Text] = {}  # of messages that are not said to the end
        self._ended: set[str] = set()
        self.calls: dict[str, tuple[str, Json]] = {
            call_id: (name, args) for call_id, (name, args) in calls.items()
        }
        self.said: dict[str, list[str]] = {}

    def add_known_messages(self, state: Any) -> None:
        """Remember what was told before: a node may put old messages into the state again."""
        self._known |= {one.id for one in messages_in(state) if one.id}

    def stream(self, message: Any, metadata: Mapping[str, Any]) -> None:
        """Tell a piece of a model's text, or a whole message that nobody streamed."""
        if not isinstance(message, AIMessage) or message.id is None:
            return
        if message.id in self._known | self._ended:
            return
        task = str(metadata.get("langgraph_checkpoint_ns", ""))
        text = self._texts.setdefault(message.id, _Text(task))
        text.text += message.text
        if not isinstance(message, AIMessageChunk) or message.chunk_position == "last":
            text.has_ended = True
        self._tell()

    def update(self, change: Any) -> list[str]:
        """Tell what a node brought to the state; return the calls whose results are among it."""
        answered = []
        for message in messages_in(change):
            if message.id in self._known:
                continue
            self._known.add(message.id or "")
            if isinstance(message, AIMessage):
                self._want(message)
            elif isinstance(message, ToolMessage):
                answered.append(message.tool_call_id)
                self.calls.pop(message.tool_call_id, None)
                self._framework_run.add_result(
                    message.tool_call_id, result_content(message.content)
                )
        return answered

    def end(self) -> None:
        """Say what is left of messages that broke off."""
        for text in self._texts.values():
            text.has_ended = True
        self._tell()

    def _want(self, message: AIMessage) -> None:
        if message.id in self._texts:
            self._texts[message.id].has_ended = True
            self._tell()
        for call in message.tool_calls:
            call_id = str(call["id"])
            self.calls[call_id] = (call["name"], call["args"])
            self._framework_run.forget_result(call_id)
            self._framework_run.propose(call_id, call["name"], call["args"])

    def _tell(self) -> None:
        """Say what there is of the oldest message; the next one's turn is when it has ended."""
        for name, text in [*self._texts.items()]:
            before = self._said_before.get(text.task, ())
            may_be_said = any(one.startswith(text.text) for one in before)
            if may_be_said and not text.has_ended:
                return
            if text.text not in before:
                self._framework_run.append_text(text.text[text.told :])
                text.told = len(text.text)
            if not text.has_ended:
                return
            self._framework_run.end_message()
            del self._texts[name]
            self._ended.add(name)
            if text.text:
                self.said.setdefault(text.task, []).append(text.text)


def messages_in(value: Any) -> Iterator[BaseMessage]:
    """The messages in a state, or in what a node changed of it."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from messages_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from messages_in(one)
