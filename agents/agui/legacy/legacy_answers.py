"""How each dialect in the field wants to be answered."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.agui.legacy import human_in_the_loop, vendor_quirks
from agents.agui.legacy.dialects import (
    AgentAnswer,
    Dialect,
    DialectInfo,
    Json,
    is_langgraph_id,
)

#: The answer where there is no word for calling off: a denial that says so.
CALLED_OFF: Json = {"approved": False, "cancelled": True}


def resume_fields(
    spoken: DialectInfo, replies: Sequence[AgentAnswer], forwarded_props: Any
) -> Json:
    """
    Return the fields of a RunAgentInput that resume a run in the dialect it was interrupted in.

    Raises:
        CannotBeCalledOff: nobody decided, and the agent takes no answer that says so.
    """
    if spoken.dialect in (Dialect.CANONICAL, Dialect.GOOGLE, Dialect.MICROSOFT):
        # A workflow whose questions were called off takes a conversation for a new one.
        is_workflow = spoken.dialect is Dialect.MICROSOFT and not _is_approval(spoken, replies[0])
        resume: Any = [_entry(reply, spoken) for reply in replies]
        return {"resume": resume, **({"messages": []} if is_workflow else {})}
    if spoken.dialect is Dialect.RESULTS:
        others = [_entry(one, spoken) for one in replies if one.interrupt_id not in spoken.notes]
        return {"resume": others} if others else {}
    props = dict(forwarded_props) if isinstance(forwarded_props, dict) else {}
    first = replies[0]
    note = spoken.notes.get(first.interrupt_id, {})
    if spoken.dialect is Dialect.DRAFT:
        name = {"interruptId": first.interrupt_id} if note.get("has_id") else {}
        return {"resume": {**name, "payload": _draft_payload(first, note)}}
    if spoken.dialect is Dialect.MASTRA:
        command = {"resume": _plain(first), "interruptEvent": note}
        return {"forwardedProps": {**props, "command": command}}
    answers = _langgraph_answers(spoken, replies)
    resume = answers if all(map(is_langgraph_id, answers)) else next(iter(answers.values()))
    return {"forwardedProps": {**props, "command": {"resume": resume}}}


def resume_messages(spoken: DialectInfo, replies: Sequence[AgentAnswer]) -> list[Json]:
    """The messages that the conversation has to end with for the run to be resumed."""
    if spoken.dialect is Dialect.GOOGLE:
        return [vendor_quirks.confirmation_message(spoken.notes)]
    return [
        {
            "id": one["messageId"],
            "role": "tool",
            "toolCallId": one["toolCallId"],
            "content": one["content"],
        }
        for one in result_events(spoken, replies)
    ]


def result_events(spoken: DialectInfo, replies: Sequence[AgentAnswer]) -> list[Json]:
    """The events that tell what was answered, where the answers are the results of calls."""
    if spoken.dialect is not Dialect.RESULTS:
        return []
    return [
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{one.interrupt_id}-result",
            "toolCallId": spoken.notes[one.interrupt_id]["toolCallId"],
            "content": vendor_quirks.result_text(one.status, one.payload),
        }
        for one in replies
        if one.interrupt_id in spoken.notes
    ]


def can_answer(spoken: DialectInfo) -> bool:
    """Whether all interrupts of the run can be answered: without ids only one can."""
    own = {spoken.agent_interrupt_id(name) for name in spoken.notes}
    return (
        spoken.dialect is not Dialect.LANGGRAPH or len(own) == 1 or all(map(is_langgraph_id, own))
    )


def _langgraph_answers(spoken: DialectInfo, replies: Sequence[AgentAnswer]) -> dict[str, Any]:
    """The answer to each interrupt of a graph, by its own name; those of one review are joined."""
    by_name: dict[str, list[AgentAnswer]] = {}
    for reply in replies:
        by_name.setdefault(spoken.agent_interrupt_id(reply.interrupt_id), []).append(reply)
    return {
        name: _reviewed(spoken, given) if _is_review(spoken, given[0]) else _plain(given[0])
        for name, given in by_name.items()
    }


def _is_review(spoken: DialectInfo, reply: AgentAnswer) -> bool:
    return "allowed" in spoken.notes.get(reply.interrupt_id, {})


def _reviewed(spoken: DialectInfo, replies: Sequence[AgentAnswer]) -> Json:
    """Return the answer to LangChain's middleware: a decision for each call, in its order."""
    notes = {one.interrupt_id: spoken.notes[one.interrupt_id] for one in replies}
    return {
        "decisions": [
            human_in_the_loop.build_decision(
                name=one.tool_name,
                args=one.args,
                allowed=notes[one.interrupt_id]["allowed"],
                payload=one.payload,
                is_cancelled=one.status == "cancelled",
            )
            for one in sorted(replies, key=lambda one: notes[one.interrupt_id]["place"])
        ]
    }


def _entry(reply: AgentAnswer, spoken: DialectInfo) -> Json:
    entry: Json = {"interruptId": reply.interrupt_id, "status": reply.status}
    payload = reply.payload
    if spoken.dialect is Dialect.GOOGLE and reply.interrupt_id in spoken.notes:
        payload = vendor_quirks.google_answer(payload)
    elif spoken.dialect is Dialect.MICROSOFT and _is_approval(spoken, reply):
        payload = vendor_quirks.microsoft_answer(payload)
    if reply.status == "resolved" and payload is not None:
        entry["payload"] = payload
    if reply.metadata and spoken.dialect is Dialect.CANONICAL:
        entry["metadata"] = dict(reply.metadata)
    return entry


def _is_approval(spoken: DialectInfo, reply: AgentAnswer) -> bool:
    return bool(spoken.notes[reply.interrupt_id]["kind"] == vendor_quirks.APPROVAL)


def _plain(reply: AgentAnswer) -> Any:
    return dict(CALLED_OFF) if reply.status == "cancelled" else reply.payload


def _draft_payload(reply: AgentAnswer, note: Mapping[str, Any]) -> Any:
    """The .NET server runs what the answer says: it gets the call from our own store."""
    payload = _plain(reply)
    if not (note.get("is_approval") and isinstance(payload, dict)):
        return payload
    if reply.tool_call_id is None or reply.args is None:
        return payload
    call = {
        "callId": reply.tool_call_id,
        "name": reply.tool_name,
        "arguments": dict(reply.args),
    }
    return {**payload, "toolCall": call}
