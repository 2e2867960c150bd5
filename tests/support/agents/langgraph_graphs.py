"""Graphs and scripted models for tests of the LangGraph adapter."""

import json
from collections.abc import Callable
from operator import add
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from agents.examples import desk
from tests.support.steps import open_interrupts

#: What is at "tests.support.agents.langgraph_graphs:target" at the moment.
target: Any = None


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


class ScriptedModel(BaseChatModel):
    """Gives its answers one after the other, by how many the conversation has; then repeats."""

    answers: list[AIMessage]
    prompts: list[str] = []  #: what it was given last

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_options: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_more: Any, **_options: Any) -> ChatResult:
        self.prompts[:] = [message.text for message in messages]
        answer_count = sum(isinstance(message, AIMessage) for message in messages)
        answer = self.answers[answer_count % len(self.answers)].model_copy()
        return ChatResult(generations=[ChatGeneration(message=answer)])


def model(*answers: AIMessage | str) -> ScriptedModel:
    return ScriptedModel(
        answers=[AIMessage(answer) if isinstance(answer, str) else answer for answer in answers]
    )


def wants(*calls: ToolCall, text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(calls))


def refund_of(order: str, amount: float, call_id: str = "") -> ToolCall:
    args = {"order": order, "amount": amount}
    return ToolCall(name="refund", args=args, id=call_id or f"refund-{order}")


def call(name: str, call_id: str = "", **args: Any) -> ToolCall:
    return ToolCall(name=name, args=args, id=call_id or f"{name}-1")


@tool
def refund(order: str, amount: float) -> str:
    """Pay money back to a customer."""
    return desk.pay(order, amount)


def one_node(node: Callable[..., Any], state: type = Chat) -> StateGraph:
    """A graph of this node only."""
    return StateGraph(state).add_node("node", node).add_edge(START, "node").add_edge("node", END)


def reviewed(*script: Any, tools: Any = (refund,), **interrupt_on: Any) -> Any:
    """An agent whose calls the middleware asks about all at once."""
    return create_agent(
        model(*script),
        list(tools),
        middleware=[HumanInTheLoopMiddleware(interrupt_on, edit_notice=None)],
    )


def classic(*script: Any, tools: Any = (), node: Any = None) -> Any:
    """A model and one node for all of its calls: what LangGraph had before `create_agent`."""
    speaker = model(*script)
    return (
        StateGraph(Chat)
        .add_node("model", lambda state: {"messages": [speaker.invoke(state["messages"])]})
        .add_node("tools", node or ToolNode(list(tools)))
        .add_edge(START, "model")
        .add_conditional_edges(
            "model", lambda state: "tools" if state["messages"][-1].tool_calls else "__end__"
        )
        .add_edge("tools", "model")
    )


class Sums(TypedDict):
    total: Annotated[int, add]
    messages: list[Any]


def asks_for(name: str) -> Any:
    def node(_state: Sums) -> Any:
        return {"total": interrupt(name, response_schema={"type": "integer"})}

    return node


def in_parallel() -> Any:
    inner = one_node(asks_for("inner"), Sums).compile()
    return (
        StateGraph(Sums)
        .add_node("left", asks_for("left"))
        .add_node("right", asks_for("right"))
        .add_node("inner", inner)
        .add_node("report", lambda state: {"messages": [AIMessage(str(state["total"]))]})
        .add_edge(START, "left")
        .add_edge(START, "right")
        .add_edge(START, "inner")
        .add_edge(["left", "right", "inner"], "report")
    )


def interrupts_of(run: Any) -> list[Any]:
    """What each open interrupt of the run asks, as it was sent."""
    return [json.loads(interrupt.body) for interrupt in open_interrupts(run)]
