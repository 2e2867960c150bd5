"""
The ids of tool calls: an agent's are names inside one turn, ours are unique on the thread.

Many models and servers number their calls anew in each turn (`call_0`), while AG-UI clients and the
rows of a thread know a call by its id. So a name that comes again gets another id of ours, and a
run that resumes another one keeps the ids of that run.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import ag_ui.core as agui
from ag_ui.core import AssistantMessage, BaseEvent, Message, ToolMessage

from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation

#: Ids of ours for a name that was used before end with a number.
_NUMBERED = re.compile(r"(.+)~[0-9]+", re.DOTALL)
_MAX_ID = 200
_Part = agui.ToolCallArgsEvent | agui.ToolCallEndEvent


@dataclass
class _Call:
    """The call that a name means now."""

    id: str  #: ours
    args: str = ""  #: digest of the arguments; "" if they are not known
    result: str | None = None  #: the message id of its result
    is_earlier: bool = False  #: of the run that this one resumes
    is_finished: bool = False  #: it has a result, or was denied or cancelled
    is_approved: bool = False
    parts: list[str] | None = None  #: of the arguments, while they are streamed
    displayed: str = ""  #: digest of the arguments in the agent's last snapshot


@dataclass(frozen=True)
class EarlierCalls:
    """The calls of a thread when a run begins."""

    ids: Collection[str] = ()  #: ours, of all runs that this run does not repeat
    spoken: Collection[str] = ()  #: of calls in messages before the run
    messages: Container[str] = ()  #: the ids of the messages before the run
    resumed: Mapping[str, Any] = field(default_factory=dict)  #: `TurnIds.to_json` of that run
    finished: Container[str] = ()  #: ours, of calls that have a result or will not run
    approved: Container[str] = ()  #: ours, of calls that the decisions approve
    #: ours, of calls that clients have made, whose results come with the input; the oldest first
    answered: Sequence[str] = ()


class TurnIds:
    """Translates the ids of tool calls between an agent and its thread, during one run."""

    def __init__(self, earlier: EarlierCalls, conversation: Conversation) -> None:
        self._earlier = earlier
        self._conversation = conversation
        self._taken = {*earlier.ids, *earlier.spoken}
        self._calls = {
            name: _Call(
                call["id"],
                call["args"],
                call["result"],
                is_earlier=True,
                is_finished=call["result"] is not None or call["id"] in earlier.finished,
                is_approved=call["id"] in earlier.approved,
            )
            for name, call in earlier.resumed.items()
        }
        #: the agent's name -> ours, of the calls in `answered`
        self._answered = {self._name_before(ours): ours for ours in earlier.answered}
        self._used: set[str] = set()  #: ours, of this run
        #: Repeated events of finished calls. They are a new call if anything follows from them.
        self._held: dict[str, tuple[agui.ToolCallStartEvent, list[_Part]]] = {}

    def to_json(self) -> dict[str, Any]:
        """Return the calls by the agent's names, for the run that resumes this one."""
        return {
            name: {"id": call.id, "args": call.args, "result": call.result}
            for name, call in self._calls.items()
        }

    # To the agent

    def id_for(self, name: str) -> str:
        """Return our id of the call that the agent means by this name now."""
        return self._calls[name].id if name in self._calls else name

    def names(self) -> "AgentNames":
        """Return the agent's names of the calls that this run continues."""
        answered = {ours: name for name, ours in self._answered.items() if name not in self._calls}
        names = {call.id: name for name, call in self._calls.items()}
        return AgentNames(answered | names, self._taken)

    def _name_before(self, tool_call_id: str) -> str:
        """Return the agent's name for a call of an earlier run."""
        name = _name_of(tool_call_id)
        return name if name in self._taken else tool_call_id

    # From the agent

    def translate(self, event: BaseEvent) -> list[BaseEvent]:
        """
        Return the event with our ids: nothing if it only repeats, more if it makes others count.

        Raises:
            ProtocolViolation: two calls of one turn have the same name, or the agent has other
                arguments than those that people would see.
        """
        handler = self._HANDLERS.get(type(event))
        return handler(self, event) if handler is not None else [event]

    def _start(self, event: agui.ToolCallStartEvent) -> list[BaseEvent]:
        name = event.tool_call_id
        call = self._calls.get(name)
        if call is None or (call.is_finished and not call.is_earlier):
            return [self._begin(event)]
        if call.parts is None:
            self._held[name] = (event, [])
            return []
        return [_renamed(event, call.id)]  # refused by the rules of the sequence

    def _begin(self, event: agui.ToolCallStartEvent) -> BaseEvent:
        """Start a new call under a name."""
        call = self._new(event.tool_call_id)
        call.parts = []
        if call.id != event.tool_call_id and event.parent_message_id in self._earlier.messages:
            event = event.model_copy(update={"parent_message_id": None})
        return _renamed(event, call.id)

    def _new(self, name: str) -> _Call:
        call = self._calls[name] = _Call(self._unused(name))
        self._used.add(call.id)
        return call

    def _unused(self, name: str) -> str:
        ours, number = name, 1
        while ours in self._taken or ours in self._used:
            number += 1
            ours = f"{name[: _MAX_ID - 8]}~{number}"
        return ours

    def _continue(self, event: agui.ToolCallArgsEvent | agui.ToolCallEndEvent) -> list[BaseEvent]:
        name = event.tool_call_id
        if name in self._held:
            self._held[name][1].append(event)
            is_end = isinstance(event, agui.ToolCallEndEvent)
            return self._compare_held(name) if is_end else []
        call = self._calls.get(name)
        if call is None:
            return [event]
        if call.parts is not None:
            if isinstance(event, agui.ToolCallArgsEvent):
                call.parts.append(event.delta)
            else:
                call.args, call.parts = _digest("".join(call.parts)), None
        return [_renamed(event, call.id)]

    def _compare_held(self, name: str) -> list[BaseEvent]:
        """Decide about a call that was sent again, now that its arguments are complete."""
        call = self._calls[name]
        started, parts = self._held[name]
        is_same = not call.args or call.args == _digest(_arguments(parts))
        if call.is_finished:
            return [] if is_same else self._flush(name)
        if not call.is_earlier:
            raise ProtocolViolation(
                f"Two tool calls have the id '{name[:80]}', and the first has no result yet; give "
                "each call of an answer its own id."
            )
        # What was approved is compared with the approved arguments, which may have been edited.
        if is_same or call.is_approved:
            del self._held[name]
            return [_renamed(event, call.id) for event in (started, *parts)]
        raise _differs(name)

    def _flush(self, name: str) -> list[BaseEvent]:
        """Return the held events of a name as those of a new call."""
        started, parts = self._held.pop(name)
        events = [self._begin(started)]
        for part in parts:
            events += self._continue(part)
        return events

    def _encrypted_value(self, event: agui.ReasoningEncryptedValueEvent) -> list[BaseEvent]:
        if event.subtype != "tool-call":
            return [event]
        return [event.model_copy(update={"entity_id": self.id_for(event.entity_id)})]

    def _subagent(self, event: agui.SubagentStartedEvent) -> list[BaseEvent]:
        if event.parent_tool_call_id is None:
            return [event]
        parent = self.id_for(event.parent_tool_call_id)
        return [event.model_copy(update={"parent_tool_call_id": parent})]

    def _result(self, event: agui.ToolCallResultEvent) -> list[BaseEvent]:
        name = event.tool_call_id
        events: list[BaseEvent] = []
        ours = self._calls[name].id if name in self._calls else self._answered.get(name)
        if ours in self._earlier.answered:
            return []  # the agent repeats a result that the client has sent
        if name in self._held:
            earlier_result = self._calls[name].result
            if earlier_result == event.message_id:
                del self._held[name]
                return []
            if earlier_result is None:
                del self._held[name]  # the result of a call that was denied or cancelled
            else:
                events = self._flush(name)
        call = self._calls.get(name)
        if call is None:
            return [event]
        call.is_finished = True
        if call.result is None:
            call.result = event.message_id
        return [*events, _renamed(event, call.id)]

    def finish(self, event: agui.RunFinishedEvent) -> tuple[list[BaseEvent], agui.RunFinishedEvent]:
        """
        Return the terminal event with our ids, and the events that must come before it.

        Raises:
            ProtocolViolation: people would see the call of another turn, or other arguments than
                those that the agent displays.
        """
        outcome, events = event.outcome, list[BaseEvent]()
        if isinstance(outcome, agui.RunFinishedInterruptOutcome):
            interrupts = []
            for interrupt in outcome.interrupts:
                if (name := interrupt.tool_call_id) is not None:
                    events += self._ask_about(name)
                    interrupt = interrupt.model_copy(  # noqa: PLW2901
                        update={"tool_call_id": self.id_for(name)}
                    )
                interrupts.append(interrupt)
            outcome = outcome.model_copy(update={"interrupts": interrupts})
        elif isinstance(outcome, agui.RunFinishedSuccessOutcome) and outcome.pending_tool_call_ids:
            pending = [self.id_for(name) for name in outcome.pending_tool_call_ids]
            outcome = outcome.model_copy(update={"pending_tool_call_ids": pending})
        return events, event.model_copy(update={"outcome": outcome})

    def _ask_about(self, name: str) -> list[BaseEvent]:
        """Return the events that make a call whole before people are asked about it."""
        if name in self._held:
            return self._flush(name)
        call = self._calls.get(name)
        if call is None:
            if name in self._taken:
                raise ProtocolViolation(
                    f"An interrupt asks about tool call '{name[:80]}' of an earlier turn; send its "
                    "TOOL_CALL_START, ARGS and END in this run."
                )
            return []
        if call.displayed and call.args and call.displayed != call.args and not call.is_approved:
            raise _differs(name)
        return []

    # Snapshots

    def _snapshot(self, event: agui.MessagesSnapshotEvent) -> list[BaseEvent]:
        """Return a snapshot with our ids: those of stored messages, else by name and place."""
        latest: dict[str, str] = {}
        messages: list[Message] = []
        last_results = {
            message.tool_call_id: index
            for index, message in enumerate(event.messages)
            if isinstance(message, ToolMessage)
        }
        for index, message in enumerate(event.messages):
            if isinstance(message, AssistantMessage) and message.tool_calls:
                stored = self._stored_calls(message.id)
                calls = []
                for call in message.tool_calls:
                    ours = self._id_in_snapshot(
                        call, stored, is_open=last_results.get(call.id, -1) < index
                    )
                    latest[call.id] = ours
                    calls.append(call.model_copy(update={"id": ours}))
                message = message.model_copy(update={"tool_calls": calls})  # noqa: PLW2901
            elif isinstance(message, ToolMessage):
                ours = latest.get(message.tool_call_id) or self.id_for(message.tool_call_id)
                message = message.model_copy(update={"tool_call_id": ours})  # noqa: PLW2901
            messages.append(message)
        return [event.model_copy(update={"messages": messages})]

    def _stored_calls(self, message_id: str) -> Mapping[str, str]:
        """Return the ids of a stored message's calls, by the names that the agent gives them."""
        stored = self._conversation.message(message_id)
        calls = stored.tool_calls if isinstance(stored, AssistantMessage) else None
        names = {call.id: name for name, call in self._calls.items()}
        return {names.get(call.id) or _name_of(call.id): call.id for call in calls or ()}

    def _id_in_snapshot(
        self, wire_call: agui.ToolCall, stored: Mapping[str, str], *, is_open: bool
    ) -> str:
        name, args = wire_call.id, _digest(wire_call.function.arguments)
        call = self._calls.get(name)
        if name in stored and (call is None or call.id != stored[name]):
            return stored[name]
        if call is None or (call.args and args != call.args and name not in stored):
            for ours in self._earlier_ids(name, args):
                return ours
        if call is None:
            # Nobody can be asked about a call that was not streamed.
            return self._unused(name) if is_open else name
        call.displayed = args
        return call.id

    def _earlier_ids(self, name: str, args: str) -> Iterable[str]:
        """Yield our ids of stored calls of other turns with this name and these arguments."""
        current = self._calls.get(name)
        for message in self._conversation.messages:
            for call in (message.tool_calls or ()) if isinstance(message, AssistantMessage) else ():
                is_other = current is None or call.id != current.id
                is_named = name in (call.id, _name_of(call.id))
                if is_other and is_named and _digest(call.function.arguments) == args:
                    yield call.id

    _HANDLERS: ClassVar[Mapping[type[BaseEvent], Callable[[Any, Any], list[BaseEvent]]]] = {
        agui.ToolCallStartEvent: _start,
        agui.ToolCallArgsEvent: _continue,
        agui.ToolCallEndEvent: _continue,
        agui.ToolCallResultEvent: _result,
        agui.MessagesSnapshotEvent: _snapshot,
        agui.ReasoningEncryptedValueEvent: _encrypted_value,
        agui.SubagentStartedEvent: _subagent,
    }


