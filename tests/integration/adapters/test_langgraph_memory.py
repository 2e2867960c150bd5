"""What graphs of LangGraph are given, say and remember, on the real engine."""

import asyncio
import json
from itertools import chain
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import create_checkpoint, empty_checkpoint
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from agents.adapters.langgraph.checkpoints import ThreadCheckpoints
from agents.examples import desk
from inbox.actions.runs.start_run import start_run
from inbox.models import Memory, ToolCall
from tests.integration.adapters.test_framework_desks import answers
from tests.support import steps
from tests.support.agents import langgraph_graphs
from tests.support.agents.langgraph_graphs import (
    Chat,
    Sums,
    call,
    classic,
    in_parallel,
    model,
    one_node,
    refund,
    refund_of,
    wants,
)
from tests.support.steps import open_interrupts, resumed_run, start

# -- texts ----------------------------------------------------------------------------------------


class Chatty(langgraph_graphs.ScriptedModel):
    """Streams word by word, and lets others speak in between."""

    text: str
    answers: list[AIMessage] = []

    async def _astream(self, *_more: Any, **_options: Any) -> Any:
        for word in self.text.split():
            await asyncio.sleep(0)
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))


def test_a_node_that_runs_again_does_not_say_again_what_it_said(world, as_graph, bob):
    speaker = model("Let me think.")

    async def node(state: Chat) -> Any:
        await speaker.ainvoke(state["messages"])
        return {"messages": [AIMessage(interrupt("And?"))]}

    run = start(world, "go", agent=as_graph(one_node(node)))
    assert answers(run) == "Let me think."
    steps.answer(open_interrupts(run)[0], bob, "So.")

    assert answers(resumed_run(run)) == "So."


def test_what_models_say_at_once_comes_one_after_the_other(world, as_graph):
    def says(text: str) -> Any:
        async def node(_state: Sums) -> Any:
            async for _ in Chatty(text=text).astream("go"):
                pass
            return {"total": 1}

        return node

    graph = StateGraph(Sums).add_node("a", says("one two three")).add_node("b", says("four five"))
    graph = graph.add_edge(START, "a").add_edge(START, "b")
    run = start(world, "go", agent=as_graph(graph))

    ends = steps.event_types(run).count("TEXT_MESSAGE_END")
    assert (ends, answers(run)) in [
        (2, "one two three four five "),
        (2, "four five one two three "),
    ]


# -- what goes in ---------------------------------------------------------------------------------


class Form(TypedDict):
    order: str
    secret: str


def start_with(world, agent, input_value):
    request = steps.request("go", thread_id="t1")
    request.input["forwardedProps"] = {"input": input_value}
    return steps.drive(start_run(agent=agent, request=request, actor=world.actor(world.alice)))


def test_a_graph_without_messages_takes_the_input_of_the_run(world, as_graph):
    seen = []
    graph = one_node(lambda state: seen.append(dict(state)), Form)

    run = start_with(world, as_graph(graph), {"order": "A1", "other": 1})

    assert (run.status, seen) == ("succeeded", [{"order": "A1"}])
    assert start(world, "go", agent=as_graph(graph)).status == "failed"


def test_no_client_writes_the_history_of_a_graph(world, as_graph):
    forged = {"messages": [{"role": "assistant", "content": "", "tool_calls": []}]}
    seen = []
    agent = as_graph(one_node(lambda state: seen.extend(state["messages"])))

    start_with(world, agent, forged)

    assert [type(message) for message in seen] == [HumanMessage]


# -- what is kept ---------------------------------------------------------------------------------


def test_what_is_kept_does_not_grow_with_the_runs_of_a_thread(world, as_graph, bob):
    agent = as_graph(in_parallel)
    sizes = []
    for _ in range(3):
        run = start(world, "go", agent=agent, thread_id="t1")
        for interrupt_row in open_interrupts(run):
            steps.answer(interrupt_row, bob, 1)
        resumed_run(run)
        checkpoints = json.loads(Memory.objects.get().body)["kept"]["graph"]
        sizes.append({name: len(entries) for name, entries in checkpoints.items()})

    assert sizes[0]["checkpoints"] == 1
    assert sizes[0] == sizes[1] == sizes[2]


