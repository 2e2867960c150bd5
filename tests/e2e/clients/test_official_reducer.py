"""The sequence rules and the reducer against the official client, over random streams."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import ag_ui.core as agui
import pytest

from agents.agui import wire
from agents.agui.chunks import ChunkExpander
from agents.agui.conversation import Conversation
from agents.agui.errors import ProtocolViolation
from agents.agui.sequence import Sequence
from tests.support.node import check_out, find_node

pytestmark = pytest.mark.javascript

FOLDER = Path(__file__).parent
MESSAGE_IDS = ("a", "b")
CALL_IDS = ("ta", "tb")
SUBAGENTS = ("s1", "s2", "s3")


@pytest.fixture(scope="module")
def ask_client(tmp_path_factory):
    node = find_node()
    project = FOLDER / "javascript"
    scripts = check_out(project, into=tmp_path_factory.mktemp("client") / "scripts", node=node)

    def ask(script, streams):
        lines = ["[" + ",".join(map(wire.encode, stream)) + "]" for stream in streams]
        done = subprocess.run(
            [node.node, shutil.copy(FOLDER / script, scripts)],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


class Producer:
    """Yields random events over few ids, so that they meet each other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._results = 0

    def stream(self) -> tuple[list[agui.BaseEvent], int]:
        """Make a stream of mostly legal events; return how many of them we accept."""
        sequence = Sequence()
        events: list[agui.BaseEvent] = []
        for _ in range(self._random.randint(1, 30)):
            event = self._event() if events else self._first()
            try:
                sequence.check(event)
            except ProtocolViolation:
                if self._random.random() < 0.05:
                    return [*events, event], len(events)
            else:
                events.append(event)
        if events and self._random.random() < 0.3:
            events += sequence.closing_events()
        return events, len(events)

    def _first(self) -> agui.BaseEvent:
        return wire.run_started("t", "r") if self._random.random() < 0.95 else self._event()

    def _one(self, *choices):
        return self._random.choice(choices)

    def _event(self) -> agui.BaseEvent:
        kind = self._one(*self._KINDS)
        fields = {"subagent_run_id": self._one(None, None, None, "s1", "s2")}
        if self._random.random() < 0.3:
            fields["metadata"] = self._one({"k": self._random.randint(0, 3)}, {"l": None})
        for name in kind.model_fields:
            if name in self._VALUES:
                fields[name] = self._VALUES[name](self)
        return kind(**self._special(kind, fields))

    def _special(self, kind, fields):
        """Fields whose values depend on the kind of event."""
        if issubclass(kind, agui.SubagentStartedEvent | agui.SubagentFinishedEvent):
            fields["subagent_run_id"] = self._one(*SUBAGENTS)
        if kind is agui.SubagentErrorEvent:
            fields |= {"subagent_run_id": self._one(*SUBAGENTS), "message": "no"}
        if kind is agui.ToolCallResultEvent:
            self._results += 1
            fields |= {"message_id": f"r{self._results}", "content": "done"}
        if kind is agui.StateDeltaEvent:
            value = self._random.randint(0, 5)
            fields["delta"] = [{"op": "add", "path": "/x", "value": value}]
        if kind is agui.MessagesSnapshotEvent:
            fields["messages"] = self._messages()
        return fields

    def _messages(self):
        drawn = [self._message() for _ in range(self._random.randint(0, 3))]
        return list({message.id: message for message in drawn}.values())

    def _message(self):
        fields = {"id": self._one(*MESSAGE_IDS, "z"), "subagent_run_id": self._one(None, "s1")}
        function = agui.FunctionCall(name="n", arguments="1")
        return self._one(
            lambda: agui.UserMessage(content="u", **fields),
            lambda: agui.AssistantMessage(content="x", **fields),
            lambda: agui.AssistantMessage(
                tool_calls=[agui.ToolCall(id=self._one(*CALL_IDS), function=function)], **fields
            ),
            lambda: agui.ReasoningMessage(content="r", **fields),
            lambda: agui.ActivityMessage(activity_type="P", content={"q": 1}, **fields),
            lambda: agui.ToolMessage(content="r", tool_call_id=self._one(*CALL_IDS), **fields),
        )()

    def _input(self):
        messages = self._messages()
        return self._one(None, agui.RunAgentInput(thread_id="t", run_id="r", messages=messages))

    _VALUES = {
        "message_id": lambda self: self._one(*MESSAGE_IDS),
        "tool_call_id": lambda self: self._one(*CALL_IDS),
        "tool_call_name": lambda self: self._one("n", "o"),
        "parent_message_id": lambda self: self._one(None, *MESSAGE_IDS),
        "parent_subagent_run_id": lambda self: self._one(None, None, "s1"),
        "step_name": lambda self: self._one("a", "b"),
        "entity_id": lambda self: self._one(*MESSAGE_IDS, *CALL_IDS),
        "subtype": lambda self: self._one("tool-call", "message"),
        "replace": lambda self: self._one(None, True, False),
        "input": _input,
        "encrypted_value": lambda _: "e",
        "name": lambda _: "n",
        "value": lambda _: 1,
        "delta": lambda _: "1",
        "activity_type": lambda _: "P",
        "content": lambda _: {"a": 1},
        "patch": lambda _: [{"op": "add", "path": "/b", "value": 2}],
        "snapshot": lambda _: {"a": 1},
        "thread_id": lambda _: "t",
        "run_id": lambda _: "r",
        "message": lambda _: "no",
    }
    _KINDS = (
        agui.TextMessageStartEvent,
        agui.TextMessageContentEvent,
        agui.TextMessageEndEvent,
        agui.ToolCallStartEvent,
        agui.ToolCallArgsEvent,
        agui.ToolCallEndEvent,
        agui.ToolCallResultEvent,
        agui.ReasoningStartEvent,
        agui.ReasoningEndEvent,
        agui.ReasoningMessageStartEvent,
        agui.ReasoningMessageContentEvent,
        agui.ReasoningMessageEndEvent,
        agui.ReasoningEncryptedValueEvent,
        agui.StepStartedEvent,
        agui.StepFinishedEvent,
        agui.SubagentStartedEvent,
        agui.SubagentFinishedEvent,
        agui.SubagentErrorEvent,
        agui.ActivitySnapshotEvent,
        agui.ActivityDeltaEvent,
        agui.MessagesSnapshotEvent,
        agui.StateSnapshotEvent,
        agui.StateDeltaEvent,
        agui.CustomEvent,
        agui.RunStartedEvent,
        agui.RunFinishedEvent,
        agui.RunErrorEvent,
    )


