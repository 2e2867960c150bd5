"""Making tool calls: those nobody has to approve, and those that a person decided."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

from ag_ui.core import BaseEvent
from jsonschema import Draft202012Validator

from agents.agui.strict_json import dumps
from agents.port import Answer, Proposal
from agents.sdk.tools import InvalidArguments, Pause, Question, Tool, ToolContext
from agents.sdk.turn import Proposed, Turn

Tools = Mapping[str, Tool | Question]

#: How long a person has for the second question about the same call.
_SECOND_LIFETIME = timedelta(hours=1)


class AnswerRefused(ValueError):
    """The answers do not fit what was asked; nothing has been executed."""


async def make_proposed(turn: Turn) -> AsyncIterator[BaseEvent]:
    """Make the calls proposed in this step; those that need a person become interrupts instead."""
    waiting, turn.proposed = turn.proposed, []
    for one in waiting:
        if isinstance(one.tool, Question):
            turn.ask_question(one, one.tool)
        elif one.tool.approval is not None:
            message = one.tool.approval.format_map(one.args)
            turn.ask_approval(one.tool, one.tool_call_id, message, one.lifetime)
        else:
            content = await _call(turn, one.tool, one, resumed=None)
            if content is not None:
                yield turn.result(one.tool_call_id, content)


async def follow_answers(turn: Turn, tools: Tools) -> AsyncIterator[BaseEvent]:
    """
    Do what was decided about each tool call: all approved calls start together (S2).

    Everything is checked before the first call is made; results come in the order asked.

    Raises:
        AnswerRefused: an answer is about an unknown tool, or does not fit its question.
    """
    decided = [(answer, _find(tools, answer.proposal)) for answer in turn.answers]
    for answer, tool in decided:
        _check_answer(answer, tool)
    # Who proposed nothing asked about no tool call: the script reads that answer itself.
    about = [(answer, tool) for answer, tool in decided if tool and answer.proposal]
    made = [asyncio.ensure_future(_follow(turn, answer, tool)) for answer, tool in about]
    if made:
        await asyncio.wait(made)
    for (answer, _), outcome in zip(about, made, strict=True):
        content = outcome.result()
        if content is not None:
            yield turn.result(answer.proposal.tool_call_id, content)  # type: ignore[union-attr]


async def _follow(turn: Turn, answer: Answer, tool: Tool | Question) -> str | None:
    """Make an approved call, or say why it was not made; None if it pauses once more."""
    if isinstance(tool, Tool) and answer.proposal and _is_approval(answer):
        one = _approved(tool, answer.proposal)
        return await _call(turn, tool, one, resumed=answer.entry.payload)
    return _result_without_call(answer, tool)


def _find(tools: Tools, proposal: Proposal | None) -> Tool | Question | None:
    if proposal is None:
        return None
    if proposal.name not in tools:
        raise AnswerRefused(f"The tool '{proposal.name}' is not one of: {', '.join(tools)}.")
    return tools[proposal.name]


def _check_answer(answer: Answer, tool: Tool | Question | None) -> None:
    """Raise unless the answer to a question fits its schema (S4)."""
    if not isinstance(tool, Question) or answer.entry.status != "resolved":
        return
    schema = answer.interrupt.response_schema or {}
    if not Draft202012Validator(schema).is_valid(answer.entry.payload):
        raise AnswerRefused(
            f"The answer to '{answer.interrupt.id}' does not fit its responseSchema."
        )


def _is_approval(answer: Answer) -> bool:
    """Whether the call may be made; anything but `approved: true`, spelled so, is a denial."""
    payload = answer.entry.payload
    return (
        answer.entry.status == "resolved"
        and isinstance(payload, dict)
        and payload.get("approved") is True
    )


def _approved(tool: Tool, proposal: Proposal) -> Proposed:
    return Proposed(tool, proposal.tool_call_id, dict(proposal.args), _SECOND_LIFETIME)


def _result_without_call(answer: Answer, tool: Tool | Question) -> str:
    payload = answer.entry.payload
    if answer.entry.status == "cancelled":
        return dumps({"ok": False, "cancelled": True})
    if isinstance(tool, Question):
        return dumps(payload)
    reason = payload.get("reason") if isinstance(payload, dict) else None
    return dumps({"ok": False, "denied": True, "reason": reason})


async def _call(turn: Turn, tool: Tool, one: Proposed, *, resumed: Any) -> str | None:
    """Make one call and return its result, or None if its guard wants a person to look first."""
    call = ToolContext(turn.run_input.thread_id, one.tool_call_id, one.args, resumed=resumed)
    try:
        tool.check_guard(call)
    except Pause as pause:
        turn.ask_approval(tool, one.tool_call_id, pause.message, one.lifetime)
        return None
    except InvalidArguments as error:
        return dumps({"ok": False, "error": str(error)})
    return await _execute(turn, tool, call)


async def _execute(turn: Turn, tool: Tool, call: ToolContext) -> str:
    """Call the function between two entries in the journal, or return what it gave before."""
    journal = turn.ctx.journal
    permit = await journal.begin(call.tool_call_id, args=call.args, effect=tool.effect)
    if permit.result is not None:
        return permit.result
    permitted = ToolContext(
        call.thread_id, call.tool_call_id, call.args, permit.idempotency_key, call.resumed
    )
    content = dumps(await tool.execute(permitted))
    await journal.settle(call.tool_call_id, result=content)
    return content
