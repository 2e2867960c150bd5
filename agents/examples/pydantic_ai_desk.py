"""
A refund desk written with Pydantic AI; its pauses become requests in the inbox.

    export SIGNOFF_AGENTS=pydantic-ai+agents.examples.pydantic_ai_desk:pydantic_refunds
    make run EXTRAS=pydantic-ai

The model is scripted, so that it runs anywhere; with `Agent("openai:...")` nothing else changes.
"""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from pydantic import Field
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, RunContext
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from agents.examples import desk


async def model(
    messages: list[ModelMessage], _info: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls]:
    """Refund the orders that the last message names, then report."""
    *_, last = messages[-1].parts
    if isinstance(last, UserPromptPart):
        text = str(last.content)
        yield "Let me see."
    else:
        results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        text = desk.report([str(part.content) for part in results])
        yield text
    calls = desk.requested_calls(text, len(messages))
    yield {
        number: DeltaToolCall(name=call.name, json_args=json.dumps(call.args), tool_call_id=call.id)
        for number, call in enumerate(calls)
    }


pydantic_refunds = Agent(FunctionModel(stream_function=model))


@pydantic_refunds.tool(metadata={"effect": "once"})
def refund(ctx: RunContext[object], /, order: str, amount: Annotated[float, Field(gt=0)]) -> str:
    """Pay money back to a customer."""
    if amount > desk.LIMIT and not ctx.tool_call_approved:
        raise ApprovalRequired({"message": f"Refund ${amount:,.2f} for order {order}"})
    return desk.pay(order, amount)


@pydantic_refunds.tool_plain(metadata={"effect": "read"})
def ask_reason(question: str) -> str:
    """Ask a colleague."""
    schema = {"type": "string", "minLength": 3}
    raise CallDeferred({"message": question, "response_schema": schema}, kind="question")
