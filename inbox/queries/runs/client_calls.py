"""The results that a client sends for calls of its own tools."""

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from inbox.models import Interrupt, Thread, ToolCall
from inbox.rules.runs.client_tools import StoredCall, plan_results, tool_messages
from inbox.rules.runs.states import RunStatus, ToolCallState

_ENDED_WELL = (RunStatus.SUCCEEDED, RunStatus.INTERRUPTED)


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
    tools = json.loads(row.run.input).get("tools") or ()
    return StoredCall(
        is_asked=row.is_asked,
        is_offered=row.name in {tool["name"] for tool in tools},
        is_open=row.state == ToolCallState.PROPOSED and row.run.status in _ENDED_WELL,
        result=row.result,
    )
