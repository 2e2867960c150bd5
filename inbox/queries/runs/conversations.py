"""The conversation and the events of a run."""

import json
from collections.abc import Mapping
from typing import Any

from ag_ui.core import BaseEvent, Message
from pydantic import TypeAdapter

from agents.agui import wire
from agents.agui.conversation import Conversation
from inbox.models import Event, Run, Thread, ToolCall
from inbox.rules.runs.client_tools import tool_messages
from inbox.rules.runs.states import CLIENT_EFFECT

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
    messages = _MESSAGES.validate_python(run_input.get("messages", []))
    conversation.merge_input(messages, calls_of_clients(thread, run_input))
    return conversation


def calls_of_clients(thread: Thread, run_input: Mapping[str, Any]) -> list[str]:
    """Return the ids of the calls whose results clients have sent, in the order of the input."""
    ids = [message["toolCallId"] for message in tool_messages(run_input)]
    if not ids:
        return []
    calls = ToolCall.objects.filter(thread=thread, tool_call_id__in=ids, effect=CLIENT_EFFECT)
    call_ids = set(calls.values_list("tool_call_id", flat=True))
    return [name for name in dict.fromkeys(ids) if name in call_ids]


def committed_events(run: Run) -> list[tuple[BaseEvent, bool]]:
    """Return the committed events of the run, each with whether it came from the agent."""
    rows = Event.objects.filter(run=run).order_by("seq").values_list("body", "from_agent")
    return [(wire.decode(body), from_agent) for body, from_agent in rows]
