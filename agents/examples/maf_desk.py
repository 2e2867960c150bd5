"""
A refund desk written with Microsoft Agent Framework.

    export SIGNOFF_AGENTS=maf+agents.examples.maf_desk:maf_refunds
    make run EXTRAS=maf

The model is scripted, so that it runs anywhere; with another chat client nothing else changes.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Annotated, Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    ResponseStream,
    tool,
)
from pydantic import Field

from agents.examples import desk


class Clerk(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Stand in for a model: refund the orders that the last message names, then report."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        contents = _answer(messages)

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            for content in contents:
                yield ChatResponseUpdate(contents=[content], role="assistant")

        async def response() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", contents)])

        if stream:
            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
        return response()


def _answer(messages: Sequence[Message]) -> list[Content]:
    text, answer = messages[-1].text, "Let me see."
    if messages[-1].role == "tool":
        last = max(number for number, message in enumerate(messages) if message.role == "assistant")
        results = [content for message in messages[last + 1 :] for content in message.contents]
        text = answer = desk.report([str(result.result or result.text) for result in results])
    calls = desk.requested_calls(text, len(messages))
    return [
        Content.from_text(answer),
        *(
            Content.from_function_call(call.id, _tool_for(call), arguments=json.dumps(call.args))
            for call in calls
        ),
    ]


def _tool_for(call: desk.Call) -> str:
    is_small = call.name == "refund" and call.args.get("amount", 0) <= desk.LIMIT
    return "refund_small" if is_small else call.name


Amount = Annotated[float, Field(gt=0)]


@tool(
    approval_mode="always_require",
    additional_properties={"effect": "once", "message": "Refund ${amount:,.2f} for order {order}"},
)
def refund(order: str, amount: Amount) -> str:
    """Pay money back to a customer."""
    return desk.pay(order, amount)


@tool(additional_properties={"effect": "once"})
def refund_small(order: str, amount: Annotated[float, Field(gt=0, le=desk.LIMIT)]) -> str:
    """Pay up to $20 back to a customer."""
    return desk.pay(order, amount)


ask_reason = FunctionTool(
    name="ask_reason",
    description="Ask a colleague.",
    func=None,
    input_model={"type": "object", "properties": {"question": {"type": "string"}}},
    additional_properties={"response_schema": {"type": "string", "minLength": 3}},
)

maf_refunds = Agent(client=Clerk(), tools=[refund, refund_small, ask_reason])
