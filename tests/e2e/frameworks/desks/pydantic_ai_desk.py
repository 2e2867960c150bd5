"""The refund desk behind Pydantic AI's AG-UI adapter, at /agui."""

import json

import desk
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.routing import Route


async def script(messages, _info):
    """Ask for the calls of the script, then say what came of them; file what was answered."""
    parts = [
        part for message in messages if isinstance(message, ModelRequest) for part in message.parts
    ]
    start = max(at for at, part in enumerate(parts) if isinstance(part, UserPromptPart))
    returns = [part for part in parts[start:] if isinstance(part, ToolReturnPart)]
    if not returns:
        calls = desk.tool_calls_for(parts[start].content)
    elif (answer := returns[-1].model_response_str()) in ("Q1", "Q2"):
        calls = [("tc-r", "file_report", {"quarter": answer})]
    else:
        calls = []
        for word in desk.closing_words([part.model_response_str() for part in returns]).split(" "):
            yield f"{word} "
    for number, (key, name, args) in enumerate(calls):
        yield {number: DeltaToolCall(name, json.dumps(args), tool_call_id=key)}


agent = Agent(FunctionModel(stream_function=script), output_type=[str, DeferredToolRequests])
agent.tool_plain(desk.issue_refund, requires_approval=True)
agent.tool_plain(desk.send_email, requires_approval=True)
agent.tool_plain(desk.file_report)


@agent.tool_plain
def ask_quarter(question: str) -> str:
    """Ask a person for a quarter."""
    raise CallDeferred


async def agui(request):
    return await AGUIAdapter.dispatch_request(request, agent=agent)


app = Starlette(routes=[Route("/agui", agui, methods=["POST"])])
