"""A small grammar of what agents do, and how a script of it is performed."""

import contextlib
import json
from itertools import pairwise

import ag_ui.core as agui
from hypothesis import strategies as st

from agents.port import Effect, ToolRefused
from tests.support.properties.json_values import texts, values

# A script is a list of events and of words: "pause" commits what was said before it, ("run", call,
# args) has the journal run a tool, and an ending is the last word.
ENDINGS = ["end", "ask", "ask twice", "ask about a call", "error", "raise", "stop"]
ORDERLY = ["end", "ask", "ask twice", "ask about a call", "error"]


async def perform(script, run_input, ctx):
    """Yield the events of a script, and do what it says in between."""
    calls = []
    for item in script:
        if item == "pause":
            with contextlib.suppress(ToolRefused):  # what was said is committed before the refusal
                await ctx.journal.begin("nowhere", args={}, effect=Effect.READ)
        elif isinstance(item, str):
            if (last := ending(item, run_input, calls)) is not None:
                yield last
        elif isinstance(item, tuple):
            _, call, args = item
            with contextlib.suppress(ToolRefused):  # a malformed script never proposed the call
                permit = await ctx.journal.begin(call, args=args, effect=Effect.IDEMPOTENT)
                result = permit.result or f"done {call}"
                if permit.result is None:
                    await ctx.journal.settle(call, result=result)
                yield agui.ToolCallResultEvent(
                    message_id=f"r-{call}", tool_call_id=call, content=result
                )
        else:
            if isinstance(item, agui.ToolCallStartEvent):
                calls.append(item.tool_call_id)
            yield item


def ending(word, run_input, calls):
    """The last event of a script; None if it ends without one."""
    if word == "raise":
        raise RuntimeError("on purpose")
    if word == "error":
        return agui.RunErrorEvent(message="No more", code="ENOUGH")
    if word == "stop":
        return None
    interrupts = [
        agui.Interrupt(id=f"i{number}", reason="confirmation")
        for number in range({"ask": 1, "ask twice": 2}.get(word, 0))
    ]
    if word == "ask about a call":
        call = calls[-1] if calls else "nowhere"
        interrupts = [agui.Interrupt(id="i", reason="tool_call", tool_call_id=call)]
    return agui.RunFinishedEvent(
        thread_id=run_input.thread_id,
        run_id=run_input.run_id,
        outcome={"type": "interrupt", "interrupts": interrupts} if interrupts else None,
    )


def cut(text, at):
    """The text in pieces, as a model's deltas come."""
    bounds = [0, *sorted(place % (len(text) + 1) for place in at), len(text)]
    return [text[start:two] for start, two in pairwise(bounds) if start < two]


cuts = st.lists(st.integers(0, 40), max_size=3)
pauses = st.sampled_from([["pause"], []])


@st.composite
def message_events(draw, name):
    event = draw(st.sampled_from(["text", "text", "reasoning"]))
    pieces = [piece for piece in draw(st.lists(texts, max_size=3)) if piece]
    if event == "text":
        start = agui.TextMessageStartEvent(message_id=name, role="assistant")
        deltas = [agui.TextMessageContentEvent(message_id=name, delta=piece) for piece in pieces]
        end = agui.TextMessageEndEvent(message_id=name)
    else:
        start = agui.ReasoningMessageStartEvent(message_id=name, role="reasoning")
        deltas = [
            agui.ReasoningMessageContentEvent(message_id=name, delta=piece) for piece in pieces
        ]
        end = agui.ReasoningMessageEndEvent(message_id=name)
    middle = draw(pauses)
    return [start, *deltas[:1], *middle, *deltas[1:], end]


