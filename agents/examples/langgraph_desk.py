"""
A refund desk written with LangChain, which LangGraph runs; its interrupts become requests.

    make run EXTRAS=langgraph \\
        SIGNOFF_AGENTS=langgraph+agents.examples.langgraph_desk:langgraph_refunds

The model is scripted, so that it runs anywhere; for another model only `create_agent` changes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.types import interrupt
from pydantic import Field

from agents.examples import desk


class ScriptedModel(BaseChatModel):
    """Refunds the orders that the last message names, then reports."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_options: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_more: Any, **_options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(messages))])

    def _stream(
        self, messages: list[BaseMessage], *_more: Any, **_options: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = _answer(messages)
        for piece in re.findall(r"\S+\s*", answer.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=answer.tool_calls))


def _answer(messages: list[BaseMessage]) -> AIMessage:
    last = max(
        number
        for number, message in enumerate(messages)
        if isinstance(message, HumanMessage | AIMessage)
    )
    results = [message.text for message in messages[last:] if isinstance(message, ToolMessage)]
    text = desk.report(results) if results else messages[last].text
    calls = [
        ToolCall(name=call.name, args=call.args, id=call.id)
        for call in desk.requested_calls(text, len(messages))
    ]
    return AIMessage(text if results else "Let me see.", tool_calls=calls)


@tool
def refund(order: str, amount: Annotated[float, Field(gt=0)]) -> str:
    """Pay money back to a customer."""
    return desk.pay(order, amount)


@tool
def ask_reason(question: str) -> str:
    """Ask a colleague."""
    answer: str = interrupt(question, response_schema={"type": "string", "minLength": 3})
    return answer


def _amount(call: ToolCall) -> float:
    """Return the amount as the tool parses it ("30" too), 0 if the tool will reject it."""
    try:
        return float(call["args"]["amount"])
    except (KeyError, TypeError, ValueError):
        return 0.0


refund.metadata = {"effect": "once"}
ask_reason.metadata = {"effect": "read"}

langgraph_refunds = create_agent(
    ScriptedModel(),
    [refund, ask_reason],
    middleware=[
        HumanInTheLoopMiddleware(
            {
                "refund": {
                    "allowed_decisions": ["approve", "edit", "reject"],
                    "when": lambda request: _amount(request.tool_call) > desk.LIMIT,
                    "description": lambda call, _state, _runtime: (
                        f"Refund ${_amount(call):,.2f} for order {call['args'].get('order')}"
                    ),
                }
            },
            edit_notice=None,
            interrupt_mode="per_call",
        )
    ],
)
