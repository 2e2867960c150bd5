"""Runs the snippet for LangChain with a scripted model, in an environment that has LangChain."""

import json
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from snippet import invoke_with_approvals

EXECUTED: list[str] = []
PROMPTS: list[str] = []


class ScriptedModel(GenericFakeChatModel):
    """Cancels two orders at once, and ends with a text."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        PROMPTS.append(" ".join(str(message.content) for message in messages))
        return super()._generate(messages, *arguments, **more)


@tool
def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    EXECUTED.append(order_id)
    return f"Cancelled {order_id}"


def _call(call_id: str, order_id: str) -> dict[str, Any]:
    return {"name": "cancel_order", "args": {"order_id": order_id}, "id": call_id}


calls = [_call("call_1", "o-17"), _call("call_2", "o-18")]
replies = iter([AIMessage(content="", tool_calls=calls), AIMessage(content="Done.")])
interrupt_on: Any = {"cancel_order": {"allowed_decisions": ["approve", "edit", "reject"]}}
agent = create_agent(
    ScriptedModel(messages=replies),
    tools=[cancel_order],
    middleware=[HumanInTheLoopMiddleware(interrupt_on=interrupt_on)],
    checkpointer=InMemorySaver(),
)
config = {"configurable": {"thread_id": "1"}}
text = invoke_with_approvals(agent, "Cancel the orders", config)
print(json.dumps({"text": text, "executed": EXECUTED, "prompt": PROMPTS[-1]}))
