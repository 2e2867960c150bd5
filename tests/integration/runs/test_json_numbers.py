"""Numbers and key order reach the agent as they were written; digests stay canonical."""

import json

import pytest

from inbox.models import Decision, ToolCall
from inbox.rules.decisions.consent import canonical_json, digest, load_original_value
from tests.support.agents.agent_events import about, asking, finished, proposed
from tests.support.steps import (
    answer,
    open_interrupts,
    resumed_run,
    start,
)
from tests.web.conftest import reads_bob

__all__ = ["reads_bob"]

ARGS = '{"b": 35.0, "a": 1e2, "c": 0.5, "d": "line1\\r\\nline2"}'


@pytest.fixture
def deliveries():
    return []


@pytest.fixture
def interrupt(world, as_agent, deliveries):
    """An approval; what the agent gets when it goes on is in `deliveries`."""

    async def play(run_input, context):
        if run_input.resume:
            deliveries.extend(
                (answer.resume_entry.payload, answer.proposal.args) for answer in context.answers
            )
            yield finished(run_input)
            return
        for event in proposed(args=ARGS):
            yield event
        yield asking(run_input, about())

    return open_interrupts(start(world, "go", agent=as_agent(play)))[0]


def text(value):
    return json.dumps(value)


def test_answer_is_delivered_in_the_order_and_numbers_of_its_author(interrupt, bob, deliveries):
    answer(interrupt, bob, {"reason": "ok", "approved": True})

    resumed_run(interrupt.run)

    ((payload, args),) = deliveries
    assert text(payload) == '{"reason": "ok", "approved": true}'
    assert text(args) == '{"b": 35.0, "a": 100.0, "c": 0.5, "d": "line1\\r\\nline2"}'


def test_edited_arguments_are_delivered_as_they_were_sent(interrupt, bob, deliveries):
    answer(interrupt, bob, {"approved": True, "editedArgs": {"b": 36.0, "a": 1}})

    resumed_run(interrupt.run)

    ((payload, args),) = deliveries
    assert text(args) == '{"b": 36.0, "a": 1}'
    assert text(payload["editedArgs"]) == '{"b": 36.0, "a": 1}'


def test_form_sends_untouched_values_as_the_agent_wrote_them(interrupt, reads_bob, deliveries):
    reads_bob.send(interrupt, "approve", {"args/c": "0.75"})

    resumed_run(interrupt.run)

    ((_, args),) = deliveries
    assert text(args) == '{"b": 35.0, "a": 100.0, "c": 0.75, "d": "line1\\r\\nline2"}'


def test_digests_are_those_of_the_canonical_texts(interrupt, bob):
    answer(interrupt, bob, {"reason": "ok", "approved": True})

    call, decision = ToolCall.objects.get(), Decision.objects.get()
    assert call.args == canonical_json(json.loads(ARGS))
    assert decision.args_digest == digest(call.args)
    assert decision.payload == '{"approved":true,"reason":"ok"}'


def test_written_text_of_another_value_does_not_count():
    assert load_original_value('{"a":1}', '{"a":2}') == {"a": 1}
    assert load_original_value('{"a":1}', None) == {"a": 1}
