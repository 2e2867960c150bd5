"""The results that a client sends for calls of its own tools."""

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from inbox.models import Interrupt, Run, Thread, ToolCall
from inbox.rules.runs.client_tools import StoredCall, offered_names, plan_results, tool_messages
from inbox.rules.runs.states import InterruptStatus, RunStatus, ToolCallState

_ENDED_WELL = (RunStatus.SUCCEEDED, RunStatus.INTERRUPTED)


def without_own_tools(thread: Thread, run_input: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return the input without the tools of a client that are the agent's, whose calls people decide.

    There are servers that read a tool message as the confirmation of their own call (Agno), so
    that who offers its tool could confirm it. An agent's tools are those that people were asked
    about in a run to which no client offered them.
    """
    own = {
        name
        for name in offered_names(run_input)
        if (run := _last_asked_run(thread, name))
        and name not in offered_names(json.loads(run.input))
    }
    if not own:
        return run_input
    tools = [tool for tool in run_input["tools"] if tool["name"] not in own]
    return {**run_input, "tools": tools}


def _last_asked_run(thread: Thread, tool: str) -> Run | None:
    interrupts = Interrupt.objects.filter(
        team_id=thread.team_id, agent_id=thread.agent_id, tool=tool
    )
    decided = interrupts.exclude(status=InterruptStatus.OPEN).order_by("-closed_at", "-id")
    pending = interrupts.filter(status=InterruptStatus.OPEN).order_by("due_at", "id")
    row = decided.select_related("run").first() or pending.select_related("run").first()
    return row.run if row else None


def new_results(thread: Thread, run_input: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the results in the input for open calls of the thread, by tool call id.

    The caller holds the thread's lock.

    Raises:
        ToolResultRejected: a tool message is no result that anybody waits for.
    """
    names = {message["toolCallId"] for message in tool_messages(run_input)}
    if not names:
        return {}
    rows = ToolCall.objects.filter(thread=thread, tool_call_id__in=names).select_related("run")
    is_asked = Exists(Interrupt.objects.filter(tool_call=OuterRef("pk")))
    return plan_results(
        stored=json.loads(thread.messages),
        sent=run_input["messages"],
        calls={row.tool_call_id: _stored_call(row) for row in rows.annotate(is_asked=is_asked)},
    )


def _stored_call(row: Any) -> StoredCall:
    return StoredCall(
        is_asked=row.is_asked,
        is_offered=row.name in offered_names(json.loads(row.run.input)),
        is_open=row.state == ToolCallState.PROPOSED and row.run.status in _ENDED_WELL,
        result=row.result,
    )
