"""Calls that ask within one task of LangGraph: each gets the answers of its own reviewer."""

import json
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from inbox import engine, sweeper
from inbox.models import Run, ToolCall
from inbox.rules.decisions.consent import canonical_json
from tests.integration.adapters.conftest import as_graph
from tests.support import steps
from tests.support.agents.agent_events import error_of
from tests.support.agents.langgraph_graphs import Chat, call, classic, wants
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.properties.json_values import generated
from tests.support.steps import open_interrupts, resumed_run, start

__all__ = ["as_graph"]

#: Each worker is lost later than all before it.
_SECONDS = count(60, 60)
#: (name of the order, where it goes, the answers in words), of the calls that ran.
executed: list[tuple[str, str, list[Any]]] = []


def _ask(order: str, to: str, question: Any, times: int) -> str:
    answers = [interrupt(question) for _ in range(times)]
    if all(answer if isinstance(answer, str) else answer["approved"] for answer in answers):
        executed.append((order, to, [answer for answer in answers if isinstance(answer, str)]))
        return "done"
    return "not done"


@tool
def pay(order: str, to: str, times: int) -> str:
    """Pay, after one approval or two."""
    return _ask(order, to, {"reason": "tool_call", "message": order}, times)


@tool
async def pay_async(order: str, to: str, times: int) -> str:
    """Pay, after one approval or two."""
    return _ask(order, to, {"reason": "tool_call", "message": order}, times)


@tool
def ask(order: str, to: str, times: int) -> str:
    """Send, after one answer in words or two."""
    return _ask(order, to, order, times)


TOOLS = (pay, pay_async, ask)

ANSWERS = ("approve", "approve", "edit", "deny", "cancel")
#: A call: its tool, an answer for each time that it asks, and its place among those answered.
calls = st.tuples(
    st.sampled_from([each.name for each in TOOLS]),
    st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=2),
    st.integers(0, 2),
)
turns = st.lists(st.lists(calls, min_size=2, max_size=3), min_size=1, max_size=2)


class Review:
    """The answers of people to one call, and the call that has to run after them."""

    def __init__(self, order: str, call_tuple: Any) -> None:
        self.order = order
        self.tool, self._answers, self.place = call_tuple
        self.to, self.words, self.is_denied, self._asked = "first", [], False, 0
        self.args = {"order": order, "to": self.to, "times": len(self._answers)}

    def answer(self, interrupt_row: Any, bob: Any) -> None:
        answer = self._answers[self._asked]
        self._asked += 1
        is_question = self.tool == "ask"
        if answer == "cancel" or (is_question and answer == "deny"):
            steps.call_off(interrupt_row, bob)
            self.is_denied = True
        elif is_question:
            self.words.append(f"{self.order} answer {self._asked}")
            steps.answer(interrupt_row, bob, self.words[-1])
        elif answer == "deny":
            steps.deny(interrupt_row, bob)
            self.is_denied = True
        elif answer == "edit":
            self.args = {**self.args, "to": f"{self.order} edit {self._asked}"}
            steps.approve(interrupt_row, bob, editedArgs=self.args)
        else:
            steps.approve(interrupt_row, bob)

    @property
    def is_over(self) -> bool:
        return self.is_denied or self._asked == len(self._answers)

    @property
    def effect(self) -> tuple[str, str, list[str]]:
        return self.order, self.args["to"], self.words


def graph_of(turns_of_reviews: Any, *, is_nested: bool) -> Any:
    """A graph whose model names its calls anew in each turn, and makes them in one node."""
    script: list[Any] = []
    for reviews in turns_of_reviews:
        requested = [
            call(review.tool, f"call_{number}", **review.args)
            for number, review in enumerate(reviews)
        ]
        script += [wants(*requested), "Done."]
    graph = classic(*script, tools=TOOLS)
    if is_nested:
        return StateGraph(Chat).add_node("inner", graph.compile()).add_edge(START, "inner")
    return graph


@generated(200)
@given(turns=turns, killed=st.booleans(), is_nested=st.booleans())
def test_each_call_of_a_task_gets_the_answers_of_its_reviewer(
    world, as_graph, bob, later, monkeypatch, turns, killed, is_nested
):
    executed.clear()
    reviews = [
        [Review(f"order {turn} {number}", each) for number, each in enumerate(calls_of_turn)]
        for turn, calls_of_turn in enumerate(turns)
    ]
    agent = as_graph(graph_of(reviews, is_nested=is_nested))
    thread_id = f"task-{next(_SECONDS)}"
    for number, of_turn in enumerate(reviews):
        run = start(world, f"turn {number}", agent=agent, thread_id=thread_id)
        by_order = {review.order: review for review in of_turn}
        while run.status == "interrupted":
            rows = {by_order[json.loads(row.args)["order"]]: row for row in open_interrupts(run)}
            assert rows.keys() == {review for review in of_turn if not review.is_over}
            for review in sorted(rows, key=lambda review: review.place):
                assert rows[review].args == canonical_json(review.args)
                review.answer(rows[review], bob)
            if killed:
                resume = Run.objects.get(resumes=run)
                lost = kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")
                later(seconds=next(_SECONDS))
                sweeper.sweep()
                assert steps.reread(lost).error_code == "WORKER_LOST"
                run = steps.drive(engine.retry_run(lost.pk, bob))
            else:
                run = resumed_run(run)
        assert run.status == "succeeded", error_of(run)

    approved = [review for of_turn in reviews for review in of_turn if not review.is_denied]
    assert sorted(executed) == sorted(review.effect for review in approved)
    trail = ToolCall.objects.filter(thread__external_id=thread_id, state="settled")
    assert sorted(row.approved_args or row.args for row in trail if row.result == "done") == sorted(
        canonical_json(review.args) for review in approved
    )
