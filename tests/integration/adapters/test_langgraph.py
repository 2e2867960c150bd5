"""What graphs of LangGraph pause for, on the real engine."""

import json
from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.types import interrupt
from pydantic import BaseModel

from agents.examples import desk
from agents.examples.langgraph_refund_approval import refund_approval
from inbox import engine
from inbox.models import Memory, Run, ToolCall
from inbox.queries.decisions.interrupts import detail_for
from inbox.rules import errors
from inbox.web.decisions.decision_form import DecisionForm
from tests.integration.adapters.test_framework_desks import answers, results
from tests.support import steps
from tests.support.agents.langgraph_graphs import (
    Chat,
    call,
    in_parallel,
    interrupts_of,
    model,
    one_node,
    refund,
    refund_of,
    reviewed,
    wants,
)
from tests.support.steps import open_interrupts, resumed_run, start

# -- the middleware -------------------------------------------------------------------------------


def test_each_call_of_a_batch_is_an_interrupt_and_one_resume_answers_all(
    world, as_graph, bob, dora
):
    script = [
        wants(*(refund_of(f"A{n}", 10 * n) for n in (1, 2, 3)), call("look", order="A1")),
        "Done.",
    ]

    @tool
    def look(order: str) -> str:
        """Look an order up."""
        return f"{order} is here"

    agent = as_graph(reviewed(*script, tools=(refund, look), refund=True))
    run = start(world, "go", agent=agent)
    first, second, third = open_interrupts(run)
    assert [
        json.loads(interrupt.tool_call.args)["order"] for interrupt in (first, second, third)
    ] == [
        "A1",
        "A2",
        "A3",
    ]
    assert {body["reason"] for body in interrupts_of(run)} == {"tool_call"}
    steps.approve(third, dora, editedArgs={"order": "A3", "amount": 7})
    steps.deny(second, bob)
    assert not Run.objects.filter(resumes=run).exists()
    steps.approve(first, bob)

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert sorted(desk.paid) == [("A1", 10), ("A3", 7)]
    assert ToolCall.objects.count() == 4
    assert "TOOL_CALL_START" not in steps.event_types(resumed)
    assert results(resumed)[0] == '{"ok":false,"denied":true,"reason":"not today"}'
    assert set(results(resumed)[1:]) == {
        "refunded $10.00 for A1",
        "A1 is here",
        "refunded $7.00 for A3",
    }


def test_two_calls_alike_are_told_apart_by_their_order(world, as_graph, bob):
    twice = wants(refund_of("A1", 10, "one"), refund_of("A1", 10, "two"))
    run = start(world, "go", agent=as_graph(reviewed(twice, "Done.", refund=True)))
    first, second = open_interrupts(run)
    assert first.tool_call != second.tool_call
    steps.deny(first, bob)
    steps.approve(second, bob)

    resumed_run(run)

    assert desk.paid == [("A1", 10)]
    assert [tool_call.state for tool_call in ToolCall.objects.order_by("proposed_at", "pk")] == [
        "not_run",
        "settled",
    ]


def test_the_model_hears_why_a_call_of_a_batch_was_denied(world, as_graph, bob):
    speaker = model(wants(refund_of("A1", 10)), "Done.")
    gate = HumanInTheLoopMiddleware({"refund": True})
    run = start(world, "go", agent=as_graph(create_agent(speaker, [refund], middleware=[gate])))
    steps.deny(open_interrupts(run)[0], bob)

    resumed_run(run)

    text = "User rejected the tool call for `refund` with reason: not today"
    assert speaker.prompts[-1] == text


def test_only_what_the_middleware_allows_is_offered(world, as_graph, bob):
    narrow = {"allowed_decisions": ["approve", "reject"]}
    agent = reviewed(wants(refund_of("A1", 10)), "Done.", refund=narrow)
    run = start(world, "go", agent=as_graph(agent))

    (question,) = interrupts_of(run)

    (interrupt,) = open_interrupts(run)
    assert question["responseSchema"]["properties"].keys() == {"approved", "reason"}
    assert question["message"] == "Tool execution requires approval: refund"
    assert DecisionForm(detail_for(bob, interrupt.pk)).arguments_form is None
    with pytest.raises(errors.EditsNotOffered):
        steps.approve(interrupt, bob, editedArgs={"order": "A1", "amount": 1})
    steps.approve(interrupt, bob)
    assert resumed_run(run).status == "succeeded"
    assert desk.paid == [("A1", 10)]


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_in_the_place_of_a_tool_is_its_result(world, as_graph, bob, mode, approved):
    agent = create_agent(
        model(wants(refund_of("A1", 10)), "Done."),
        [refund],
        middleware=[HumanInTheLoopMiddleware({"refund": True}, interrupt_mode=mode)],
    )
    run = start(world, "go", agent=as_graph(agent))
    steps.answer(open_interrupts(run)[0], bob, {"approved": approved, "response": "I did it."})

    resumed = resumed_run(run)

    assert (resumed.status, desk.paid) == ("succeeded", [])
    assert results(resumed) == ["I did it."]


