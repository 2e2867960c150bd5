"""Making tool calls: those nobody has to approve, and those that a person decided."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ag_ui.core import BaseEvent
from jsonschema import Draft202012Validator

from agents.agui.strict_json import dumps
from agents.port import Effect, InterruptAnswer, Proposal
from agents.sdk.context import CallPaused, InterruptRequest, ToolContext, ToolError
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn
from agents.sdk.step import ProposedCall, StepContext
from agents.sdk.tools import InterruptTool, InvalidArguments, Tool

_log = logging.getLogger(__name__)

Tools = Mapping[str, Tool | InterruptTool]

#: Characters of an error that a function explains.
_MAX_ERROR_CHARACTERS = 2_000
#: Before a call that raised is tried again, it waits this long, and then twice as long each time.
_FIRST_WAIT_SECONDS = 0.5


class InvalidAnswer(ValueError):
    """The answers do not fit what was asked; nothing has been executed."""


class OnceToolPaused(RuntimeError):
    """A function that is never called twice wanted to start again with an answer."""


@dataclass(frozen=True)
class _ReadyCall:
    """A call that may be made now: nobody has to be asked about it."""

    tool: Tool
    call: ToolContext
    expires_in: ExpiresIn  #: of the question, if the function pauses


@dataclass(frozen=True)
class _PendingInterrupt:
    """A call that somebody has to be asked about first."""

    tool: Tool | InterruptTool
    ask: InterruptRequest
    expires_in: ExpiresIn


#: What is to be done about a tool call, by its id: make it, ask first, or tell the result that is
#: known without making it.
_WorkItem = tuple[str, _ReadyCall | _PendingInterrupt | str]


async def execute_proposed_calls(context: StepContext) -> AsyncIterator[BaseEvent]:
    """
    Make the calls proposed in this step concurrently.

    Those that need a person become interrupts instead.
    """
    waiting, context.proposed = context.proposed, []
    async for event in _execute_all(context, [_prepare_call(context, one) for one in waiting]):
        yield event


async def execute_answered_calls(context: StepContext, tools: Tools) -> AsyncIterator[BaseEvent]:
    """
    Do what was decided about each tool call: all approved calls start together.

    Everything is checked before the first call is made; results come in the order asked.

    Raises:
        AnswerRefused: an answer is about an unknown tool, or does not fit its question.
    """
    decided = [(answer, _find(tools, answer.proposal)) for answer in context.answers]
    for answer, tool in decided:
        _check_answer(answer, tool)
    work: list[_WorkItem] = []
    for answer, tool in decided:
        if tool is None or answer.proposal is None:
            continue  # it was about no tool call: the script reads that answer itself
        if isinstance(tool, Tool) and allows_call(answer):
            work.append(_prepare_call(context, _approved(tool, answer.proposal), answer))
        else:
            work.append((answer.proposal.tool_call_id, _known_result(answer, tool)))
    async for event in _execute_all(context, work):
        yield event


def _prepare_call(
    context: StepContext, one: ProposedCall, answer: InterruptAnswer | None = None
) -> _WorkItem:
    """Find out whether a call may be made, or a person has to look first."""
    try:
        return one.tool_call_id, _check_call(context, one, answer)
    except InvalidArguments as error:
        return one.tool_call_id, dumps({"ok": False, "error": str(error)})


def _check_call(
    context: StepContext, one: ProposedCall, answer: InterruptAnswer | None
) -> _ReadyCall | _PendingInterrupt:
    if isinstance(one.tool, InterruptTool):
        return _PendingInterrupt(one.tool, one.tool.interrupt_request(one.args), one.expires_in)
    proposal = answer.proposal if answer else None
    call = ToolContext(
        context.run_input.thread_id,
        one.tool_call_id,
        one.args,
        resumed=_resume_value(answer),
        interrupt_metadata=answer.interrupt.metadata if answer else None,
        is_approved=proposal.is_approved if proposal else False,
        original_input=proposal.original_args if proposal else None,
        state=context.state,
        emit=context.ctx.emit_out_of_band,
    )
    ask = one.tool.approval_request(call)
    if ask is not None:
        return _PendingInterrupt(one.tool, ask, one.expires_in)
    return _ReadyCall(one.tool, call, one.expires_in)


def _resume_value(answer: InterruptAnswer | None) -> Any:
    """Return the answer that restarts a function; never None, as None means a first call."""
    if answer is None:
        return None
    return True if answer.resume_entry.payload is None else answer.resume_entry.payload


async def _execute_all(context: StepContext, work: Sequence[_WorkItem]) -> AsyncIterator[BaseEvent]:
    """
    Make the calls at once; tell the results, and ask, in the order of the calls.

    An error ends the run, but not before every other call has settled. What comes behind it is not
    told: a run that goes on once the doubt is decided says it in the same order.
    """
    made = {
        tool_call_id: asyncio.ensure_future(_execute(context, item.tool, item.call))
        for tool_call_id, item in work
        if isinstance(item, _ReadyCall)
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
            yield context.tool_result(tool_call_id, item)
        elif isinstance(item, _PendingInterrupt):
            context.add_tool_interrupt(item.tool, tool_call_id, item.ask, item.expires_in)
        elif isinstance(pause := errors[tool_call_id], CallPaused):
            context.add_tool_interrupt(item.tool, tool_call_id, pause.ask, item.expires_in)
        else:
            yield context.tool_result(tool_call_id, made[tool_call_id].result())


def _find(tools: Tools, proposal: Proposal | None) -> Tool | InterruptTool | None:
    if proposal is None:
        return None
    if proposal.name not in tools:
        raise InvalidAnswer(f"The tool '{proposal.name}' is not one of: {', '.join(tools)}.")
    return tools[proposal.name]


def _check_answer(answer: InterruptAnswer, tool: Tool | InterruptTool | None) -> None:
    """Raise unless what a person wrote fits the schema they were asked with."""
    if tool is None or answer.resume_entry.status != "resolved":
        return
    if isinstance(tool, Tool) and answer.interrupt.reason == "tool_call":
        return
    schema = answer.interrupt.response_schema or {}
    if not Draft202012Validator(schema).is_valid(answer.resume_entry.payload):
        raise InvalidAnswer(
            f"The answer to '{answer.interrupt.id}' does not fit its responseSchema."
        )


def allows_call(answer: InterruptAnswer) -> bool:
    """
    Whether the call may be made: somebody answered what it needs, or approved it.

    Anything but `approved: true`, spelled so, is a denial.
    """
    if answer.resume_entry.status != "resolved" or answer.interrupt.reason != "tool_call":
        return answer.resume_entry.status == "resolved"
    payload = answer.resume_entry.payload
    return isinstance(payload, dict) and payload.get("approved") is True


def _approved(tool: Tool, proposal: Proposal) -> ProposedCall:
    return ProposedCall(tool, proposal.tool_call_id, dict(proposal.args), TEAM_DEFAULT)


def _known_result(answer: InterruptAnswer, tool: Tool | InterruptTool) -> str:
    if isinstance(tool, InterruptTool) and answer.resume_entry.status == "resolved":
        return dumps(answer.resume_entry.payload)
    return refusal_result(answer)


def refusal_result(answer: InterruptAnswer) -> str:
    """The result of a call that was denied or called off."""
    payload = answer.resume_entry.payload
    if answer.resume_entry.status == "cancelled":
        return dumps({"ok": False, "cancelled": True})
    reason = payload.get("reason") if isinstance(payload, dict) else None
    return dumps({"ok": False, "denied": True, "reason": reason})


async def _execute(context: StepContext, tool: Tool, call: ToolContext) -> str:
    """Call the function between two entries in the journal, or return what it gave before."""
    journal = context.ctx.journal
    permit = await journal.begin(call.tool_call_id, args=call.args, effect=tool.effect)
    if permit.result is not None:
        return permit.result
    call = replace(call, idempotency_key=permit.idempotency_key)
    content = await _outcome(context, tool, call)
    if len(content) > tool.max_output_characters:
        # The call was made: a result that says so is better than none.
        content = dumps({"ok": False, "error": "OutputTooLarge", "characters": len(content)})
    await journal.settle(call.tool_call_id, result=content)
    return content


async def _outcome(context: StepContext, tool: Tool, call: ToolContext) -> str:
    """
    Call the function, again if it may be; what it raises in the end is its result.

    Unless that leaves its effect in doubt, or the author wants the run to end.
    """
    tries = 1 if tool.effect is Effect.ONCE else 1 + tool.retries
    for number in range(tries):
        try:
            # A copy: what is said counts from the beginning again.
            return dumps(await tool.execute(replace(call)))
        except CallPaused as pause:
            if tool.effect is Effect.ONCE:
                raise OnceToolPaused(
                    f"{tool.name} is called once: it asks in its approval, before it is let go."
                ) from pause
            raise
        except ToolError as error:
            return dumps({"ok": False, "error": error_text(error)})
        except Exception as error:
            if number + 1 < tries:
                await context.clock.sleep(_FIRST_WAIT_SECONDS * 2**number)
                continue
            if tool.effect is Effect.ONCE or tool.on_error == "fail":
                raise
            # The class and not the text, which may hold secrets: everyone may read the result.
            _log.exception("The tool %s failed in call %s.", tool.name, call.tool_call_id)
            return dumps({"ok": False, "error": type(error).__name__})
    raise AssertionError("a call is tried at least once")


def error_text(error: BaseException) -> str:
    """Its text as JSON and a database can keep it."""
    return storable_text(str(error))[:_MAX_ERROR_CHARACTERS] or type(error).__name__


def storable_text(text: str) -> str:
    """Text as JSON and every database can keep it: without NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\0", "?")
