"""Results of tools that a client offers and calls itself (AG-UI's frontend tools)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.agui.content import content_text
from inbox.rules.errors import ToolResultRejected
from inbox.rules.runs.history import is_same_result

Message = Mapping[str, Any]

#: As long as one event of an agent may be.
MAX_RESULT_CHARACTERS = 1024 * 1024


@dataclass(frozen=True)
class StoredCall:
    """A call of the thread that a tool message names."""

    is_asked: bool  #: people decide about it
    is_offered: bool  #: a client offered its tool to the run
    is_open: bool  #: it was not made yet, and its run neither failed nor was cancelled
    result: str | None


def tool_messages(run_input: Mapping[str, Any]) -> list[Message]:
    return [item for item in run_input.get("messages") or () if item["role"] == "tool"]


def offered_names(run_input: Mapping[str, Any]) -> set[str]:
    """Return the names of the tools that a client offers to a run."""
    return {tool["name"] for tool in run_input.get("tools") or ()}


def plan_results(
    *, stored: Sequence[Message], sent: Sequence[Message], calls: Mapping[str, StoredCall]
) -> dict[str, str]:
    """
    Return the new results among the messages of a client, by tool call id.

    `stored` are the messages of the thread, and `calls` its calls that the tool messages name. A
    result that the thread has already is part of the history, whatever message id a client gives
    it; so is a message about a call that people decide on, in which CopilotKit repeats the
    decision. The calls of a history that the client brings along are its own.

    Raises:
        ToolResultRejected: a tool message is no result that anybody waits for.
    """
    stored_ids = {message["id"] for message in stored}
    new = [message for message in sent if message["id"] not in stored_ids]
    own = {call["id"] for message in new for call in message.get("toolCalls") or ()}
    results: dict[str, str] = {}
    for message in new:
        if message["role"] != "tool":
            continue
        name, text = message["toolCallId"], content_text(message["content"])
        call = calls.get(name)
        if call is None and name in own:
            continue
        if call is not None and _is_history(call, text):
            continue
        if name in results:
            raise _rejected("it has two results in one request", name)
        if problem := _problem(call, text):
            raise _rejected(problem, name)
        results[name] = text
    return results


def _is_history(call: StoredCall, text: str) -> bool:
    return call.is_asked or (call.result is not None and is_same_result(call.result, text))


def _problem(call: StoredCall | None, text: str) -> str:
    """Return the reason why a text is no result of a call, "" if it is one."""
    if call is None:
        return "it is no call of this thread"
    if call.result is not None:
        return "it has another result already"
    if not call.is_offered:
        return "no client offered its tool to the run"
    if not call.is_open:
        return "its run did not end as a success"
    too_long = f"a result may have {MAX_RESULT_CHARACTERS} characters"
    return too_long if len(text) > MAX_RESULT_CHARACTERS else ""


def check_not_repeated(
    *, stored: Sequence[Message], sent: Sequence[Message], results: Mapping[str, str]
) -> None:
    """
    Raise ToolResultRejected if a client sends only results that the thread has already.

    Of two clients that send the result of one call, the second would run the agent again.
    """
    stored_ids = {message["id"] for message in stored}
    new = [message for message in sent if message["id"] not in stored_ids]
    repeated = [message["toolCallId"] for message in new if message["role"] == "tool"]
    if repeated and not results and all(item["role"] in ("tool", "assistant") for item in new):
        raise _rejected("it has its result already, and nothing else is new", repeated[-1])


def _rejected(problem: str, tool_call_id: str) -> ToolResultRejected:
    return ToolResultRejected(
        f"The tool message about the call {tool_call_id[:80]} is no result that the thread waits "
        f"for: {problem}. Leave it out."
    )
