"""The refund desk behind the AG-UI bridge of Google's ADK, at /agui; DESK_OUTCOME as elsewhere."""

import os

import desk
from ag_ui_adk import ADKAgent, AGUIToolset, add_adk_fastapi_endpoint
from fastapi import FastAPI
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types


class Scripted(BaseLlm):
    """Asks for the calls of the script, then says what came of them."""

    async def generate_content_async(self, llm_request, stream=False):
        parts = _answer(llm_request.contents)
        if stream and parts[0].text:
            for word in parts[0].text.split(" "):
                yield LlmResponse(content=_content([types.Part(text=f"{word} ")]), partial=True)
        yield LlmResponse(content=_content(parts))


def _content(parts):
    return types.Content(role="model", parts=parts)


def _answer(contents):
    parts = [part for content in contents for part in content.parts or []]
    start = max(at for at, part in enumerate(parts) if part.text and not _is_own(part.text))
    responses = [
        part.function_response.response for part in parts[start:] if part.function_response
    ]
    if responses:
        results = [str(response.get("result", response.get("error"))) for response in responses]
        return [types.Part(text=desk.closing_words(results))]
    return [
        types.Part(function_call=types.FunctionCall(id=key, name=name, args=args))
        for key, name, args in desk.tool_calls_for(parts[start].text)
    ]


def _is_own(text):
    return text.startswith("done: ")


def ask_quarter(question: str, tool_context: ToolContext) -> dict:
    """Ask a person for a quarter."""
    answer = tool_context.tool_confirmation
    if answer is None:
        tool_context.request_confirmation(hint=question, payload={"quarter": ""})
        return {"status": "waiting"}
    if not answer.confirmed:
        return {"result": "not answered"}
    return {"result": desk.file_report(answer.payload["quarter"])}


agent = LlmAgent(
    name="desk",
    model=Scripted(model="scripted"),
    tools=[
        FunctionTool(desk.issue_refund, require_confirmation=True),
        FunctionTool(desk.send_email, require_confirmation=True),
        ask_quarter,
        AGUIToolset(),
    ],
)
desk_app = App(
    name="desk", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True)
)
bridge = ADKAgent.from_app(
    desk_app,
    user_id="signoff",
    session_service=SqliteSessionService(str(desk.DATA / "sessions.sqlite3")),
    use_thread_id_as_session_id=True,
    emit_interrupt_outcome=os.environ.get("DESK_OUTCOME") == "1",
)
app = FastAPI()
add_adk_fastapi_endpoint(app, bridge, path="/agui")
