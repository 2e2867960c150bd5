"""Tools that a client offers and calls itself, on the real engine with a remote agent."""

import json
from dataclasses import replace

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.people.api_keys import make_key
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Run, ToolCall
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules.errors import (
    Forbidden,
    HistoryChanged,
    PendingInterrupts,
    ToolResultRejected,
)
from inbox.rules.people.access import SEED, Permission
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.remote_agent_server import elsewhere
from tests.support.agents.vendor_servers import finished, started
from tests.support.steps import APPROVE, entry, open_interrupts, resumed_run

__all__ = ["elsewhere"]

TOOLS = [{"name": "show_map", "description": "Show a map", "parameters": {"type": "object"}}]


@pytest.fixture
def guide(world, elsewhere):
    return set_remote_agent(
        team_id=world.team.pk, slug="guide", url=elsewhere.url, headers={}, actor=SEED
    ).agent


def user(text="To Bergen"):
    return steps.user_message(text)


def result(call="fo-1", content="map shown", message_id="m-1"):
    return {"id": message_id, "role": "tool", "toolCallId": call, "content": content}


def calls_map(call="fo-1", city="Bergen", pending=False):
    outcome = {"type": "success", **({"pendingToolCallIds": [call]} if pending else {})}
    return [
        started(),
        *vendor_servers.call("show_map", call, {"city": city}),
        finished(outcome=outcome),
    ]


def ends():
    return [started(), finished()]


def accept(world, agent, *messages, actor=None, entries=(), tools=TOOLS, thread_id="t1"):
    draft = steps.request(thread_id=thread_id, entries=tuple(entries))
    sent = {**draft.input, "messages": list(messages), "tools": tools}
    return start_run(
        agent=agent, request=replace(draft, input=sent), actor=actor or world.actor(world.bob)
    )


def send(world, agent, *messages, **fields):
    return steps.drive(accept(world, agent, *messages, **fields))


def last_sent(elsewhere):
    """Return role, call id and content of the messages that the agent got last."""
    return [
        (message["role"], message.get("toolCallId"), message.get("content"))
        for message in elsewhere.sent[-1]["messages"]
    ]


@pytest.mark.parametrize("pending", [True, False])
def test_the_result_of_a_clients_tool_reaches_the_agent(world, elsewhere, guide, pending):
    elsewhere.runs = [calls_map(pending=pending), ends()]
    send(world, guide, user())

    run = send(world, guide, result())

    assert run.status == "succeeded"
    assert last_sent(elsewhere)[-1] == ("tool", "fo-1", "map shown")
    call = ToolCall.objects.get()
    assert (call.state, call.result, call.effect) == ("settled", "map shown", "client")


def test_the_result_comes_directly_after_its_call(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), ends(), ends()]
    send(world, guide, user())
    send(world, guide, user("Are you there?"))

    send(world, guide, user("Here it is"), result())

    roles = [role for role, _, _ in last_sent(elsewhere)]
    assert roles == ["user", "assistant", "tool", "user", "user"]


def test_the_trail_names_the_client(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), ends()]
    send(world, guide, user())

    send(world, guide, result(), actor=world.actor(world.alice))

    settled = AuditEntry.objects.get(action="tool.settled")
    assert (settled.actor_kind, settled.actor_id) == ("human", str(world.alice.pk))
    assert settled.tool_call == ToolCall.objects.get()


def test_parts_reach_the_agent_as_parts(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), ends()]
    parts = [{"type": "text", "text": "map"}, {"type": "text", "text": "shown"}]
    send(world, guide, user())

    send(world, guide, result(content=parts))

    assert [part["text"] for part in last_sent(elsewhere)[-1][2]] == ["map", "shown"]
    assert ToolCall.objects.get().result == "map\nshown"


def test_the_agent_gets_its_own_name_of_the_call(world, elsewhere, guide):
    elsewhere.runs = [calls_map("call_0"), ends(), calls_map("call_0", "Oslo"), ends()]
    send(world, guide, user())
    send(world, guide, result("call_0"))
    second = send(world, guide, user("To Oslo"))
    ours = ToolCall.objects.get(run=second).tool_call_id
    assert ours != "call_0"

    send(world, guide, result(ours, "Oslo shown", "m-2"))

    assert last_sent(elsewhere)[-1] == ("tool", "call_0", "Oslo shown")
    messages = elsewhere.sent[-1]["messages"]
    calls = [call["id"] for message in messages for call in message.get("toolCalls") or ()]
    assert calls[-1] == "call_0"
    assert len(set(calls)) == 2


