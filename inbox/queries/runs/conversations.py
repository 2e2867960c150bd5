"""The conversation and the events of a run."""

import json

from ag_ui.core import BaseEvent, Message
from pydantic import TypeAdapter

from agents.agui import wire
from agents.agui.conversation import Conversation
from inbox.models import Event, Run, Thread

_MESSAGES = TypeAdapter(list[Message])


def conversation_before(run: Run, thread: Thread) -> Conversation:
    """Return the conversation before the run: the thread's, merged with the run's input."""
    run_input = json.loads(run.input)
    state = run_input.get("state")
    conversation = Conversation(
        _MESSAGES.validate_json(thread.messages),
        json.loads(thread.state) if state in (None, {}, "") else state,
        json.loads(thread.client_messages),
    )
    conversation.merge_input(_MESSAGES.validate_python(run_input.get("messages", [])))
    return conversation


def committed_events(run: Run) -> list[tuple[BaseEvent, bool]]:
    """Return the committed events of the run, each with whether it came from the agent."""
    rows = Event.objects.filter(run=run).order_by("seq").values_list("body", "from_agent")
    return [(wire.decode(body), from_agent) for body, from_agent in rows]
