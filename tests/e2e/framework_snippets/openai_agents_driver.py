"""Runs the snippet for the OpenAI Agents SDK with a scripted model, in the SDK's environment."""

import asyncio
import json
from typing import Any

from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from snippet import run_with_approvals

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled

EXECUTED: list[str] = []


class ScriptedModel(Model):
    """Cancels two orders at once, and ends with a text."""

    def __init__(self) -> None:
        self.prompts: list[Any] = []

    async def get_response(self, *arguments: Any, **more: Any) -> Any:
        self.prompts.append(more.get("input", arguments[1] if len(arguments) > 1 else None))
        calls = [_call("call_1", "o-17"), _call("call_2", "o-18")]
        output = calls if len(self.prompts) == 1 else [_message("Done.")]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def _call(call_id: str, order_id: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call",
        id=f"fc_{call_id}",
        call_id=call_id,
        name="cancel_order",
        arguments=json.dumps({"order_id": order_id}),
        status="completed",
    )


def _message(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="msg_1", type="message", role="assistant", status="completed", content=[content]
    )


@function_tool(needs_approval=True)
async def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    EXECUTED.append(order_id)
    return f"Cancelled {order_id}"


set_tracing_disabled(True)
model = ScriptedModel()
agent = Agent(name="orders", model=model, tools=[cancel_order])
text = asyncio.run(run_with_approvals(agent, "Cancel the orders"))
prompt = json.dumps(model.prompts[-1])
print(json.dumps({"text": text, "executed": EXECUTED, "prompt": prompt}))