def test_a_result_that_the_agent_repeats_is_left_out(world, elsewhere, guide):
    repeated = {"type": "TOOL_CALL_RESULT", "toolCallId": "fo-1", "content": "map shown"}
    elsewhere.runs = [calls_map(), [started(), {**repeated, "messageId": "r"}, finished()]]
    send(world, guide, user())

    run = send(world, guide, result())

    run.thread.refresh_from_db()
    stored = json.loads(run.thread.messages)
    assert [message["id"] for message in stored if message["role"] == "tool"] == ["m-1"]


def test_a_call_of_the_next_turn_with_the_same_name_is_new(world, elsewhere, guide):
    elsewhere.runs = [calls_map("call_0"), calls_map("call_0")]
    send(world, guide, user())

    run = send(world, guide, result("call_0"))

    assert run.status == "succeeded"
    assert [call.state for call in ToolCall.objects.order_by("pk")] == ["settled", "proposed"]


# What is refused, before anything runs


def refuses(world, agent, *messages, error=ToolResultRejected, **fields):
    runs = Run.objects.count()
    with pytest.raises(error):
        accept(world, agent, *messages, **fields)
    assert Run.objects.count() == runs
    return True


def asks_about(tool):
    """Return a run that asks about one call of a tool."""
    about = {"id": "i-1", "toolCallId": "c-1", "reason": "tool_call", "message": "Go on?"}
    outcome = {"type": "interrupt", "interrupts": [about]}
    return [started(), *vendor_servers.call(tool, "c-1"), finished(outcome=outcome)]


def open_call(tool):
    """Return a run that ends without a word about its call."""
    return [started(), *vendor_servers.call(tool, "c-1"), finished()]


def test_a_client_does_not_take_over_a_tool_whose_calls_people_decide(world, bob, elsewhere, guide):
    refund = {**TOOLS[0], "name": "refund"}
    elsewhere.runs = [asks_about("refund"), ends(), open_call("refund")]
    run = send(world, guide, user(), tools=[])
    steps.deny(open_interrupts(run)[0], bob)
    resumed_run(run)

    again = send(world, guide, user(), tools=[*TOOLS, refund], thread_id="t2")

    assert [tool["name"] for tool in elsewhere.sent[-1]["tools"]] == ["show_map"]
    assert [interrupt.tool for interrupt in open_interrupts(again)] == ["refund"]
    confirmation = result("c-1", '{"accepted": true}')
    with pytest.raises(PendingInterrupts):
        accept(world, guide, confirmation, tools=[*TOOLS, refund], thread_id="t2")


def test_a_repeated_request_is_the_same_after_people_were_asked(world, elsewhere, guide):
    elsewhere.runs = [ends(), asks_about("refund")]
    draft = steps.request(thread_id="t1")
    offered = [{**TOOLS[0], "name": "refund"}]
    request = replace(draft, input={**draft.input, "messages": [user()], "tools": offered})
    first = start_run(
        agent=guide, request=request, actor=world.actor(world.bob), idempotency_key="k"
    )
    steps.drive(first)
    send(world, guide, user(), tools=[], thread_id="t2")

    again = start_run(
        agent=guide, request=request, actor=world.actor(world.bob), idempotency_key="k"
    )

    assert (again.run, again.replayed) == (first.run, True)


def test_a_client_keeps_its_tool_after_people_decided_its_call(world, bob, elsewhere, guide):
    elsewhere.runs = [asks_about("show_map"), ends(), calls_map()]
    run = send(world, guide, user())
    steps.deny(open_interrupts(run)[0], bob)
    resumed_run(run)

    assert send(world, guide, user(), thread_id="t2").status == "succeeded"


def test_results_of_other_calls_start_no_run(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), calls_map("fo-2"), ends()]
    send(world, guide, user())
    send(world, guide, user(), thread_id="t2")

    assert refuses(world, guide, result("never"))
    assert refuses(world, guide, result("fo-2"))
    assert refuses(world, guide, result(), result(message_id="m-2"))
    assert refuses(world, guide, result(), thread_id="new")
    assert ToolCall.objects.filter(state="settled").count() == 0


def test_a_tool_that_no_client_offered_has_no_result(world, elsewhere, guide):
    elsewhere.runs = [calls_map()]
    other = [{**TOOLS[0], "name": "show_chart"}]
    send(world, guide, user(), tools=other)

    assert refuses(world, guide, result(), tools=TOOLS)


