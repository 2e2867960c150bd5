"""The refund desk behind Microsoft Agent Framework's AG-UI endpoint, at /agui; a form at /form."""

import json
from dataclasses import dataclass
from typing import Never

import desk
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponseUpdate,
    Content,
    Executor,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
    tool,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Asks for the calls of the script, then says what came of them."""

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        async def updates():
            for content in _answer(messages):
                yield ChatResponseUpdate(role="assistant", contents=[content])

        return ResponseStream(updates(), finalizer=self._finalize_response_updates)


def _answer(messages):
    start = max(
        at for at, message in enumerate(messages) if message.role == "user" and message.text
    )
    contents = [content for message in messages[start:] for content in message.contents]
    results = [str(content.result) for content in contents if content.type == "function_result"]
    if results:
        return [Content.from_text(f"{word} ") for word in desk.closing_words(results).split(" ")]
    return [
        Content.from_function_call(key, name, arguments=json.dumps(args))
        for key, name, args in desk.tool_calls_for(messages[start].text)
    ]


agent = Agent(
    Scripted(),
    tools=[
        tool(desk.issue_refund, approval_mode="always_require"),
        tool(desk.send_email, approval_mode="always_require"),
    ],
)


@dataclass
class WhichQuarter:
    prompt: str


class Form(Executor):
    """A workflow of one question: Agent Framework asks for input in workflows only."""

    @handler
    async def ask(self, messages: list[Message], ctx: WorkflowContext) -> None:
        await ctx.request_info(WhichQuarter("Which quarter?"), dict)

    @response_handler
    async def answer(
        self, question: WhichQuarter, answer: dict, ctx: WorkflowContext[Never, str]
    ) -> None:
        await ctx.yield_output(desk.closing_words([desk.file_report(answer["quarter"])]))


app = FastAPI()
add_agent_framework_fastapi_endpoint(
    app, AgentFrameworkAgent(agent=agent, require_confirmation=False), "/agui", single_user=True
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(
        workflow_factory=lambda _thread: WorkflowBuilder(start_executor=Form("form")).build()
    ),
    "/form",
    single_user=True,
)
