"""Tools that a client offers: the servers' models call them, and read what the client sends."""

from dataclasses import replace
from functools import partial
from uuid import uuid4

import pytest

from inbox.actions.runs.start_run import start_run
from inbox.models import ToolCall
from tests.e2e.frameworks.running import FRAMEWORKS, OTHERS, each_of, text_parts
from tests.support import steps

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "show_map", "description": "Show a map of a city.", "parameters": CITY}]


capability = pytest.mark.capability
these = partial(each_of, [*FRAMEWORKS, *OTHERS])


def send(world, agent, thread_id, *messages):
    draft = steps.request(thread_id=thread_id)
    sent = {**draft.input, "messages": list(messages), "tools": TOOLS}
    request = replace(draft, input=sent)
    return steps.drive(start_run(agent=agent, request=request, actor=world.actor(world.alice)))


@capability("tools")
@these(lambda server: server.takes_tools)
def test_the_result_of_a_tool_of_the_client_reaches_a_server(world, desk, refunds):
    thread_id = str(uuid4())
    run = send(world, refunds, thread_id, steps.user_message("show me the map"))
    call = ToolCall.objects.get()
    assert (run.status, call.name, call.args, call.result) == (
        "succeeded",
        "show_map",
        '{"city":"Bergen"}',
        None,
    )

    result = {"id": "m-1", "role": "tool", "toolCallId": call.tool_call_id, "content": "map shown"}
    answered = send(world, refunds, thread_id, result)

    assert answered.status == "succeeded"
    assert "done: map shown" in "".join(text_parts(answered))
    assert ToolCall.objects.get().result == "map shown"
    assert desk.ran == []


@capability("tools", by="takes_tools")
@these(lambda server: not server.takes_tools)
def test_a_call_of_a_tool_that_a_server_does_not_offer_fails_the_run(world, desk, refunds):
    run = send(world, refunds, str(uuid4()), steps.user_message("show me the map"))

    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")
    assert desk.ran == []
