"""Tools that graphs of LangGraph call, and the journal, on the real engine."""

import asyncio
import json
from base64 import b64decode, b64encode
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolRuntime
from langgraph.types import Command, interrupt

from agents.adapters.langgraph.tool_calls import ToolCalls
from agents.examples import desk
from agents.examples.langgraph_desk import langgraph_refunds
from inbox import engine, sweeper
from inbox.models import Memory, Run, ToolCall
from tests.integration.adapters.test_framework_desks import answers, results
from tests.support import steps
from tests.support.agents.langgraph_graphs import (
    Chat,
    call,
    classic,
    interrupts_of,
    model,
    one_node,
    refund,
    refund_of,
    reviewed,
    wants,
)
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.steps import open_interrupts, resumed_run, start


@tool
def ask_amount(order: str) -> str:
    """Ask how much."""
    amount = interrupt(f"How much for {order}?", response_schema={"type": "number"})
    return desk.pay(order, amount)


@tool
async def ask_amount_async(order: str) -> str:
    """Ask how much."""
    amount = interrupt(f"How much for {order}?", response_schema={"type": "number"})
    return desk.pay(order, amount)


@pytest.mark.parametrize("asking", [ask_amount, ask_amount_async])
def test_a_tool_that_asks_is_called_again_with_the_answer(world, as_graph, bob, asking):
    request = wants(call(asking.name, order="A1"))
    run = start(world, "go", agent=as_graph(create_agent(model(request, "Done."), [asking])))
    (interrupt_row,) = open_interrupts(run)
    assert interrupt_row.tool_call.state == "proposed"
    steps.answer(interrupt_row, bob, 12)

    resumed = resumed_run(run)

    assert results(resumed) == ["refunded $12.00 for A1"]
    assert desk.paid == [("A1", 12)]


