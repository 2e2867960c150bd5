"""Clients that send the result of one call of their tools at the same moment."""

from dataclasses import replace
from functools import partial

import pytest

from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Run, ToolCall
from inbox.rules.errors import ThreadBusy, ToolResultRejected
from tests.support import steps
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services

TOOLS = [{"name": "show_map", "description": "", "parameters": {}}]


def send(world, actor, thread_id, *messages):
    draft = steps.request(thread_id=thread_id)
    sent = {**draft.input, "messages": list(messages), "tools": TOOLS}
    return start_run(agent=world.agent, request=replace(draft, input=sent), actor=actor)


def waiting_for_a_map(world, actor, thread_id):
    """Return a call of a client's tool that has no result."""
    run = steps.drive(send(world, actor, thread_id, steps.user_message("rehearse:echo")))
    return ToolCall.objects.create(
        team=world.team,
        agent=world.agent,
        thread=run.thread,
        run=run,
        tool_call_id="map",
        name="show_map",
        args="{}",
        proposed_at=run.queued_at,
    )


def test_of_several_results_of_one_call_exactly_one_counts(committed_world, race_bob):
    for number in range(rounds(short=10, long=60)):
        thread_id = f"map-{number}"
        call = waiting_for_a_map(committed_world, race_bob, thread_id)
        results = [
            {"id": f"m-{each}", "role": "tool", "toolCallId": "map", "content": f"map {each}"}
            for each in range(4)
        ]
        sends = [partial(send, committed_world, race_bob, thread_id, result) for result in results]

        outcomes = at_once(sends)

        (winner,) = [index for index, each in enumerate(outcomes) if not failures([each])]
        assert all(isinstance(each, ThreadBusy | ToolResultRejected) for each in failures(outcomes))
        call.refresh_from_db()
        assert call.result == f"map {winner}"
        assert AuditEntry.objects.filter(action="tool.settled", tool_call=call).count() == 1
        assert Run.objects.filter(thread=call.thread).count() == 2
