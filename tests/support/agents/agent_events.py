"""Events that scripted agents yield: messages, tool calls and interrupts."""

import json

import ag_ui.core as agui

from agents.agui import wire
from agents.agui.interrupts import approval_schema
from agents.agui.sequence import Sequence
from tests.support import steps


def finished(run_input, **outcome):
    return agui.RunFinishedEvent(
        thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome or None
    )


def message_events(*texts, message_id="m1"):
    yield agui.TextMessageStartEvent(message_id=message_id, role="assistant")
    for text in texts:
        yield agui.TextMessageContentEvent(message_id=message_id, delta=text)
    yield agui.TextMessageEndEvent(message_id=message_id)


def proposed(call_id="c1", name="pay", args='{"amount": 5}'):
    yield agui.ToolCallStartEvent(tool_call_id=call_id, tool_call_name=name)
    yield agui.ToolCallArgsEvent(tool_call_id=call_id, delta=args)
    yield agui.ToolCallEndEvent(tool_call_id=call_id)


def asking(run_input, *interrupts):
    return finished(run_input, type="interrupt", interrupts=list(interrupts))


def about(call_id="c1", **more):
    """Ask for an approval that may change the arguments."""
    more = {"response_schema": approval_schema(edited_args={"type": "object"}), **more}
    return agui.Interrupt(id=f"i-{call_id}", reason="tool_call", tool_call_id=call_id, **more)


def error_of(run):
    return json.loads(run.events.order_by("-seq").first().body)


def assert_readable_by_the_official_client(thread_id):
    """Every event parses with the SDK, and the whole log keeps the sequence rules."""
    sequence = Sequence()
    for event in steps.events(thread_id):
        parsed = wire.decode(json.dumps(event))
        sequence.check(parsed)
