"""Whatever an agent plays, the log is one that the official client can read."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agents.agui import wire
from agents.agui.chunks import coalesce
from agents.agui.conversation import Conversation
from agents.agui.sequence import Sequence
from tests.support import steps
from tests.support.properties.agent_scripts import malformed, well_formed
from tests.support.properties.json_values import generated

TERMINAL = {"RUN_FINISHED", "RUN_ERROR"}


def decoded(rows):
    return [wire.decode(row.body) for row in rows.order_by("seq")]


def assert_is_a_log(thread):
    """Every event parses, the order is legal, the numbers have no gap, and each run ends once."""
    rows = list(thread.events.order_by("seq"))
    sequence = Sequence()
    for row in rows:
        event = wire.decode(row.body)
        assert event.type.value == row.type
        sequence.check(event)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    for run in thread.runs.all():
        types = steps.event_types(run)
        assert types[0] == "RUN_STARTED"
        assert types[-1] in TERMINAL
        assert len(TERMINAL & set(types)) == 1
        assert sum(types.count(kind) for kind in TERMINAL) == 1


def assert_conversation_is_that_of_the_log(thread):
    conversation = Conversation()
    for event in decoded(thread.events):
        conversation.apply(event)
    stored = conversation.to_json()
    assert json.loads(thread.messages) == stored["messages"]
    assert json.loads(thread.state or "null") == stored["state"]


def bodies(run):
    """The run's events without the ids that are its own, and with its deltas merged."""
    merged = coalesce(decoded(run.events))
    written = [event.model_dump(mode="json", by_alias=True) for event in merged]
    return [
        {key: value for key, value in body.items() if key not in ("threadId", "runId")}
        for body in written
    ]


def assert_all_is_well(stage, run, actor):
    thread = steps.reread(run.thread)
    assert_is_a_log(thread)
    assert_conversation_is_that_of_the_log(thread)

    following = stage.go_on(run, actor)

    assert following.status == "succeeded"
    thread = steps.reread(thread)
    assert_is_a_log(thread)
    assert_conversation_is_that_of_the_log(thread)


@generated(35)
@given(script=well_formed())
def test_a_well_formed_script_ends_as_it_says_and_leaves_a_readable_log(stage, bob, script):
    run = stage.drive(stage.accept(script))

    expected = {"end": "succeeded", "error": "failed"}.get(script[-1], "interrupted")
    assert run.status == expected
    assert run.error_code == ("ENOUGH" if script[-1] == "error" else "")
    assert_all_is_well(stage, run, bob)


@generated(70)
@given(script=malformed())
def test_a_malformed_script_leaves_a_readable_log_and_a_usable_thread(stage, bob, script):
    run = stage.drive(stage.accept(script))

    assert run.status in ("succeeded", "interrupted", "failed")
    assert_all_is_well(stage, run, bob)


@generated(45)
@given(script=well_formed() | malformed(), commit=st.integers(0, 20), before=st.booleans())
def test_a_run_whose_worker_is_lost_ends_as_if_it_had_not_been(stage, bob, script, commit, before):
    uninterrupted, commits = stage.count_commits(script)
    run = stage.accept(script)

    stage.lose_worker(run, commit=commit % commits + 1, before=before)
    stage.find_lost_workers()
    again = stage.drive(run)

    assert (again.status, again.error_code) == (uninterrupted.status, uninterrupted.error_code)
    assert bodies(again) == bodies(uninterrupted)
    assert_all_is_well(stage, again, bob)


@generated(16)
@given(script=well_formed(), first=st.integers(0, 20), second=st.integers(0, 20))
def test_a_run_that_loses_two_workers_still_ends_as_it_would_have(
    stage, bob, script, first, second
):
    uninterrupted, commits = stage.count_commits(script)
    run = stage.accept(script)

    stage.lose_worker(run, commit=first % commits + 1, before=True)
    stage.find_lost_workers()
    # The agent asks for as many commits again, and the last of them ends the run.
    stage.lose_worker(run, commit=second % commits + 1, before=True)
    stage.find_lost_workers()
    again = stage.drive(run)

    assert (again.status, again.attempt) == (uninterrupted.status, 3)
    assert bodies(again) == bodies(uninterrupted)
    assert_all_is_well(stage, again, bob)
