"""Answers to agents in the dialect in which they interrupted."""

from collections.abc import Sequence
from typing import Any

from agents.agui.legacy import human_in_the_loop, servers, vendor_quirks
from agents.agui.legacy.dialects import (
    AgentAnswer,
    Dialect,
    DialectInfo,
    Json,
    is_langgraph_id,
)
from agents.agui.legacy.human_in_the_loop import CancellationUnsupported

#: In dialects without cancellation: a denial with a flag, for agents whose schema takes `approved`.
#: It is true for an agent that only tests the answer, so nobody else gets it.
CALLED_OFF: Json = {"approved": False, "cancelled": True}


def resume_fields(
    info: DialectInfo, answers: Sequence[AgentAnswer], forwarded_props: Any
) -> list[Json]:
    """
    Return the fields of the inputs that resume a run in the dialect it was interrupted in.

    One input has all answers, except for Mastra's bridge, which takes one call at a time.

    Raises:
        CancellationUnsupported: an interrupt was cancelled, and the agent cannot be told so.
    """
    if info.dialect in (Dialect.CANONICAL, Dialect.GOOGLE, Dialect.MICROSOFT):
        # A workflow whose requests were cancelled would take messages for a new conversation.
        is_workflow = info.dialect is Dialect.MICROSOFT and not _is_approval(info, answers[0])
        resume: Any = [_entry(answer, info) for answer in answers]
        return [{"resume": resume, **({"messages": []} if is_workflow else {})}]
    if info.dialect is Dialect.RESULTS:
        others = [
            _entry(answer, info) for answer in answers if answer.interrupt_id not in info.notes
        ]
        return [{"resume": others} if others else {}]
    props = dict(forwarded_props) if isinstance(forwarded_props, dict) else {}
    first = answers[0]
    note = info.notes.get(first.interrupt_id, {})
    if info.dialect is Dialect.DRAFT:
        name = {"interruptId": first.interrupt_id} if note.get("has_id") else {}
        return [{"resume": {**name, "payload": _draft_payload(info, first)}}]
    if info.dialect is Dialect.MASTRA:
        return [_mastra_fields(info, answer, props) for answer in answers]
    by_id = _langgraph_answers(info, answers)
    resume = by_id if all(map(is_langgraph_id, by_id)) else next(iter(by_id.values()))
    # LangGraph's bridge gives several entries to the first question as one object, which is true.
    entries = [_resolved(name, value) for name, value in by_id.items()] if len(by_id) == 1 else []
    fields = {"forwardedProps": {**props, "command": {"resume": resume}}}
    return [{**fields, **({"resume": entries} if entries else {})}]


def _mastra_fields(info: DialectInfo, answer: AgentAnswer, props: Json) -> Json:
    """Return the fields for one suspended call; false is how its bridge is told of an end."""
    value = False if answer.status == "cancelled" else answer.payload
    command = {"resume": value, "interruptEvent": info.notes.get(answer.interrupt_id, {})}
    return {
        "forwardedProps": {**props, "command": command},
        "resume": [_resolved(answer.interrupt_id, value)],
    }


def _resolved(interrupt_id: str, payload: Any) -> Json:
    return {"interruptId": interrupt_id, "status": "resolved", "payload": payload}


def resume_messages(info: DialectInfo, answers: Sequence[AgentAnswer]) -> list[Json]:
    """Return the messages that must end the conversation to resume the run."""
    if info.dialect is Dialect.GOOGLE:
        return [vendor_quirks.confirmation_message(info.notes)]
    return [
        {
            "id": f"{answer.interrupt_id}-result",
            "role": "tool",
            "toolCallId": info.notes[answer.interrupt_id]["toolCallId"],
            "content": _result_text(info, answer),
        }
        for answer in _with_notes(info, answers)
    ]


def result_events(info: DialectInfo, answers: Sequence[AgentAnswer]) -> list[Json]:
    """
    Return the result events, in the dialect whose answers are tool results.

    The result of a call that was approved is the agent's.
    """
    return [
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{answer.interrupt_id}-result",
            "toolCallId": info.notes[answer.interrupt_id]["toolCallId"],
            "content": _result_text(info, answer),
        }
        for answer in _with_notes(info, answers)
        if not _is_confirmed(info, answer)
    ]


def _with_notes(info: DialectInfo, answers: Sequence[AgentAnswer]) -> list[AgentAnswer]:
    """Return the answers that are sent as results of their calls."""
    if info.dialect is not Dialect.RESULTS:
        return []
    return [answer for answer in answers if answer.interrupt_id in info.notes]


def _result_text(info: DialectInfo, answer: AgentAnswer) -> str:
    is_message = info.notes[answer.interrupt_id].get("kind") == servers.TOOL_MESSAGE
    text = servers.tool_message_text if is_message else vendor_quirks.result_text
    return text(answer.status, answer.payload)


