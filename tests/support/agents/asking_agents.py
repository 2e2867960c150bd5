"""Agents of each framework that runs in the worker: each asks, and notes the answer it gets."""

from collections.abc import Mapping
from typing import Any

import agent_framework
from genkit import (
    ActionRunContext,
    Genkit,
    Interrupt,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    ToolRunContext,
)
from langchain_core.tools import tool as langchain_tool
from langgraph.types import interrupt
from pydantic_ai import Agent, ApprovalRequired, RunContext
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from agents.sdk.context import ToolContext
from agents.sdk.tools import tool
from agents.sdk.workflow import Workflow, WorkflowContext, workflow
from tests.support.agents.langgraph_graphs import Chat, call, classic, one_node, wants

#: The answers that the code of the agents got.
answers: list[Any] = []


def of_node(value: Any) -> Any:
    """A node of LangGraph that asks with this value."""

    def node(_state: Chat) -> Any:
        answers.append(interrupt(value))
        return {}

    return one_node(node)


def of_tool(value: Any) -> Any:
    """A tool of LangGraph that asks with this value."""

    @langchain_tool
    def pay(order: str) -> str:
        """Pay."""
        answers.append(interrupt(value))
        return order

    return classic(wants(call("pay", order="A1")), "Done.", tools=[pay])


def of_pydantic_ai() -> Any:
    async def model(messages: Any, _info: Any) -> Any:
        if len(messages) > 1:
            yield "Done."
        else:
            yield {0: DeltaToolCall(name="pay", json_args='{"order": "A1"}', tool_call_id="c1")}

    agent = Agent(FunctionModel(stream_function=model))

    @agent.tool(metadata={"effect": "once"})
    def pay(ctx: RunContext[object], order: str) -> str:
        """Pay."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired({"message": f"Pay for {order}?"})
        answers.append(ctx.tool_call_approved)
        return order

    return agent


class Speaker(agent_framework.FunctionInvocationLayer[Any], agent_framework.BaseChatClient[Any]):
    """Calls the tool once."""

    def _inner_get_response(
        self, *, messages: Any, stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        content = agent_framework.Content.from_text("Done.")
        if messages[-1].role != "tool":
            content = agent_framework.Content.from_function_call(
                "c1", "pay", arguments='{"order": "A1"}'
            )

        async def updates() -> Any:
            yield agent_framework.ChatResponseUpdate(contents=[content], role="assistant")

        return agent_framework.ResponseStream(
            updates(), finalizer=agent_framework.ChatResponse.from_updates
        )


def of_microsoft() -> Any:
    @agent_framework.tool(approval_mode="always_require")
    def pay(order: str) -> str:
        """Pay."""
        answers.append(True)
        return order

    return agent_framework.Agent(client=Speaker(), tools=[pay])


def of_genkit() -> Any:
    ai = Genkit()

    async def model(request: ModelRequest[Any], _ctx: ActionRunContext) -> ModelResponse:
        has_results = any(part.tool_response for part in request.messages[-1].content)
        part = Part.from_tool_request(name="pay", input={"order": "A1"}, ref="c1")
        content = [Part(text="Done.")] if has_results else [part]
        return ModelResponse(message=Message(role="model", content=content))

    ai.define_model("speaker", model)

    @ai.tool()
    async def pay(args: dict[str, Any], ctx: ToolRunContext) -> str:
        """Pay."""
        if not ctx.is_resumed():
            raise Interrupt({"message": "Pay?"})
        answers.append(ctx.resumed_metadata)
        return str(args)

    return ai.define_prompt("payer", model="speaker", tools=[pay])


def _workflow(function: Any, *tools: Any) -> Workflow:
    agent: Workflow = workflow(tools=tools)(function)
    return agent


def of_sdk_call() -> Workflow:
    @tool(effect="once", approval=True)
    def pay(order: str) -> str:
        """Pay."""
        answers.append(True)
        return order

    async def payer(ctx: WorkflowContext) -> None:
        """Pay."""
        outcome = await ctx.call(pay, order="A1")
        answers.extend([outcome, outcome.value])

    return _workflow(payer, pay)


def of_sdk_tool(**options: Any) -> Workflow:
    @tool(effect="idempotent")
    def pay(call: ToolContext, order: str) -> str:
        """Pay."""
        if not call.is_resumed:
            call.interrupt(f"Pay for {order}?", **options)
        answers.append(call.resumed)
        return order

    async def payer(ctx: WorkflowContext) -> None:
        """Pay."""
        await ctx.call(pay, order="A1")

    return _workflow(payer, pay)


def of_sdk_question(**options: Any) -> Workflow:
    async def payer(ctx: WorkflowContext) -> None:
        """Pay."""
        reply = await ctx.interrupt("Pay?", **options)
        answers.extend([reply, reply.payload])

    return _workflow(payer)