@st.composite
def called(draw, name):
    args = draw(st.dictionaries(st.sampled_from("ab"), values, max_size=2))
    deltas = [
        agui.ToolCallArgsEvent(tool_call_id=name, delta=piece)
        for piece in cut(json.dumps(args), draw(cuts))
    ]
    after = draw(
        st.sampled_from(
            [
                [],
                [("run", name, args)],
                [("run", name, args), "pause"],
                [agui.ToolCallResultEvent(message_id=f"r-{name}", tool_call_id=name, content="x")],
            ]
        )
    )
    return [
        agui.ToolCallStartEvent(tool_call_id=name, tool_call_name="pay"),
        *deltas[:1],
        *draw(pauses),
        *deltas[1:],
        agui.ToolCallEndEvent(tool_call_id=name),
        *after,
    ]


@st.composite
def changed_state(draw, _name):
    value = draw(values)
    key = draw(st.sampled_from(["a", "b"]))
    return [
        agui.StateSnapshotEvent(snapshot={"a": 1}),
        *draw(pauses),
        agui.StateDeltaEvent(delta=[{"op": "add", "path": f"/{key}", "value": value}]),
    ]


@st.composite
def blocks(draw, name="0", depth=2):
    """Some blocks after each other, of which a step holds blocks itself."""
    script = []
    for number in range(draw(st.integers(0 if depth < 2 else 1, 3))):
        block_id = f"{name}.{number}"
        kinds = ["said", "said", "called", "called", "state", "custom", *(["step"] * depth)]
        kind = draw(st.sampled_from(kinds))
        if kind == "step":
            inside = draw(blocks(block_id, depth - 1))
            start, finish = agui.StepStartedEvent, agui.StepFinishedEvent
            script += [start(step_name=block_id), *inside, finish(step_name=block_id)]
        elif kind == "custom":
            script.append(agui.CustomEvent(name="note", value=draw(values)))
        else:
            script += draw(
                {"said": message_events, "called": called, "state": changed_state}[kind](block_id)
            )
        script += draw(pauses)
    return script


@st.composite
def well_formed(draw):
    script = draw(blocks())
    fitting = [
        word
        for word in ORDERLY
        if word != "ask about a call"
        or any(isinstance(item, agui.ToolCallStartEvent) for item in script)
    ]
    return [*script, draw(st.sampled_from(fitting))]


STRAY = [
    agui.TextMessageContentEvent(message_id="nobody", delta="x"),
    agui.TextMessageStartEvent(message_id="0.0", role="assistant"),
    agui.ToolCallStartEvent(tool_call_id="0.0", tool_call_name="pay"),
    agui.ToolCallArgsEvent(tool_call_id="0.0", delta="]"),
    agui.ToolCallArgsEvent(tool_call_id="nobody", delta="{}"),
    agui.ToolCallEndEvent(tool_call_id="0.1"),
    agui.StepFinishedEvent(step_name="nobody"),
    agui.StateDeltaEvent(delta=[{"op": "remove", "path": "/nowhere/at/all"}]),
    agui.StateDeltaEvent(delta=[{"op": "test", "path": "/a", "value": "never"}]),
    agui.RunStartedEvent(thread_id="t", run_id="r"),
    agui.CustomEvent(name="n", value="\ud800"),
    agui.CustomEvent(name="n", value=float("nan")),
    agui.TextMessageChunkEvent(message_id="chunked", role="assistant", delta="x"),
    agui.ToolCallChunkEvent(tool_call_id="piece", tool_call_name="pay", delta="{"),
    agui.RawEvent(event={"secret": 1}),
    ("run", "nobody", {}),
    ("run", "0.0", {"other": "arguments"}),
    *ENDINGS,
]


@st.composite
def malformed(draw):
    """A script with some of its items lost, said twice, swapped, or with strays between them."""
    script = [*draw(blocks()), draw(st.sampled_from(ENDINGS))]
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(script)))
        match draw(st.sampled_from(["lose", "repeat", "swap", "stray", "stray"])):
            case "lose":
                script = [*script[:at], *script[at + 1 :]]
            case "repeat":
                script = [*script[:at], *script[at : at + 1], *script[at:]]
            case "swap":
                script = [*script[:at], *reversed(script[at : at + 2]), *script[at + 2 :]]
            case _:
                script = [*script[:at], draw(st.sampled_from(STRAY)), *script[at:]]
    return script