def random_chunk(choose):
    """Make a chunk that says much or little."""
    kind = choose(agui.TextMessageChunkEvent, agui.ToolCallChunkEvent, ReasoningChunk)
    fields = {
        "message_id": choose(None, None, "a", "b"),
        "tool_call_id": choose(None, None, "ta", "tb"),
        "tool_call_name": choose(None, "n", "n", "n", "o"),
        "parent_message_id": choose(None, None, None, "a"),
        "role": choose(None, None, None, "assistant", "user"),
        "name": choose(None, None, None, None, "Dana"),
        "delta": choose(None, "x", "x", ""),
        "subagent_run_id": choose(None, None, "s1", "s2"),
        "metadata": choose(None, None, {"k": 1}),
        "raw_event": choose(None, None, None, {"id": 1}),
    }
    known_fields = {name: value for name, value in fields.items() if name in kind.model_fields}
    return kind(**known_fields | choose({}, {}, {}, {"later": 1}))


ReasoningChunk = agui.ReasoningMessageChunkEvent
INTERRUPTIONS = (
    agui.CustomEvent(name="n", value=1),
    agui.CustomEvent(name="n", value=1, subagent_run_id="s1"),
    agui.RawEvent(event={}),
    agui.StateSnapshotEvent(snapshot={}),
    agui.TextMessageStartEvent(message_id="z"),
    agui.ToolCallResultEvent(message_id="r", tool_call_id="ta", content="x"),
    agui.ActivitySnapshotEvent(message_id="x", activity_type="P", content={}),
    agui.ReasoningEncryptedValueEvent(subtype="message", entity_id="a", encrypted_value="e"),
    agui.SubagentStartedEvent(subagent_run_id="s1", name="n"),
    agui.SubagentFinishedEvent(subagent_run_id="s1"),
    agui.SubagentErrorEvent(subagent_run_id="s2", message="no"),
    agui.MessagesSnapshotEvent(messages=[]),
    agui.RunFinishedEvent(thread_id="t", run_id="r"),
    agui.RunErrorEvent(message="no"),
)


def chunk_stream(random_):
    """Make a stream of chunks, mostly ones that go on with what is there."""
    events, trial = [], ChunkExpander()
    for _ in range(random_.randint(1, 15)):
        is_chunk = random_.random() < 0.8
        event = random_chunk(lambda *of: random_.choice(of)) if is_chunk else None
        event = event or random_.choice(INTERRUPTIONS)
        try:
            trial.expand(event)
        except ProtocolViolation:
            if random_.random() < 0.1:
                return [*events, event]
            trial = ChunkExpander()
            for earlier in events:
                trial.expand(earlier)
        else:
            events.append(event)
    return events


def expanded(events):
    """What we make of a stream, up to the first event that we refuse."""
    expander, expanded_events = ChunkExpander(), []
    for event in events:
        try:
            expanded_events += expander.expand(event)
        except ProtocolViolation as error:
            return expanded_events, str(error)
    return expanded_events, None


def test_we_write_chunks_out_exactly_as_the_official_client_does(ask_client):
    random_ = random.Random(4)
    streams = [stream for stream in (chunk_stream(random_) for _ in range(600)) if stream]

    verdicts = ask_client("official_chunks.mjs", streams)

    for stream, verdict in zip(streams, verdicts, strict=True):
        text = "\n".join(map(wire.encode, stream))
        events, error = expanded(stream)
        assert (error is None) == (verdict["error"] is None), f"{error} {verdict['error']}\n{text}"
        assert [json.loads(wire.encode(event)) for event in events] == verdict["expanded"], text
    refusals = sum(verdict["error"] is not None for verdict in verdicts)
    assert 50 < refusals < 0.9 * len(streams), (
        "the streams are too legal or too illegal to prove anything"
    )


def reduced(events):
    conversation = Conversation(state={})
    for event in events:
        conversation.apply(event)
    return conversation.to_json()


@pytest.mark.parametrize("seed", [1, 2])
def test_we_accept_and_reduce_streams_exactly_as_the_official_client_does(ask_client, seed):
    producer = Producer(seed)
    drawn = [producer.stream() for _ in range(800)]
    streams = [(events, accepted) for events, accepted in drawn if events]

    verdicts = ask_client("official_client.mjs", [events for events, _ in streams])

    assert len(verdicts) == len(streams)
    for (events, accepted), verdict in zip(streams, verdicts, strict=True):
        text = "\n".join(map(wire.encode, events))
        assert verdict["accepted"] == accepted, f"{verdict['error']}\n{text}"
        if verdict["error"] is None:
            ours = reduced(events)
            assert ours["messages"] == verdict["messages"], text
            assert ours["state"] == verdict["state"], text
    refusals = sum(verdict["error"] is not None for verdict in verdicts)
    assert 50 < refusals < 0.9 * len(streams), (
        "the streams are too legal or too illegal to prove anything"
    )
