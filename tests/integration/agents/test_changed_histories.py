"""A client that changes what was said is answered before anything runs."""

import json
from dataclasses import replace

import pytest

from inbox.actions.runs.start_run import start_run
from inbox.models import Run
from inbox.rules.errors import HistoryChanged
from tests.support.steps import APPROVE, entry, open_interrupts, request, start


def send(world, messages, **fields):
    """Send messages to the thread, as a client that has them all."""
    draft = request(thread_id="t1", **fields)
    return start_run(
        agent=world.agent,
        request=replace(draft, input={**draft.input, "messages": messages}),
        actor=world.actor(world.bob),
    )


def stored(run):
    """Return the messages that the thread keeps, as a client has them."""
    run.thread.refresh_from_db()
    return json.loads(run.thread.messages)


@pytest.fixture
def ended(world):
    return start(world, "rehearse:echo", thread_id="t1")


def test_a_changed_message_starts_no_run(world, ended):
    first, *others = stored(ended)
    new = {"id": "n", "role": "user", "content": "rehearse:echo"}

    with pytest.raises(HistoryChanged):
        send(world, [{**first, "content": "rehearse:tool_call"}, *others, new])

    assert Run.objects.filter(thread=ended.thread).count() == 1


def test_an_answer_is_not_generated_anew(world, ended):
    first, *_ = stored(ended)

    with pytest.raises(HistoryChanged):
        send(world, [first])

    assert Run.objects.filter(thread=ended.thread).count() == 1


def test_the_same_history_with_a_new_message_runs(world, ended):
    new = {"id": "n", "role": "user", "content": "rehearse:echo"}

    assert send(world, [*stored(ended), new]).run.pk != ended.pk
    assert Run.objects.filter(thread=ended.thread).count() == 2


def test_the_message_of_a_failed_run_may_be_sent_again(world):
    failed = start(world, "rehearse:error", thread_id="t1")
    assert failed.status == "failed"

    assert send(world, stored(failed)[:1]).run.pk != failed.pk


def test_a_resume_with_a_changed_message_decides_nothing(world):
    waiting = start(world, "rehearse:tool_call", thread_id="t1")
    (interrupt,) = open_interrupts(waiting)
    first, *others = stored(waiting)
    answers = (entry(interrupt, APPROVE),)

    with pytest.raises(HistoryChanged):
        send(world, [{**first, "content": "rehearse:echo"}, *others], entries=answers)
    assert open_interrupts(waiting)

    send(world, [first, *others], entries=answers)
    assert not open_interrupts(waiting)
