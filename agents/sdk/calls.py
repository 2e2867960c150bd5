"""Making tool calls: those nobody has to approve, and those that a person decided."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from ag_ui.core import BaseEvent
from jsonschema import Draft202012Validator

from agents.agui.strict_json import dumps
from agents.port import Answer, Effect, Proposal
from agents.sdk.tools import InvalidArguments, Pause, Question, Tool, ToolContext
from agents.sdk.turn import Proposed, Turn

_log = logging.getLogger(__name__)

Tools = Mapping[str, Tool | Question]

#: How long a person has for the second question about the same call.
_SECOND_LIFETIME = timedelta(hours=1)


class AnswerRefused(ValueError):
    """The answers do not fit what was asked; nothing has been executed."""


@dataclass(frozen=True)
class _Cleared:
    """A call that may be made now: its guard has nothing against it."""

    tool: Tool
    call: ToolContext
    lifetime: timedelta  #: of the question, if the function pauses


#: By tool call, in the order asked: calls to be made, and what is known without making any.
_Work = list[tuple[str, _Cleared | str]]


async def make_proposed(turn: Turn) -> AsyncIterator[BaseEvent]:
    """
    Make the calls proposed in this step, all at once (S2).

    Those that need a person become interrupts instead.
    """
    waiting, turn.proposed = turn.proposed, []
    work: _Work = []
    for one in waiting:
        if isinstance(one.tool, Question):
            turn.ask_question(one, one.tool)
        elif one.tool.approval is not None:
            message = one.tool.approval.format_map(one.args)
            turn.ask_approval(one.tool, one.tool_call_id, message, one.lifetime)
        else:
            work += _clear(turn, one.tool, one, resumed=None)
    async for event in _make_together(turn, work):
        yield event


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
    work: _Work = []
    for answer, tool in decided:
        if tool is None or answer.proposal is None:
            continue  # it was about no tool call: the script reads that answer itself
        if isinstance(tool, Tool) and _is_approval(answer):
            one = _approved(tool, answer.proposal)
            work += _clear(turn, tool, one, resumed=answer.entry.payload)
        else:
            work.append((answer.proposal.tool_call_id, _result_without_call(answer, tool)))
    async for event in _make_together(turn, work):
        yield event


def _clear(turn: Turn, tool: Tool, one: Proposed, *, resumed: Any) -> _Work:
    """Put a call through its guard; nothing is left to do if a person has to look first."""
    call = ToolContext(turn.run_input.thread_id, one.tool_call_id, one.args, resumed=resumed)
    try:
        tool.check_guard(call)
    except Pause as pause:
        turn.ask_approval(tool, one.tool_call_id, pause.message, one.lifetime)
        return []
    except InvalidArguments as error:
        return [(one.tool_call_id, dumps({"ok": False, "error": str(error)}))]
    return [(one.tool_call_id, _Cleared(tool, call, one.lifetime))]


async def _make_together(turn: Turn, work: _Work) -> AsyncIterator[BaseEvent]:
    """
    Make the calls at once and build the results in order.

    An error ends the run, but not before every other call has settled. What comes behind it is not
    told: a run that goes on once the doubt is decided says it in the same order.
    """
    made = {
        tool_call_id: asyncio.ensure_future(_execute(turn, item.tool, item.call))
        for tool_call_id, item in work
        if isinstance(item, _Cleared)
    }
    try:
        if made:
            await asyncio.wait(made.values())
    finally:
        for one in made.values():
            one.cancel()  # nobody waits for them any more, if the run was stopped
    errors = {tool_call_id: one.exception() for tool_call_id, one in made.items()}
    for tool_call_id, item in work:
        if isinstance(item, str):
            yield turn.result(tool_call_id, item)
        elif isinstance(pause := errors[tool_call_id], Pause):
            turn.ask_approval(item.tool, tool_call_id, pause.message, item.lifetime)
        else:
            yield turn.result(tool_call_id, made[tool_call_id].result())


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


async def _execute(turn: Turn, tool: Tool, call: ToolContext) -> str:
    """Call the function between two entries in the journal, or return what it gave before."""
    journal = turn.ctx.journal
    permit = await journal.begin(call.tool_call_id, args=call.args, effect=tool.effect)
    if permit.result is not None:
        return permit.result
    content = await _outcome(tool, replace(call, idempotency_key=permit.idempotency_key))
    await journal.settle(call.tool_call_id, result=content)
    return content


async def _outcome(tool: Tool, call: ToolContext) -> str:
    """Call the function; what it raises is its result, unless that leaves its effect in doubt."""
    try:
        return dumps(await tool.execute(call))
    except Pause:
        raise
    except Exception as error:
        if tool.effect is Effect.ONCE:
            raise
        # The class and not the text, which may hold secrets: the result is for everyone to read.
        _log.exception("The tool %s failed in call %s.", tool.name, call.tool_call_id)
        return dumps({"ok": False, "error": type(error).__name__})