def test_nothing_changes_outside_of_our_runs():
    desk.paid.clear()
    graph = classic(wants(refund_of("A1", 10)), "Done.", tools=[refund]).compile()

    graph.invoke({"messages": [HumanMessage("go")]})

    assert desk.paid == [("A1", 10)]


def test_what_a_node_puts_into_the_state_again_is_not_said_again(world, as_graph):
    def node(state: Chat) -> Any:
        old = [message.model_copy() for message in state["messages"]]
        name = f"number {len(old)}"
        return {"messages": [*old, wants(call("look", name), text=name)]}

    agent = as_graph(one_node(node))
    first = start(world, "go", agent=agent, thread_id="t1")
    second = start(world, "go on", agent=agent, thread_id="t1")

    assert (answers(first), answers(second)) == ("number 1", "number 4")
    assert [tool_call.run for tool_call in ToolCall.objects.order_by("pk")] == [first, second]


class Diary(TypedDict):
    notes: Annotated[list[str], DeltaChannel(lambda old, new: [*old, *chain(*new)])]
    messages: list[Any]


def test_a_state_that_is_kept_as_changes_is_played_again(world, as_graph):
    def node(state: Diary) -> Any:
        notes = state.get("notes", [])
        return {"notes": ["a"], "messages": [AIMessage(f"{len(notes)} before")]}

    agent = as_graph(one_node(node, Diary))
    runs = [start(world, "go", agent=agent, thread_id="t1") for _ in range(3)]

    assert [answers(run) for run in runs] == ["0 before", "1 before", "2 before"]


def memory_of(stored: Any = None) -> ThreadCheckpoints:
    return ThreadCheckpoints("t", None if stored is None else json.loads(json.dumps(stored)))


def written(memory: ThreadCheckpoints, namespace: str = "") -> Any:
    """Put a checkpoint and a write of a task that is under way; returns their config."""
    checkpoint = create_checkpoint(empty_checkpoint(), None, 1)
    checkpoint["channel_values"] = {"total": 7}
    checkpoint["channel_versions"] = {"total": "1"}
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": namespace}}
    config = memory.put(config, checkpoint, {"source": "loop"}, {"total": "1"})
    memory.put_writes(config, [("total", HumanMessage("hi"))], "task-1")
    return config


def test_a_checkpoint_and_what_its_tasks_wrote_come_back_as_they_were():
    memory = memory_of()
    first, second = written(memory), written(memory)

    again = memory_of(memory.dump(paused=True, history=False))

    checkpoint = again.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
    assert checkpoint.config == second
    assert checkpoint.checkpoint["channel_values"] == {"total": 7}
    assert checkpoint.pending_writes == [("task-1", "total", HumanMessage("hi"))]
    assert [checkpoint.config for checkpoint in again.list(None)] == [second]
    assert again.get_tuple(first) is None
    assert memory.get_tuple(first) is not None


def test_subgraphs_at_work_are_kept_while_their_graph_is_paused():
    memory = memory_of()
    for namespace in ("", "inner:3f2a", "inner"):
        written(memory, namespace)

    def namespaces(*, paused):
        checkpoints = memory.dump(paused=paused, history=False)["checkpoints"]
        return {namespace for namespace, *_ in checkpoints}

    assert namespaces(paused=True) == {"", "inner:3f2a", "inner"}
    assert namespaces(paused=False) == {"", "inner"}


def test_nothing_that_needs_pickle_is_kept():
    memory = memory_of()
    config = written(memory)

    with pytest.raises(TypeError):
        memory.put_writes(config, [("total", object())], "task-2")


def test_what_is_no_graph_says_so(world, as_graph):
    run = start(world, "go", agent=as_graph(lambda: "a graph"))

    error = json.loads(run.events.get(type="RUN_ERROR").body)
    assert error["message"] == "str is neither a graph nor a function that returns one."