def _is_confirmed(info: DialectInfo, answer: AgentAnswer) -> bool:
    """Return True if the agent makes the call itself, and so has its result."""
    note = info.notes[answer.interrupt_id]
    answered = vendor_quirks.as_object(answer.payload)
    is_approved = answer.status == "resolved" and answered.get("approved") is True
    return note.get("kind") == servers.TOOL_MESSAGE and is_approved and not answered.get("result")


def can_answer(info: DialectInfo) -> bool:
    """Return True if all interrupts can be answered: without ids only one can."""
    ids = {info.agent_interrupt_id(name) for name in info.notes}
    return info.dialect is not Dialect.LANGGRAPH or len(ids) == 1 or all(map(is_langgraph_id, ids))


def _langgraph_answers(info: DialectInfo, answers: Sequence[AgentAnswer]) -> dict[str, Any]:
    """Return the answers by LangGraph's interrupt id; those of one review are joined."""
    by_name: dict[str, list[AgentAnswer]] = {}
    for answer in answers:
        by_name.setdefault(info.agent_interrupt_id(answer.interrupt_id), []).append(answer)
    return {name: _langgraph_answer(info, group) for name, group in by_name.items()}


def _langgraph_answer(info: DialectInfo, answers: Sequence[AgentAnswer]) -> Any:
    """Return a single answer, or for a review a decision on each call, in order."""
    notes = {answer.interrupt_id: info.notes.get(answer.interrupt_id, {}) for answer in answers}
    if "allowed" not in notes[answers[0].interrupt_id]:
        return _plain(info, answers[0])
    form = notes[answers[0].interrupt_id].get("form", "")
    decisions = [
        human_in_the_loop.build_decision(
            name=answer.tool_name,
            args=answer.args,
            allowed=notes[answer.interrupt_id]["allowed"],
            payload=answer.payload,
            is_cancelled=answer.status == "cancelled",
            form=form,
        )
        for answer in sorted(answers, key=lambda answer: notes[answer.interrupt_id]["place"])
    ]
    return human_in_the_loop.build_answer(decisions, form)


def _entry(answer: AgentAnswer, info: DialectInfo) -> Json:
    entry: Json = {"interruptId": answer.interrupt_id, "status": answer.status}
    payload, note = answer.payload, info.notes.get(answer.interrupt_id, {})
    if info.dialect is Dialect.GOOGLE and answer.interrupt_id in info.notes:
        payload = vendor_quirks.google_answer(payload)
    elif info.dialect is Dialect.MICROSOFT and _is_approval(info, answer):
        payload = vendor_quirks.microsoft_answer(payload)
    else:
        payload = _server_payload(note, answer)
    if answer.status == "resolved":
        entry["payload"] = payload  # null is an answer, too
    if info.dialect is Dialect.CANONICAL and (answer.metadata or "metadata" in note):
        entry["metadata"] = {**(answer.metadata or {}), **note.get("metadata", {})}
    return entry


def _is_approval(info: DialectInfo, answer: AgentAnswer) -> bool:
    return bool(info.notes[answer.interrupt_id]["kind"] == vendor_quirks.APPROVAL)


def _server_payload(note: Json, answer: AgentAnswer) -> Any:
    """
    Return an answer in the form of the server that asked (`servers`).

    Raises:
        CancellationUnsupported: CrewAI takes an end for its default outcome, or its first one.
    """
    payload = answer.payload
    match note.get("kind"):
        case vendor_quirks.BEHAVIOR:
            return vendor_quirks.behavior_answer(payload)
        case servers.TOOL_CALL:
            return _with_tool_call(payload, answer)
        case servers.TEXT:
            if answer.status == "cancelled":
                raise CancellationUnsupported
            return ("no", "yes")[payload] if isinstance(payload, bool) else payload
    return payload


def _plain(info: DialectInfo, answer: AgentAnswer) -> Any:
    if answer.status != "cancelled":
        return _server_payload(info.notes.get(answer.interrupt_id, {}), answer)
    if answer.interrupt_id not in info.declinable:
        raise CancellationUnsupported
    return dict(CALLED_OFF)


def _draft_payload(info: DialectInfo, answer: AgentAnswer) -> Any:
    payload, note = _plain(info, answer), info.notes.get(answer.interrupt_id, {})
    return _with_tool_call(payload, answer) if note.get("is_approval") else payload


def _with_tool_call(payload: Any, answer: AgentAnswer) -> Any:
    """Return an approval with its call: the .NET server executes that, so it is the stored one."""
    if not isinstance(payload, dict) or answer.tool_call_id is None or answer.args is None:
        return payload
    call = {
        "callId": answer.tool_call_id,
        "name": answer.tool_name,
        "arguments": dict(answer.args),
    }
    return {**payload, "toolCall": call}
