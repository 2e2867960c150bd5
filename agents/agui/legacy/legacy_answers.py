"""Answers to agents in the dialect in which they interrupted."""

from collections.abc import Sequence
from typing import Any

from agents.agui.legacy import human_in_the_loop, vendor_quirks
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


def resume_fields(info: DialectInfo, answers: Sequence[AgentAnswer], forwarded_props: Any) -> Json:
    """
    Return the fields of a RunAgentInput that resume a run in the dialect it was interrupted in.

    Raises:
        CancellationUnsupported: an interrupt was cancelled, and the agent cannot be told so.
    """
    if info.dialect in (Dialect.CANONICAL, Dialect.GOOGLE, Dialect.MICROSOFT):
        # A workflow whose requests were cancelled would take messages for a new conversation.
        is_workflow = info.dialect is Dialect.MICROSOFT and not _is_approval(info, answers[0])
        resume: Any = [_entry(answer, info) for answer in answers]
        return {"resume": resume, **({"messages": []} if is_workflow else {})}
    if info.dialect is Dialect.RESULTS:
        others = [
            _entry(answer, info) for answer in answers if answer.interrupt_id not in info.notes
        ]
        return {"resume": others} if others else {}
    props = dict(forwarded_props) if isinstance(forwarded_props, dict) else {}
    first = answers[0]
    note = info.notes.get(first.interrupt_id, {})
    if info.dialect is Dialect.DRAFT:
        name = {"interruptId": first.interrupt_id} if note.get("has_id") else {}
        return {"resume": {**name, "payload": _draft_payload(info, first)}}
    if info.dialect is Dialect.MASTRA:
        command = {"resume": _plain(info, first), "interruptEvent": note}
        return {"forwardedProps": {**props, "command": command}}
    by_id = _langgraph_answers(info, answers)
    resume = by_id if all(map(is_langgraph_id, by_id)) else next(iter(by_id.values()))
    return {"forwardedProps": {**props, "command": {"resume": resume}}}


def resume_messages(info: DialectInfo, answers: Sequence[AgentAnswer]) -> list[Json]:
    """Return the messages that must end the conversation to resume the run."""
    if info.dialect is Dialect.GOOGLE:
        return [vendor_quirks.confirmation_message(info.notes)]
    return [
        {
            "id": event["messageId"],
            "role": "tool",
            "toolCallId": event["toolCallId"],
            "content": event["content"],
        }
        for event in result_events(info, answers)
    ]


def result_events(info: DialectInfo, answers: Sequence[AgentAnswer]) -> list[Json]:
    """Return the result events, in the dialect whose answers are tool results."""
    if info.dialect is not Dialect.RESULTS:
        return []
    return [
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{answer.interrupt_id}-result",
            "toolCallId": info.notes[answer.interrupt_id]["toolCallId"],
            "content": vendor_quirks.result_text(answer.status, answer.payload),
        }
        for answer in answers
        if answer.interrupt_id in info.notes
    ]


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
    payload = answer.payload
    if info.dialect is Dialect.GOOGLE and answer.interrupt_id in info.notes:
        payload = vendor_quirks.google_answer(payload)
    elif info.dialect is Dialect.MICROSOFT and _is_approval(info, answer):
        payload = vendor_quirks.microsoft_answer(payload)
    elif info.notes.get(answer.interrupt_id, {}).get("kind") == vendor_quirks.BEHAVIOR:
        payload = vendor_quirks.behavior_answer(payload)
    if answer.status == "resolved":
        entry["payload"] = payload  # null is an answer, too
    note = info.notes.get(answer.interrupt_id, {})
    if info.dialect is Dialect.CANONICAL and (answer.metadata or "metadata" in note):
        entry["metadata"] = {**(answer.metadata or {}), **note.get("metadata", {})}
    return entry


def _is_approval(info: DialectInfo, answer: AgentAnswer) -> bool:
    return bool(info.notes[answer.interrupt_id]["kind"] == vendor_quirks.APPROVAL)


def _plain(info: DialectInfo, answer: AgentAnswer) -> Any:
    if answer.status != "cancelled":
        return answer.payload
    if answer.interrupt_id not in info.declinable:
        raise CancellationUnsupported
    return dict(CALLED_OFF)


def _draft_payload(info: DialectInfo, answer: AgentAnswer) -> Any:
    """Return the payload; the .NET server executes the call in it, so it is the stored answer."""
    payload, note = _plain(info, answer), info.notes.get(answer.interrupt_id, {})
    if not (note.get("is_approval") and isinstance(payload, dict)):
        return payload
    if answer.tool_call_id is None or answer.args is None:
        return payload
    call = {
        "callId": answer.tool_call_id,
        "name": answer.tool_name,
        "arguments": dict(answer.args),
    }
    return {**payload, "toolCall": call}