def test_a_tool_whose_question_is_called_off_is_not_called_again(world, as_graph, bob):
    request = wants(call("ask_amount", order="A1"))
    run = start(world, "go", agent=as_graph(create_agent(model(request, "Done."), [ask_amount])))
    steps.call_off(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert (resumed.status, desk.paid) == ("succeeded", [])
    assert steps.results(resumed) == [{"ok": False, "cancelled": True}]


@pytest.mark.parametrize("change", [{}, {"editedArgs": {"order": "A1", "amount": 9}}])
def test_a_tool_may_ask_for_its_own_approval(world, as_graph, bob, change):
    @tool
    def careful(order: str, amount: float) -> str:
        """Pay money back."""
        assert interrupt({"reason": "tool_call", "message": "Pay?"})["approved"]
        return desk.pay(order, amount)

    request = wants(call("careful", order="A1", amount=12))
    run = start(world, "go", agent=as_graph(create_agent(model(request, "Done."), [careful])))
    (question,) = interrupts_of(run)
    assert question["reason"] == "tool_call"
    steps.approve(open_interrupts(run)[0], bob, **change)

    assert resumed_run(run).status == "succeeded"
    assert desk.paid == [("A1", 9 if change else 12)]


def test_a_call_beside_one_that_pauses_is_made_once(world, as_graph, bob):
    request = wants(call("ask_amount", order="A1"), refund_of("B7", 6))
    run = start(world, "go", agent=as_graph(classic(request, "Done.", tools=[ask_amount, refund])))
    assert desk.paid == [("B7", 6)]
    steps.answer(open_interrupts(run)[0], bob, 12)

    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert desk.paid == [("B7", 6), ("A1", 12)]
    assert ToolCall.objects.count() == 2


@tool
def fails(order: str) -> str:
    """Break."""
    raise ConnectionResetError(order)


@pytest.mark.parametrize(
    ("make", "beside", "status", "state"),
    [
        (classic, ask_amount, "interrupted", "proposed"),
        (classic, fails, "failed", "in_doubt"),
        (reviewed, fails, "failed", "in_doubt"),
    ],
)
def test_a_call_is_made_to_its_end_whatever_comes_of_those_beside_it(
    world, as_graph, monkeypatch, make, beside, status, state
):
    stopped, finished = asyncio.Event(), ToolCalls.wait_until_finished

    async def announced(calls: ToolCalls) -> None:
        stopped.set()
        await finished(calls)

    @tool
    async def slow(order: str) -> str:
        """Pay when the graph has stopped."""
        await stopped.wait()
        return desk.pay(order, 10)

    monkeypatch.setattr(ToolCalls, "wait_until_finished", announced)
    request = wants(call(beside.name, order="A1"), call("slow", order="B2"))

    run = start(world, "go", agent=as_graph(make(request, "Done.", tools=[beside, slow])))

    assert (run.status, desk.paid) == (status, [("B2", 10)])
    assert {tool_call.name: tool_call.state for tool_call in ToolCall.objects.all()} == {
        beside.name: state,
        "slow": "settled",
    }


def test_a_call_beside_a_pause_that_is_written_over_is_not_made_again(
    world, as_graph, bob, monkeypatch
):
    speaker = model(wants(call("ask_amount", order="A1"), refund_of("B7", 6)), "Done.")
    agent = as_graph(create_agent(speaker, [ask_amount, refund]))
    run = start(world, "go", agent=agent, thread_id="t1")
    steps.answer(open_interrupts(run)[0], bob, 12)
    with monkeypatch.context() as broken:
        broken.setattr(desk, "pay", None)
        assert resumed_run(run).status == "failed"

    again = start(world, "never mind", agent=agent, thread_id="t1")

    assert (again.status, desk.paid) == ("succeeded", [("B7", 6)])
    assert speaker.prompts[2].startswith("The call has no result")
    assert speaker.prompts[3:] == ["refunded $6.00 for B7", "never mind"]


@tool
def counted(order: str) -> str:
    """Pay ten."""
    return desk.pay(order, 10)


@pytest.mark.parametrize("is_async", [False, True])
def test_calls_of_an_agent_within_a_function_go_through_the_journal(world, as_graph, bob, is_async):
    request = wants(refund_of("A1", 10), call("counted", order="B2"))
    inner = reviewed(request, "Done.", tools=(refund, counted), refund=True)

    def in_thread(state: Chat) -> Any:
        return {"messages": inner.invoke({"messages": state["messages"]})["messages"][-1:]}

    async def in_loop(state: Chat) -> Any:
        after = await inner.ainvoke({"messages": state["messages"]})
        return {"messages": after["messages"][-1:]}

    run = start(world, "go", agent=as_graph(one_node(in_loop if is_async else in_thread)))
    steps.approve(open_interrupts(run)[0], bob, editedArgs={"order": "A1", "amount": 4})

    assert resumed_run(run).status == "succeeded"
    assert sorted(desk.paid) == [("A1", 4), ("B2", 10)]
    assert {tool_call.state for tool_call in ToolCall.objects.all()} == {"settled"}


def test_a_call_that_a_node_makes_itself_is_in_the_journal(world, as_graph):
    def node(_state: Chat) -> Any:
        return {"messages": [refund.invoke({**refund_of("A1", 10), "type": "tool_call"})]}

    run = start(world, "go", agent=as_graph(one_node(node)))

    assert (run.status, desk.paid) == ("succeeded", [("A1", 10)])
    assert (ToolCall.objects.get().state, results(run)) == ("settled", ["refunded $10.00 for A1"])


def test_a_call_that_would_block_the_event_loop_is_refused(world, as_graph):
    async def node(_state: Chat) -> Any:
        return {"messages": [refund.invoke({**refund_of("A1", 10), "type": "tool_call"})]}

    run = start(world, "go", agent=as_graph(one_node(node)))

    assert (run.status, desk.paid) == ("failed", [])


def test_what_is_injected_into_a_tool_is_no_argument(world, as_graph, bob):
    @tool
    def transfer(
        amount: float, runtime: ToolRuntime, call_id: Annotated[str, InjectedToolCallId]
    ) -> Command:
        """Pay somebody."""
        desk.pay(runtime.state["messages"][0].text, amount)
        return Command(update={"messages": [HumanMessage(call_id)]})

    script = [wants(call("transfer", amount=3.0)), "Done."]
    run = start(
        world,
        "A1",
        agent=as_graph(reviewed(*script, tools=[transfer], transfer=True)),
    )
    (question,) = interrupts_of(run)
    edits = question["responseSchema"]["properties"]["editedArgs"]["properties"]
    assert edits.keys() == {"amount"}
    steps.approve(open_interrupts(run)[0], bob, editedArgs={"amount": 2.0})

    assert resumed_run(run).status == "failed"  # a Command without a message for the call
    assert desk.paid == [("A1", 2)]


def test_invalid_arguments_go_back_to_the_model_and_are_not_in_doubt(world, as_graph):
    wrong = wants(call("refund", order="A1", amount="much"))
    run = start(world, "go", agent=as_graph(create_agent(model(wrong, "Sorry."), [refund])))

    assert (run.status, desk.paid) == ("succeeded", [])
    assert answers(run) == "Sorry."
    assert ToolCall.objects.get().state == "settled"


def test_tool_exception_for_the_model_means_no_side_effect(world, as_graph):
    @tool
    def closed(order: str) -> str:
        """Pay."""
        raise ToolException("the bank is closed")

    request = wants(call("closed", order="A1"))
    run = start(world, "go", agent=as_graph(create_agent(model(request, "Sorry."), [closed])))

    assert run.status == "succeeded"
    assert steps.results(run) == [{"ok": False, "error": "the bank is closed"}]


@pytest.mark.parametrize("effect", ["read", "once"])
def test_what_a_tool_told_its_graph_to_do_is_not_made_up_when_it_is_lost(
    world, as_graph, alice, bob, monkeypatch, later, effect
):
    @tool
    def note(order: str, call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Note an order."""
        desk.paid.append((order, 0))
        return Command(update={"messages": [ToolMessage("noted", tool_call_id=call_id)]})

    note.metadata = {"effect": effect}
    request = wants(refund_of("A1", 10), call("note", order="B2"))
    agent = as_graph(reviewed(request, "Done.", tools=[refund, note], refund=True))
    lost = lost_resume(start(world, "go", agent=agent), bob, monkeypatch, later)

    retried = steps.drive(engine.retry_run(lost.pk, alice))

    # Only what does no harm may be asked once more.
    assert retried.status == ("succeeded" if effect == "read" else "failed")
    assert desk.paid.count(("A1", 10)) == 1
    assert desk.paid.count(("B2", 0)) == (2 if effect == "read" else 1)


def lost_resume(run, bob, monkeypatch, later):
    """The run that resumes this one, lost when it had done everything but end."""
    for interrupt_row in open_interrupts(run):
        steps.approve(interrupt_row, bob)
    resume = Run.objects.get(resumes=run)
    killed = kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")
    later(seconds=60)
    sweeper.sweep()
    return steps.reread(killed)


def test_a_call_that_nobody_was_asked_about_is_not_made_again_after_a_loss(
    world, as_graph, alice, bob, monkeypatch, later
):
    request = wants(refund_of("A1", 10), call("counted", order="B2"))
    agent = as_graph(reviewed(request, "Done.", tools=[refund, counted], refund=True))
    lost = lost_resume(start(world, "go", agent=agent), bob, monkeypatch, later)
    assert lost.error_code == "WORKER_LOST"

    retried = steps.drive(engine.retry_run(lost.pk, alice))

    assert (retried.status, sorted(desk.paid)) == ("succeeded", [("A1", 10), ("B2", 10)])


def test_a_graph_that_makes_a_text_of_every_error_ends_all_the_same(world, as_graph, monkeypatch):
    def broken(order, amount):
        raise ConnectionResetError

    monkeypatch.setattr(desk, "pay", broken)
    node = ToolNode([refund], handle_tool_errors=True)
    run = start(
        world, "go", agent=as_graph(classic(wants(refund_of("A1", 10)), "Done.", node=node))
    )

    assert (run.status, answers(run)) == ("failed", "")
    assert ToolCall.objects.get().state == "in_doubt"


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_state_that_was_forged_does_not_decide_what_runs(world, as_graph, bob, mode):
    gate = HumanInTheLoopMiddleware({"refund": True}, interrupt_mode=mode)
    agent = create_agent(model(wants(refund_of("A1", 10)), "Done."), [refund], middleware=[gate])
    run = start(world, "go", agent=as_graph(agent))
    steps.approve(open_interrupts(run)[0], bob)
    memory = Memory.objects.get()
    body = json.loads(memory.body)
    forged = 0
    for entry in (*body["kept"]["graph"]["blobs"], *body["kept"]["graph"]["writes"]):
        value = next(item for item in entry if isinstance(item, list))
        content = b64decode(value[1])
        forged += content.count(b"amount\x0a")
        value[1] = b64encode(content.replace(b"amount\x0a", b"amount\x63")).decode()
    assert forged
    memory.body = json.dumps(body)
    memory.save()

    resumed_run(run)

    assert desk.paid == [("A1", 10)]


def test_no_spelling_of_an_amount_gets_around_the_approval_of_the_desk(
    world, as_graph, monkeypatch
):
    spelled = desk.Call("refund", {"order": "A1", "amount": "30"}, "c-1")
    monkeypatch.setattr(
        desk, "requested_calls", lambda text, turn: [spelled] if text == "go" else []
    )

    run = start(world, "go", agent=as_graph(langgraph_refunds))

    assert [interrupt["message"] for interrupt in interrupts_of(run)] == [
        "Refund $30.00 for order A1"
    ]
    assert desk.paid == []


def test_the_model_hears_of_the_calls_that_a_failed_run_has_made(world, as_graph):
    speaker = model(wants(refund_of("A1", 10), call("fails", order="B2")), "Done.")
    agent = as_graph(create_agent(speaker, [refund, fails]))
    assert start(world, "go", agent=agent, thread_id="t1").status == "failed"
    speaker.answers[:] = speaker.answers[1:]

    again = start(world, "and now?", agent=agent, thread_id="t1")

    assert again.status == "succeeded"
    assert speaker.prompts == [
        "go",
        'I called refund with {"order":"A1","amount":10}: refunded $10.00 for A1',
        'I called fails with {"order":"B2"}; its outcome is not known',
        "and now?",
    ]
    assert desk.paid == [("A1", 10)]


# -- calls that ask within one task ---------------------------------------------------------------


@tool
def ask_colour(order: str) -> str:
    """Ask for a colour, then for a size."""
    colour = interrupt(f"Which colour for {order}?")
    return f"{order}: {colour}, {interrupt(f'Which size for {order}?')}"


@tool
async def ask_name(order: str) -> str:
    """Ask for a name."""
    return f"{order}: {interrupt(f'Whose name is on {order}?')}"


@tool
def ask_approval(order: str) -> str:
    """Ask whether an order may be sent."""
    allowed = interrupt({"type": "approval", "message": f"Send {order}?", "kind": "approval"})
    return f"{order}: {'sent' if allowed['approved'] else 'kept'}"


for asking_tool in (ask_colour, ask_name, ask_approval):
    asking_tool.metadata = {"effect": "idempotent"}


def asks_in_one_task(*calls: tuple[Any, str]) -> Any:
    """A graph whose model calls tools for orders, all in one node."""
    tools = {tool.name: tool for tool, _ in calls}
    expected = [call(tool.name, f"c-{order}", order=order) for tool, order in calls]
    return classic(wants(*expected), "Done.", tools=tools.values())


def answer_by_question(run: Any, actor: Any, replies: dict[str, Any]) -> Any:
    """Answer each question of a run and of those that resume it; return the last one."""
    while run.status == "interrupted":
        for interrupt_row in open_interrupts(run):
            steps.answer(interrupt_row, actor, replies[interrupt_row.message])
        run = resumed_run(run)
    return run


def test_each_call_of_one_task_gets_its_own_answers(world, as_graph, bob):
    graph = asks_in_one_task((ask_colour, "A1"), (ask_name, "A2"), (ask_colour, "A3"))
    run = start(world, "go", agent=as_graph(graph))
    assert {row.message for row in open_interrupts(run)} == {
        "Which colour for A1?",
        "Whose name is on A2?",
        "Which colour for A3?",
    }

    last = answer_by_question(
        run,
        bob,
        {
            "Which colour for A1?": "red",
            "Which size for A1?": "small",
            "Whose name is on A2?": "Ida",
            "Which colour for A3?": "blue",
            "Which size for A3?": "large",
        },
    )

    assert last.status == "succeeded"
    assert [row.result for row in ToolCall.objects.order_by("args")] == [
        "A1: red, small",
        "A2: Ida",
        "A3: blue, large",
    ]


def test_a_rejection_in_one_task_releases_no_other_call(world, as_graph, bob):
    graph = asks_in_one_task((ask_approval, "A1"), (ask_approval, "A2"))
    run = start(world, "go", agent=as_graph(graph))
    replies = {row.message: {"approved": row.message == "Send A2?"} for row in open_interrupts(run)}

    last = answer_by_question(run, bob, replies)

    assert last.status == "succeeded"
    assert [(row.state, row.result) for row in ToolCall.objects.order_by("args")] == [
        ("not_run", None),
        ("settled", "A2: sent"),
    ]


def test_a_call_that_asks_again_gets_no_answer_of_another_one(world, as_graph, bob):
    graph = asks_in_one_task((ask_colour, "A1"), (ask_name, "A2"))
    run = start(world, "go", agent=as_graph(graph))
    first = {row.message: row for row in open_interrupts(run)}
    steps.answer(first["Whose name is on A2?"], bob, "Ida")
    steps.answer(first["Which colour for A1?"], bob, "red")

    (interrupt_row,) = open_interrupts(resumed_run(run))

    assert interrupt_row.message == "Which size for A1?"
    assert interrupt_row.tool_call.args == '{"order":"A1"}'


@tool
def pay_unless_refused(order: str) -> str:
    """Ask, and pay: the tool is not called again if the answer is no."""
    interrupt({"reason": "tool_call", "message": f"Pay for {order}?"})
    return desk.pay(order, 10)


@tool
def pay_closed(order: str) -> str:
    """Ask, and fail without an effect."""
    interrupt({"reason": "tool_call", "message": f"Pay for {order}?"})
    desk.paid.append((order, 0))
    raise ToolException("the bank is closed")


@pytest.mark.parametrize(
    ("payer", "end", "paid"),
    [
        (pay_unless_refused, steps.deny, []),
        (pay_unless_refused, steps.call_off, []),
        (pay_closed, steps.approve, [("A1", 0)]),
    ],
)
def test_a_call_that_ended_is_not_made_when_another_asks_again(
    world, as_graph, bob, payer, end, paid
):
    graph = asks_in_one_task((payer, "A1"), (ask_colour, "A2"))
    run = start(world, "go", agent=as_graph(graph))
    first = {row.message: row for row in open_interrupts(run)}
    end(first["Pay for A1?"], bob)
    steps.answer(first["Which colour for A2?"], bob, "red")

    last = answer_by_question(resumed_run(run), bob, {"Which size for A2?": "small"})

    assert (last.status, desk.paid) == ("succeeded", paid)
    assert ToolCall.objects.get(name="ask_colour").result == "A2: red, small"


# The older agent inbox, and CopilotKit's wrapper

NOTE = {"title": "Opening hours"}


def asks_older_inbox(*allowed, is_list=True):
    """Build a graph that publishes a note, and tells what it got if it is not to."""

    def node(_state):
        request = {
            "action_request": {"action": "publish_note", "args": NOTE},
            "config": {f"allow_{name}": True for name in allowed},
            "description": "Publish this note?",
        }
        answer = interrupt([request] if is_list else request)
        answer = answer[0] if is_list else answer
        return {"messages": [AIMessage(json.dumps(answer))]}

    return one_node(node)


def answer_of(run):
    run.thread.refresh_from_db()
    *_, last = [
        message["content"]
        for message in json.loads(run.thread.messages)
        if message["role"] == "assistant" and message.get("content")
    ]
    return json.loads(last)


@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        ({"approved": True}, {"type": "accept", "args": None}),
        (
            {"approved": True, "editedArgs": {"title": "Hours"}},
            {"type": "edit", "args": {"action": "publish_note", "args": {"title": "Hours"}}},
        ),
        ({"approved": False, "response": "Later"}, {"type": "response", "args": "Later"}),
        ({"approved": False}, {"type": "ignore", "args": None}),
    ],
)
def test_a_graph_of_the_older_inbox(world, as_graph, bob, is_list, payload, answer):
    graph = asks_older_inbox("accept", "edit", "respond", "ignore", is_list=is_list)
    run = start(world, "go", agent=as_graph(graph))
    (row,) = open_interrupts(run)
    steps.answer(row, bob, payload)

    resumed = resumed_run(run)

    assert (row.tool, row.args) == ("publish_note", '{"title":"Opening hours"}')
    assert ToolCall.objects.count() == 1
    assert answer_of(resumed) == answer


def test_a_graph_of_the_older_inbox_that_cannot_ignore_is_not_resumed(world, as_graph, bob):
    run = start(world, "go", agent=as_graph(asks_older_inbox("accept", "respond")))
    steps.call_off(open_interrupts(run)[0], bob)

    assert resumed_run(run).status == "cancelled"


def test_a_graph_that_asks_through_copilotkit_gets_the_answer_as_it_is(world, as_graph, bob):
    def node(_state):
        action = {"action": "pick_plan", "args": {"seats": 4}}
        answer = interrupt(
            {"__copilotkit_interrupt_value__": action, "__copilotkit_messages__": []}
        )
        return {"messages": [AIMessage(json.dumps(answer))]}

    run = start(world, "go", agent=as_graph(one_node(node)))
    (row,) = open_interrupts(run)
    steps.answer(row, bob, {"plan": "small"})

    assert (row.tool, row.args) == ("pick_plan", '{"seats":4}')
    assert answer_of(resumed_run(run)) == {"plan": "small"}


def test_an_older_inbox_asks_about_the_call_of_its_tool(world, as_graph, bob):
    @tool
    def publish_note(title: str) -> str:
        """Publish a note."""
        request = {"action": "publish_note", "args": {"title": title}}
        config = {"allow_accept": True, "allow_ignore": True}
        (answer,) = interrupt([{"action_request": request, "config": config}])
        return f"published {title}" if answer["type"] == "accept" else "left"

    graph = create_agent(model(wants(call("publish_note", title="Hours")), "Done."), [publish_note])
    run = start(world, "go", agent=as_graph(graph))
    steps.approve(open_interrupts(run)[0], bob)

    resumed = resumed_run(run)

    assert results(resumed) == ["published Hours"]
    assert [row.state for row in ToolCall.objects.all()] == ["settled"]
