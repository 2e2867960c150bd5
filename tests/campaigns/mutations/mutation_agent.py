"""An agent that asks in every way there is, as often as it is told to, and notes what it does."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agents.sdk.context import ToolContext
from agents.sdk.tools import define_interrupt, tool
from agents.sdk.workflow import WorkflowContext, workflow

#: Names the file that gets a line for each time that one of the functions is called.
NOTES = "MUTATIONS_NOTES"

STAY = {
    "type": "object",
    "properties": {
        "hotel": {"enum": ["Ritz", "Grand"]},
        "nights": {"type": "integer", "minimum": 1, "maximum": 30},
    },
    "required": ["hotel", "nights"],
    "additionalProperties": False,
}


def _note(call: ToolContext, name: str) -> None:
    line = {"call": call.tool_call_id, "name": name, "args": dict(call.args), "got": call.resumed}
    with Path(os.environ[NOTES]).open("a") as notes:
        notes.write(json.dumps({"thread": call.thread_id, **line}) + "\n")


@tool(effect="once", approval="Pay {amount} to {to}?")
def pay(call: ToolContext, to: str, amount: int) -> str:
    """Pay somebody."""
    _note(call, "pay")
    return "paid"


@tool(effect="idempotent", approval=True)
def publish(call: ToolContext, title: str, tags: list[str]) -> str:
    """Publish something."""
    _note(call, "publish")
    return "published"


@tool(effect="idempotent")
def book(call: ToolContext, city: str) -> str:
    """Book a hotel."""
    if call.resumed is None:
        call.interrupt(f"Where in {city}?", response_schema=STAY, metadata={"city": city})
    _note(call, "book")
    return "booked"


@tool(effect="idempotent")
def hurry(call: ToolContext) -> str:
    """Ask something that nobody can answer in time."""
    if call.resumed is None:
        call.interrupt("Now?", response_schema={}, expires_in=timedelta(milliseconds=1))
    _note(call, "hurry")
    return "hurried"


class Thing(BaseModel):
    thing: str


ask_colour = define_interrupt(
    "ask_colour",
    "Ask for a colour.",
    input_model=Thing,
    message="Which colour for {thing}?",
    answer_schema={"enum": ["red", "blue"]},
)

INTERRUPTS: dict[str, Any] = {
    "pay": (pay, {"to": "ann", "amount": 5}),
    "publish": (publish, {"title": "News", "tags": ["a", "b"]}),
    "book": (book, {"city": "Rome"}),
    "ask_colour": (ask_colour, {"thing": "the door"}),
}
LATE = {"hurry": (hurry, {})}
#: Asked by the workflow itself, about no tool call.
QUESTION = "question"


@workflow(tools=(pay, publish, book, ask_colour))
async def clerk(ctx: WorkflowContext) -> None:
    """Makes the calls that the message lists, one round of them after the other."""
    for command in json.loads(ctx.message):
        if command == [QUESTION]:
            await ctx.interrupt("Why?", response_schema={"type": "string", "pattern": "^Because "})
        else:
            await ctx.call_all(*((INTERRUPTS | LATE)[name] for name in command))