def test_a_call_of_a_run_that_failed_has_no_result(world, elsewhere, guide):
    failed = {"type": "RUN_ERROR", "message": "no"}
    elsewhere.runs = [[*calls_map()[:-1], failed]]
    send(world, guide, user())

    assert refuses(world, guide, result())


def test_a_second_result_is_refused(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), ends()]
    send(world, guide, user())
    send(world, guide, result())

    assert refuses(world, guide, result(message_id="m-2"))
    assert refuses(world, guide, result(message_id="m-2", content="other"), user())
    assert refuses(world, guide, result(content="other"), user(), error=HistoryChanged)


def test_the_history_of_a_client_may_hold_its_results(world, elsewhere, guide):
    elsewhere.runs = [calls_map(), ends(), ends()]
    first = user()
    send(world, guide, first)
    send(world, guide, first, result())

    run = send(world, guide, first, result(message_id="written-anew"), user("Thanks"))

    assert run.status == "succeeded"
    assert [role for role, _, _ in last_sent(elsewhere)] == ["user", "assistant", "tool", "user"]


def test_only_callers_that_may_run_send_results(world, elsewhere, guide, carol):
    elsewhere.runs = [calls_map()]
    send(world, guide, user())

    with pytest.raises(Exception, match="Not found"):
        accept(world, guide, result(), actor=carol)

    assert ToolCall.objects.get().state == "proposed"


# Beside an approval


def asks_too():
    about = {"id": "i-1", "toolCallId": "pay-1", "reason": "tool_call", "message": "Pay?"}
    return [
        *calls_map()[:-1],
        *vendor_servers.call("pay", "pay-1", {"sum": 9}),
        finished(outcome={"type": "interrupt", "interrupts": [about]}),
    ]


def test_a_resume_may_bring_the_result(world, elsewhere, guide):
    elsewhere.runs = [asks_too(), ends()]
    (interrupt,) = open_interrupts(send(world, guide, user()))

    run = send(world, guide, result(), entries=[entry(interrupt, APPROVE)])

    assert run.status == "succeeded"
    assert ("tool", "fo-1", "map shown") in last_sent(elsewhere)
    assert elsewhere.sent[-1]["resume"][0]["status"] == "resolved"
    assert ToolCall.objects.get(name="show_map").effect == "client"


def test_the_run_after_a_decision_of_the_inbox_may_bring_it(world, bob, elsewhere, guide):
    elsewhere.runs = [asks_too(), ends(), ends()]
    interrupted = send(world, guide, user())
    assert refuses(world, guide, result(), error=PendingInterrupts)
    steps.approve(open_interrupts(interrupted)[0], bob)
    resumed_run(interrupted)

    run = send(world, guide, result())

    assert run.status == "succeeded"
    assert ("tool", "fo-1", "map shown") in last_sent(elsewhere)


def test_a_resume_that_comes_late_does_not_lose_it(world, bob, elsewhere, guide):
    elsewhere.runs = [asks_too(), ends()]
    interrupted = send(world, guide, user())
    (interrupt,) = open_interrupts(interrupted)
    steps.approve(interrupt, bob)
    resumed_run(interrupted)

    assert refuses(world, guide, result(), entries=[entry(interrupt, APPROVE)])


def test_a_call_that_people_decide_has_no_result_of_a_client(world, bob, elsewhere, guide):
    elsewhere.runs = [asks_too(), ends()]
    offered = [*TOOLS, {**TOOLS[0], "name": "pay"}]
    (interrupt,) = open_interrupts(send(world, guide, user(), tools=offered))

    send(world, guide, result("pay-1", "paid"), entries=[entry(interrupt, APPROVE)])

    assert all(call != "pay-1" for _, call, _ in last_sent(elsewhere))
    assert ToolCall.objects.get(name="pay").state == "proposed"


def test_who_may_only_decide_brings_no_result(world, elsewhere, guide):
    elsewhere.runs = [asks_too()]
    (interrupt,) = open_interrupts(send(world, guide, user()))
    scopes = {Permission.DECIDE, Permission.READ}
    _, key = make_key(team_id=world.team.pk, name="decider", scopes=scopes, actor=SEED)
    decider = actor_of_key(key)

    assert refuses(
        world, guide, result(), entries=[entry(interrupt, APPROVE)], actor=decider, error=Forbidden
    )
