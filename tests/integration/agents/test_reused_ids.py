"""Agents that number calls and interrupts anew in each turn, on the real engine."""

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.models import Interrupt, ToolCall
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.remote_agent_server import elsewhere
from tests.support.agents.vendor_servers import LANGGRAPH_IDS, finished, started
from tests.support.steps import open_interrupts, resumed_run, start

__all__ = ["elsewhere"]

CALL = "call_0"


@pytest.fixture
def parcels(world, elsewhere):
    return set_remote_agent(
        team_id=world.team.pk, slug="parcels", url=elsewhere.url, headers={}, actor=SEED
    ).agent


def asks(to, interrupt_id="int-call_0", again=()):
    about = {"id": interrupt_id, "toolCallId": CALL, "reason": "tool_call", "message": f"To {to}?"}
    return [
        started(),
        *again,
        *vendor_servers.call("post_parcel", CALL, {"to": to}),
        finished(outcome={"type": "interrupt", "interrupts": [about]}),
    ]


def says_done(message_id="r-1"):
    result = {"type": "TOOL_CALL_RESULT", "toolCallId": CALL, "content": "posted"}
    return [started(), {**result, "messageId": message_id}, finished()]


@pytest.mark.parametrize("interrupt_ids", [("int-call_0", "int-call_0"), ("int-1", "int-2")])
def test_each_turn_asks_about_its_own_call(world, bob, elsewhere, parcels, interrupt_ids):
    elsewhere.runs = [
        asks("Ida", interrupt_ids[0]),
        says_done(),
        asks("Per", interrupt_ids[1]),
        says_done("r-2"),
    ]
    first = start(world, "To Ida.", agent=parcels, thread_id="t1")
    steps.approve(open_interrupts(first)[0], bob)
    assert resumed_run(first).status == "succeeded"

    second = start(world, "To Per.", agent=parcels, thread_id="t1")
    (interrupt,) = open_interrupts(second)

    assert interrupt.title == "Call post_parcel (to Per)"
    assert interrupt.args == '{"to":"Per"}'
    steps.deny(interrupt, bob)
    assert resumed_run(second).status == "succeeded"
    assert [(call.args, call.verdict) for call in ToolCall.objects.order_by("pk")] == [
        ('{"to":"Ida"}', "approved"),
        ('{"to":"Per"}', "denied"),
    ]


def test_the_agent_gets_its_own_ids_back(world, bob, elsewhere, parcels):
    elsewhere.runs = [asks("Ida"), says_done(), asks("Per"), says_done("r-2")]
    steps.approve(open_interrupts(start(world, "Go", agent=parcels, thread_id="t1"))[0], bob)
    resumed_run(Interrupt.objects.get().run)
    second = start(world, "Again", agent=parcels, thread_id="t1")

    steps.approve(open_interrupts(second)[0], bob)
    resumed_run(second)

    sent = elsewhere.sent[-1]
    assert [entry["interruptId"] for entry in sent["resume"]] == ["int-call_0"]
    calls = [call["id"] for message in sent["messages"] for call in message.get("toolCalls") or ()]
    assert calls[-1] == CALL
    assert calls.count(CALL) == 1


def test_clients_get_ids_that_are_unique_on_the_thread(world, bob, elsewhere, parcels):
    elsewhere.runs = [asks("Ida"), says_done(), asks("Per")]
    first = start(world, "Go", agent=parcels, thread_id="t1")
    steps.approve(open_interrupts(first)[0], bob)
    resumed_run(first)
    second = start(world, "Again", agent=parcels, thread_id="t1")

    *_, last = steps.events(second.thread_id)
    (interrupt,) = last["outcome"]["interrupts"]

    assert interrupt["id"] != "int-call_0"
    assert interrupt["id"] == open_interrupts(second)[0].interrupt_id
    assert interrupt["toolCallId"] not in ("", CALL)


def test_a_resumed_run_asks_again_under_the_same_ids(world, bob, elsewhere, parcels):
    result = {"type": "TOOL_CALL_RESULT", "toolCallId": CALL, "content": "x", "messageId": "r-1"}
    elsewhere.runs = [asks("Ida"), asks("Per", again=[result]), says_done("r-2")]
    first = start(world, "Go", agent=parcels, thread_id="t1")
    steps.approve(open_interrupts(first)[0], bob)

    second = resumed_run(first)
    (interrupt,) = open_interrupts(second)

    assert interrupt.args == '{"to":"Per"}'
    steps.approve(interrupt, bob)
    assert resumed_run(second).status == "succeeded"


def test_other_arguments_under_an_open_call_fail_before_anybody_is_asked(
    world, bob, elsewhere, parcels
):
    about = {"id": "i-2", "toolCallId": CALL, "reason": "tool_call"}
    elsewhere.runs = [
        [
            started(),
            *vendor_servers.call("post_parcel", CALL, {"to": "Ida"}),
            finished(
                outcome={
                    "type": "interrupt",
                    "interrupts": [{"id": "i-1", "reason": "confirmation"}],
                }
            ),
        ],
        [
            started(),
            *vendor_servers.call("post_parcel", CALL, {"to": "Eve"}),
            finished(outcome={"type": "interrupt", "interrupts": [about]}),
        ],
    ]
    first = start(world, "Go", agent=parcels, thread_id="t1")
    steps.answer(open_interrupts(first)[0], bob, {"approved": True})

    second = resumed_run(first)

    assert (second.status, second.error_code) == ("failed", "PROTOCOL_VIOLATION")
    assert Interrupt.objects.count() == 1


def test_a_graph_that_pauses_again_under_one_id_asks_twice(world, bob, elsewhere, parcels):
    def pauses(text):
        return [
            started(),
            vendor_servers.on_interrupt({"question": text}, LANGGRAPH_IDS[0]),
            finished(),
        ]

    elsewhere.runs = [pauses("Which colour?"), pauses("Which size?"), [started(), finished()]]
    first = start(world, "Go", agent=parcels, thread_id="t1")
    steps.answer(open_interrupts(first)[0], bob, "red")
    second = resumed_run(first)

    steps.answer(open_interrupts(second)[0], bob, "large")

    assert resumed_run(second).status == "succeeded"
    assert [sent["forwardedProps"]["command"]["resume"] for sent in elsewhere.sent[1:]] == [
        {LANGGRAPH_IDS[0]: "red"},
        {LANGGRAPH_IDS[0]: "large"},
    ]
