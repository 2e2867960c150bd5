"""
The refund desk behind LangGraph's bridge, at /agui; DESK_OUTCOME=1 makes it say outcomes.

With DESK_REVIEW=1 LangChain's middleware asks instead of the tools, and the model sends its calls
in one chunk, of which the bridge streams the name of the first one only.
"""

import json
import os
from contextlib import asynccontextmanager
from typing import Annotated

import desk
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, HumanInTheLoopMiddleware, after_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import interrupt

CallId = Annotated[str, InjectedToolCallId]
IS_REVIEWED = os.environ.get("DESK_REVIEW") == "1"


class Scripted(BaseChatModel):
    """Asks for the calls of the script, then says what came of them."""

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        text, calls = _answer(messages)
        message = AIMessage(
            content=text,
            tool_calls=[{"id": key, "name": name, "args": args} for key, name, args in calls],
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        text, calls = _answer(messages)
        if IS_REVIEWED and calls:
            pieces = [
                {"name": name, "args": json.dumps(args), "id": key, "index": number}
                for number, (key, name, args) in enumerate(calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=pieces))
            calls = []
        for number, (key, name, args) in enumerate(calls):
            full_args = json.dumps(args)
            for piece in (
                {"name": name, "args": "", "id": key, "index": number},
                {"name": None, "args": full_args[:10], "id": None, "index": number},
                {"name": None, "args": full_args[10:], "id": None, "index": number},
            ):
                yield ChatGenerationChunk(
                    message=AIMessageChunk(content="", tool_call_chunks=[piece])
                )
        for word in text.split(" ") if text else []:
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))


def _answer(messages):
    start = max(at for at, message in enumerate(messages) if isinstance(message, HumanMessage))
    results = [message.content for message in messages[start:] if isinstance(message, ToolMessage)]
    if results:
        return desk.closing_words(results), []
    return "", desk.tool_calls_for(messages[start].content)


def _approved(call_id, args, schema, question="Call it?"):
    """Ask a person; return the arguments that may run, or why none may."""
    if IS_REVIEWED:
        return args, None
    answer = interrupt(
        {
            "reason": "tool_call",
            "message": question,
            "toolCallId": call_id,
            "expiresAt": desk.expiry_of(args.get("order", "")),
            "responseSchema": {
                "type": "object",
                "properties": {
                    "approved": {"type": "boolean"},
                    "editedArgs": {"type": "object", **schema},
                    "reason": {"type": "string"},
                },
                "required": ["approved"],
            },
        }
    )
    if answer["approved"]:
        return answer.get("editedArgs", args), None
    return None, f"denied: {answer.get('reason', 'called off')}"


def _schema(**fields):
    properties = {name: {"type": kind} for name, kind in fields.items()}
    return {"properties": properties, "required": [*fields], "additionalProperties": False}


REFUND = _schema(order="string", amount="number")


@tool
def issue_refund(order: str, amount: float, tool_call_id: CallId) -> str:
    """Refund an amount in EUR."""
    args, denied = _approved(tool_call_id, {"order": order, "amount": amount}, REFUND)
    return denied or desk.issue_refund(**args)


@tool
def refund_carefully(order: str, amount: float, tool_call_id: CallId) -> str:
    """Refund an amount in EUR when two people have said so, one after the other."""
    args, denied = _approved(tool_call_id, {"order": order, "amount": amount}, REFUND, "First?")
    if not denied:
        args, denied = _approved(tool_call_id, args, REFUND, "Second?")
    return denied or desk.issue_refund(**args)


@tool
def send_email(to: str, tool_call_id: CallId) -> str:
    """Send the customer an e-mail."""
    args, denied = _approved(tool_call_id, {"to": to}, _schema(to="string"))
    return denied or desk.send_email(**args)


@tool
def ask_quarter(question: str) -> str:
    """Ask a person for a quarter."""
    answer = interrupt(
        {
            "reason": "input_required",
            "message": question,
            "responseSchema": {
                "type": "object",
                "properties": {"quarter": {"type": "string", "enum": ["Q1", "Q2"]}},
                "required": ["quarter"],
            },
        }
    )
    return desk.file_report(answer["quarter"]) if "quarter" in answer else "not answered"


class Offering(AgentState):
    tools: list  #: of the client, as the bridge sets it


@after_model(state_schema=Offering, can_jump_to=["end"])
def leave_to_the_client(state, _runtime):
    """End the run at a call of the client's, who sends its result with the next one."""
    offered = {each["name"] for each in state.get("tools") or ()}
    is_theirs = any(call["name"] in offered for call in state["messages"][-1].tool_calls)
    return {"jump_to": "end"} if is_theirs else None


def graph(checkpointer=None):
    tools = [issue_refund, refund_carefully, send_email, ask_quarter]
    names = ("issue_refund", "send_email") if IS_REVIEWED else ()
    review = HumanInTheLoopMiddleware(dict.fromkeys(names, True))
    middleware = [review] if names else [leave_to_the_client]
    return create_agent(Scripted(), tools=tools, middleware=middleware, checkpointer=checkpointer)


bridge = LangGraphAgent(
    name="desk", graph=graph(), emit_interrupt_outcome=os.environ.get("DESK_OUTCOME") == "1"
)


@asynccontextmanager
async def with_checkpoints(_app):
    async with AsyncSqliteSaver.from_conn_string(str(desk.DATA / "checkpoints.sqlite3")) as saver:
        bridge.graph = graph(saver)
        yield


app = FastAPI(lifespan=with_checkpoints)
add_langgraph_fastapi_endpoint(app, bridge, "/agui")