def test_a_tool_that_people_stand_in_for_is_a_question(world, as_graph, bob):
    @tool
    def ask_person(question: str) -> str:
        """InterruptLink somebody."""
        raise AssertionError

    agent = reviewed(
        wants(call("ask_person", question="Why?")),
        "Done.",
        tools=[ask_person],
        ask_person={"allowed_decisions": ["respond"], "description": "Why?"},
    )
    run = start(world, "go", agent=as_graph(agent), thread_id="t1")
    (question,) = interrupts_of(run)
    assert (question["reason"], question["message"]) == ("input_required", "Why?")
    steps.answer(open_interrupts(run)[0], bob, "Because.")
    assert results(resumed_run(run)) == ["Because."]

    again = start(world, "once more", agent=as_graph(agent), thread_id="t1")
    steps.call_off(open_interrupts(again)[0], bob)
    assert steps.results(resumed_run(again)) == [{"ok": False, "cancelled": True}]


def test_denial_that_a_graph_cannot_take_cancels_the_run_not_the_thread(world, as_graph, bob):
    only_yes = {"allowed_decisions": ["approve"]}
    agent = as_graph(reviewed(wants(refund_of("A1", 10)), "Done.", refund=only_yes))
    run = start(world, "go", agent=agent, thread_id="t1")
    with pytest.raises(errors.InvalidPayload):
        steps.deny(open_interrupts(run)[0], bob)
    steps.call_off(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert (resumed.status, desk.paid) == ("cancelled", [])
    again = start(world, "go on", agent=agent, thread_id="t1")
    assert (again.status, answers(again), desk.paid) == ("succeeded", "Done.", [])


# -- interrupts of nodes --------------------------------------------------------------------------


def asking_node(*interrupt_links: Any, **options: Any) -> Any:
    """A node that interrupt_links these one after the other, and says what it heard."""

    def node(_state: Chat) -> Any:
        answers = [interrupt(ask, **options) for ask in interrupt_links]
        return {"messages": [AIMessage(json.dumps(answers))]}

    return node


def test_a_node_asks_in_the_words_of_its_value_and_hears_the_answer(world, as_graph, bob):
    value = {
        "question": "Which hotel?",
        "response_schema": {"type": "string", "enum": ["Ritz", "Astoria"]},
        "stars": 5,
    }
    run = start(world, "go", agent=as_graph(one_node(asking_node(value))))
    (question,) = interrupts_of(run)
    assert (question["reason"], question["message"]) == ("input_required", "Which hotel?")
    assert question["metadata"] == {"langgraph": {"value": value}}
    with pytest.raises(errors.InvalidPayload):
        steps.answer(open_interrupts(run)[0], bob, "Hilton")
    steps.answer(open_interrupts(run)[0], bob, "Ritz")

    assert answers(resumed_run(run)) == '["Ritz"]'


class Choice(BaseModel):
    hotel: Literal["Ritz", "Astoria"]


def test_an_interrupt_of_a_node_carries_the_expiry_of_its_value(world, as_graph):
    expiry = "2126-01-31T12:00:00.000Z"

    def node(state: Chat) -> dict[str, Any]:
        interrupt({"message": "Which?", "expiresAt": expiry})
        return {}

    run = start(world, "go", agent=as_graph(one_node(node)))

    assert [body["expiresAt"] for body in interrupts_of(run)] == [expiry]


def test_a_type_that_an_answer_must_have_is_asked_for(world, as_graph, bob):
    def node(_state: Chat) -> Any:
        return {"messages": [AIMessage(interrupt("Which?", response_schema=Choice).hotel)]}

    agent = as_graph(one_node(node))
    run = start(world, "go", agent=agent, thread_id="t1")
    with pytest.raises(errors.InvalidPayload):
        steps.answer(open_interrupts(run)[0], bob, {"hotel": "Hilton"})
    steps.answer(open_interrupts(run)[0], bob, {"hotel": "Astoria"})
    assert answers(resumed_run(run)) == "Astoria"

    # It has no word for calling off.
    run = start(world, "again", agent=agent, thread_id="t1")
    steps.call_off(open_interrupts(run)[0], bob)
    assert resumed_run(run).status == "cancelled"
    assert start(world, "again", agent=agent, thread_id="t1").status == "interrupted"


def test_a_node_that_reads_approvals_hears_that_nobody_decided(world, as_graph, bob):
    question = {"message": "Shall I?", "responseSchema": {"properties": {"approved": {}}}}
    run = start(world, "go", agent=as_graph(one_node(asking_node(question))))
    steps.call_off(open_interrupts(run)[0], bob)

    assert json.loads(answers(resumed_run(run))) == [{"approved": False, "cancelled": True}]


@pytest.mark.parametrize(
    "question",
    [
        "Do you approve the transfer?",
        {"question": "Do you approve?", "amount": 900},
        {"kind": "approval", "message": "Approve the transfer?"},
        {"question": "Ship it?", "options": ["approve", "reject"]},
        {"message": "Which hotel?", "responseSchema": {"type": "object"}},
    ],
    ids=["words", "question", "kind", "options", "open schema"],
)
def test_a_node_goes_on_with_no_answer_that_nobody_gave(world, as_graph, bob, question):
    run = start(world, "go", agent=as_graph(one_node(asking_node(question))))
    steps.call_off(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert resumed.status == "cancelled"
    assert answers(resumed) == answers(run)


def test_a_node_may_ask_again(world, as_graph, bob):
    run = start(world, "go", agent=as_graph(one_node(asking_node("One?", "Two?"))))
    steps.answer(open_interrupts(run)[0], bob, 1)
    second = resumed_run(run)
    assert [body["message"] for body in interrupts_of(second)] == ["Two?"]
    steps.answer(open_interrupts(second)[0], bob, 2)

    assert answers(resumed_run(second)) == "[1, 2]"


def test_nodes_in_parallel_and_in_subgraphs_wait_for_two_people(world, as_graph, bob, dora):
    # A function makes the graph anew for each run, as another worker would.
    run = start(world, "go", agent=as_graph(in_parallel))
    asked_by = {
        json.loads(interrupt.body)["message"]: interrupt for interrupt in open_interrupts(run)
    }
    assert asked_by.keys() == {"left", "right", "inner"}
    steps.answer(asked_by["right"], dora, 20)
    steps.answer(asked_by["inner"], bob, 300)
    steps.answer(asked_by["left"], bob, 1)

    resumed = resumed_run(run)

    assert (resumed.status, answers(resumed)) == ("succeeded", "321")


def test_an_answer_that_a_node_breaks_on_is_not_remembered(world, as_graph, alice, bob):
    repaired = []

    def node(_state: Chat) -> Any:
        answer = interrupt("How many?")
        if not repaired:
            raise ValueError(answer)
        return {"messages": [AIMessage(f"{answer} it is.")]}

    agent = as_graph(one_node(node))
    run = start(world, "go", agent=agent, thread_id="t1")
    steps.answer(open_interrupts(run)[0], bob, 7)
    body = Memory.objects.get().body
    failed = resumed_run(run)
    assert (failed.status, failed.error_code) == ("failed", "AGENT_ERROR")
    assert Memory.objects.get().body == body
    repaired.append(True)

    retried = steps.drive(engine.retry_run(failed.pk, alice))

    assert (retried.status, answers(retried)) == ("succeeded", "7 it is.")


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_breakpoint_asks_whether_to_go_on(world, as_graph, bob, goes_on):
    graph = one_node(lambda _state: {"messages": [AIMessage("done")]})
    run = start(world, "go", agent=as_graph(graph.compile(interrupt_before=["node"])))
    (question,) = interrupts_of(run)
    assert (question["reason"], question["message"]) == ("confirmation", "Go on with node?")
    steps.answer(open_interrupts(run)[0], bob, {"approved": goes_on})

    resumed = resumed_run(run)

    assert (resumed.status, answers(resumed)) == (
        ("succeeded", "done") if goes_on else ("cancelled", "")
    )


def test_an_answer_to_what_the_graph_does_not_ask_is_no_answer(world, as_graph, bob):
    run = start(world, "go", agent=as_graph(one_node(asking_node("Shall I?"))))
    steps.answer(open_interrupts(run)[0], bob, True)
    memory = Memory.objects.get()
    body = json.loads(memory.body)
    body["kept"]["questions"][0]["id"] = "0" * 32
    memory.body = json.dumps(body)
    memory.save()

    assert resumed_run(run).status == "failed"


def test_a_function_of_the_functional_api_asks_and_goes_on(world, as_graph, bob):
    worked = []

    @task
    def work(text: str) -> str:
        worked.append(text)
        return text.upper()

    @entrypoint()
    def flow(value: Any) -> Any:
        done = work(value["messages"][-1].text).result()
        return [AIMessage(f"{done}: {interrupt('And?')}")]

    run = start(world, "go", agent=as_graph(flow))
    assert [body["message"] for body in interrupts_of(run)] == ["And?"]
    steps.answer(open_interrupts(run)[0], bob, None)

    assert answers(resumed_run(run)) == "GO: None"
    assert worked == ["go"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"approved": True}, "Refunded $47.50 to cus_a8x2k."),
        ({"approved": True, "amount": 35.0}, "Refunded $35.00 to cus_a8x2k."),
        ({"approved": False}, "Nothing was refunded to cus_a8x2k."),
    ],
)
def test_refund_of_the_interrupt_guides_is_approved_edited_or_denied(
    world, as_graph, bob, answer, text
):
    run = start(world, "go", agent=as_graph(refund_approval))
    (question,) = open_interrupts(run)

    steps.answer(question, bob, answer)
    resumed = resumed_run(run)

    assert question.reason == "langgraph:refund_approval"
    assert resumed.status == "succeeded"
    assert text in json.dumps(steps.events(run.thread_id))
