"""
A refund desk written with Genkit.

    export SIGNOFF_AGENTS=genkit+agents.examples.genkit_desk:genkit_refunds
    make run EXTRAS=genkit

The model is scripted, so that it runs anywhere; with another model nothing else changes.
"""

from typing import Any

from genkit import (
    ActionRunContext,
    Genkit,
    Interrupt,
    Message,
    ModelRequest,
    ModelResponse,
    ModelResponseChunk,
    Part,
    ToolRunContext,
)
from pydantic import BaseModel, Field

from agents.examples import desk

ai = Genkit()


async def model(request: ModelRequest[Any], ctx: ActionRunContext) -> ModelResponse:
    """Refund the orders that the last message names, then report."""
    parts = [part for message in request.messages for part in message.content]
    call_refs = {part.tool_request.ref for part in parts if part.tool_request}
    if call_refs - {part.tool_response.ref for part in parts if part.tool_response}:
        raise ValueError("Models reject a conversation that has a call without a result.")
    last = request.messages[-1]
    results = [str(part.tool_response.output) for part in last.content if part.tool_response]
    text = desk.report(results) if results else "Let me see."
    calls = desk.requested_calls(text if results else last.text, len(request.messages))
    ctx.send_chunk(ModelResponseChunk(content=[Part(text=text)]))
    requests = [
        Part.from_tool_request(name=call.name, input=call.args, ref=call.id) for call in calls
    ]
    return ModelResponse(message=Message(role="model", content=[Part(text=text), *requests]))


ai.define_model("clerk", model)


class Refund(BaseModel):
    order: str
    amount: float = Field(gt=0)


class Question(BaseModel):
    question: str


@ai.tool()
async def refund(args: Refund, ctx: ToolRunContext) -> str:
    """Pay money back to a customer."""
    if args.amount > desk.LIMIT and not ctx.is_resumed():
        raise Interrupt({"message": f"Refund ${args.amount:,.2f} for order {args.order}"})
    return desk.pay(args.order, args.amount)


@ai.tool()
async def ask_reason(args: Question) -> str:
    """Ask a colleague."""
    schema = {"type": "string", "minLength": 3}
    raise Interrupt({"message": args.question, "response_schema": schema})


genkit_refunds = ai.define_prompt("refunds", model="clerk", tools=[refund, ask_reason])