class AgentNames:
    """The ids of calls as the agent gets them: its own names, for the run that is resumed."""

    def __init__(self, names: Mapping[str, str], earlier: Container[str]) -> None:
        self._names = names  #: our id -> the agent's name
        self._earlier = earlier
        #: our ids that are names of other calls in this turn
        self._shadowed = set(names.values()) - set(names)

    def __call__(self, tool_call_id: str) -> str:
        if tool_call_id in self._shadowed:
            # Ids of ours begin with ~2, so this one is free.
            return f"{tool_call_id[: _MAX_ID - 8]}~1"
        return self._names.get(tool_call_id, tool_call_id)

    def in_messages(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages with the agent's names."""
        if all(ours == name for ours, name in self._names.items()):
            return list(messages)
        return [self._in_message(message) for message in messages]

    def _in_message(self, message: Message) -> Message:
        if isinstance(message, ToolMessage):
            return message.model_copy(update={"tool_call_id": self(message.tool_call_id)})
        if isinstance(message, AssistantMessage) and message.tool_calls:
            calls = [call.model_copy(update={"id": self(call.id)}) for call in message.tool_calls]
            return message.model_copy(update={"tool_calls": calls})
        return message

    def in_events(self, events: Iterable[Any]) -> list[BaseEvent]:
        """Return committed events with the agent's names, for an agent that repeats them."""
        return [
            _renamed(event, self._committed_name(event.tool_call_id))
            if getattr(event, "tool_call_id", None) is not None
            else event
            for event in events
        ]

    def _committed_name(self, tool_call_id: str) -> str:
        """Return the name of a call that this run has committed, or of one that it resumes."""
        if tool_call_id not in self._names and tool_call_id not in self._earlier:
            name = _name_of(tool_call_id)
            return name if name in self._earlier else tool_call_id
        return self(tool_call_id)


def _renamed(event: Any, tool_call_id: str) -> BaseEvent:
    if event.tool_call_id != tool_call_id:
        event = event.model_copy(update={"tool_call_id": tool_call_id})
    renamed: BaseEvent = event
    return renamed


def _name_of(tool_call_id: str) -> str:
    """Return the agent's name for one of our ids."""
    numbered = _NUMBERED.fullmatch(tool_call_id)
    return numbered[1] if numbered else tool_call_id


def _arguments(events: Iterable[_Part]) -> str:
    return "".join(event.delta for event in events if isinstance(event, agui.ToolCallArgsEvent))


def _digest(arguments: str) -> str:
    """Return a digest of arguments that does not depend on the order of members."""
    try:
        text = json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        text = arguments
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _differs(name: str) -> ProtocolViolation:
    return ProtocolViolation(
        f"The agent sent other arguments for tool call '{name[:80]}' than those that would be "
        "shown; a call with other arguments needs an id that has no open call."
    )
