"""How each dialect in the field wants to be answered."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.agui import bridges
from agents.agui.dialects import Dialect, Json, Reply, Spoken, is_langgraph_id

#: The answer where there is no word for calling off: a denial that says so.
CALLED_OFF: Json = {"approved": False, "cancelled": True}


def resume_fields(spoken: Spoken, replies: Sequence[Reply], forwarded_props: Any) -> Json:
    """The fields of a RunAgentInput that resume a run in the dialect that it was interrupted in."""
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
    own = [spoken.own_id(reply.interrupt_id) for reply in replies]
    if all(map(is_langgraph_id, own)):
        resume = {name: _plain(one) for name, one in zip(own, replies, strict=True)}
    else:
        resume = _plain(first)
    return {"forwardedProps": {**props, "command": {"resume": resume}}}


def resume_messages(spoken: Spoken, replies: Sequence[Reply]) -> list[Json]:
    """The messages that the conversation has to end with for the run to be resumed."""
    if spoken.dialect is Dialect.GOOGLE:
        return [bridges.confirmation_message(spoken.notes)]
    return [
        {
            "id": one["messageId"],
            "role": "tool",
            "toolCallId": one["toolCallId"],
            "content": one["content"],
        }
        for one in results(spoken, replies)
    ]


def results(spoken: Spoken, replies: Sequence[Reply]) -> list[Json]:
    """The events that tell what was answered, where the answers are the results of calls."""
    if spoken.dialect is not Dialect.RESULTS:
        return []
    return [
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{one.interrupt_id}-result",
            "toolCallId": spoken.notes[one.interrupt_id]["toolCallId"],
            "content": bridges.result_text(one.status, one.payload),
        }
        for one in replies
        if one.interrupt_id in spoken.notes
    ]


def can_answer(spoken: Spoken) -> bool:
    """Whether all interrupts of the run can be answered: without ids only one can."""
    return (
        spoken.dialect is not Dialect.LANGGRAPH
        or len(spoken.notes) == 1
        or all(is_langgraph_id(spoken.own_id(name)) for name in spoken.notes)
    )


def _entry(reply: Reply, spoken: Spoken) -> Json:
    entry: Json = {"interruptId": reply.interrupt_id, "status": reply.status}
    payload = reply.payload
    if spoken.dialect is Dialect.GOOGLE and reply.interrupt_id in spoken.notes:
        payload = bridges.google_answer(payload)
    elif spoken.dialect is Dialect.MICROSOFT and _is_approval(spoken, reply):
        payload = bridges.microsoft_answer(payload)
    if reply.status == "resolved" and payload is not None:
        entry["payload"] = payload
    if reply.metadata and spoken.dialect is Dialect.CANONICAL:
        entry["metadata"] = dict(reply.metadata)
    return entry


def _is_approval(spoken: Spoken, reply: Reply) -> bool:
    return bool(spoken.notes[reply.interrupt_id]["kind"] == bridges.APPROVAL)


def _plain(reply: Reply) -> Any:
    return dict(CALLED_OFF) if reply.status == "cancelled" else reply.payload


def _draft_payload(reply: Reply, note: Mapping[str, Any]) -> Any:
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
