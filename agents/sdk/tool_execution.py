"""Execution of tool calls: proposed calls without approval, and decided calls."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from ag_ui.core import BaseEvent

from agents.agui.interrupts import takes_approval
from agents.agui.strict_json import dumps, dumps_arguments
from agents.json_schema import schema_violations
from agents.port import Effect, InterruptAnswer, Proposal
from agents.sdk.context import CallPaused, InterruptRequest, ToolContext, ToolError
from agents.sdk.declarations import pausing_once_tool
from agents.sdk.expiry import TEAM_DEFAULT
from agents.sdk.step import ProposedCall, StepContext
from agents.sdk.tools import InterruptTool, InvalidArguments, Tool
from agents.storable import storable_text

_log = logging.getLogger(__name__)

Tools = Mapping[str, Tool | InterruptTool]

_MAX_ERROR_CHARACTERS = 2_000
#: The delay before the first retry; it doubles each time.
_FIRST_RETRY_SECONDS = 0.5


class InvalidAnswer(ValueError):
    """The answers do not fit the interrupts; nothing has been executed."""


class OnceToolPaused(RuntimeError):
    """The function of a `once` tool raised an interrupt, but it may not be called again."""


#: A call with its next step: execute it, interrupt, or emit the result in the string.
_WorkItem = tuple[ProposedCall, ToolContext | InterruptRequest | str]


async def execute_proposed_calls(context: StepContext) -> AsyncIterator[BaseEvent]:
    """
    Execute the calls proposed in this step concurrently.

    Those that need approval become interrupts instead.
    """
    calls, context.proposed = context.proposed, []
    async for event in _execute_all(context, [(call, _plan_call(context, call)) for call in calls]):
        yield event


async def execute_answered_calls(context: StepContext, tools: Tools) -> AsyncIterator[BaseEvent]:
    """
    Carry out the decisions: all approved calls start together.

    All answers are checked before the first call; results come in the order of the interrupts.

    Raises:
        InvalidAnswer: an answer is about an unknown tool, or does not fit its schema.
    """
    answers = [(answer, _find(tools, answer.proposal)) for answer in context.answers]
    for answer, tool in answers:
        _check_answer(answer, tool)
    work: list[_WorkItem] = []
    for answer, tool in answers:
        if tool is None or answer.proposal is None:
            continue  # not about a tool call: the script reads this answer itself
        proposal = answer.proposal
        call = ProposedCall(tool, proposal.tool_call_id, dict(proposal.args), TEAM_DEFAULT)
        if isinstance(tool, Tool) and allows_call(answer):
            work.append((call, _plan_call(context, call, answer)))
        elif isinstance(tool, InterruptTool) and answer.resume_entry.status == "resolved":
            work.append((call, dumps(answer.resume_entry.payload)))
        else:
            work.append((call, refusal_result(answer)))
    async for event in _execute_all(context, work):
        yield event


def _plan_call(
    context: StepContext, call: ProposedCall, answer: InterruptAnswer | None = None
) -> ToolContext | InterruptRequest | str:
    """Return the context to execute a call with, the interrupt that it needs first, or an error."""
    proposal = answer.proposal if answer else None
    try:
        if isinstance(call.tool, InterruptTool):
            return call.tool.interrupt_request(call.args)
        tool_context = ToolContext(
            context.run_input.thread_id,
            call.tool_call_id,
            call.args,
            is_resumed=answer is not None,
            resumed=answer.resume_entry.payload if answer else None,
            interrupt_metadata=answer.interrupt.metadata if answer else None,
            is_approved=proposal.is_approved if proposal else False,
            original_input=proposal.original_args if proposal else None,
            state=context.state,
            emit=context.ctx.emit_out_of_band,
        )
        return call.tool.approval_request(tool_context) or tool_context
    except InvalidArguments as error:
        return dumps({"ok": False, "error": str(error)})


async def _execute_all(context: StepContext, work: Sequence[_WorkItem]) -> AsyncIterator[BaseEvent]:
    """
    Execute the calls concurrently; emit results and interrupts in the order of the calls.

    An error ends the run after every other call has settled. Later results are not emitted: the
    run that continues after a person has decided emits them in the same order.
    """
    tasks = {
        call.tool_call_id: asyncio.ensure_future(_execute(context, call.tool, item))
        for call, item in work
        if isinstance(item, ToolContext) and isinstance(call.tool, Tool)
    }
    try:
        if tasks:
            await asyncio.wait(tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()  # if the run was stopped
    for task in tasks.values():
        task.exception()  # the first one is raised below; asyncio logs those never retrieved
    for call, item in work:
        result = tasks[call.tool_call_id].result() if isinstance(item, ToolContext) else item
        if isinstance(result, InterruptRequest):
            context.add_tool_interrupt(call, result)
        else:
            yield context.tool_result(call.tool_call_id, result)


def _find(tools: Tools, proposal: Proposal | None) -> Tool | InterruptTool | None:
    if proposal is None:
        return None
    if proposal.name not in tools:
        raise InvalidAnswer(
            f"The tool '{proposal.name}' is unknown; the agent has: {', '.join(tools)}."
        )
    return tools[proposal.name]


def _check_answer(answer: InterruptAnswer, tool: Tool | InterruptTool | None) -> None:
    """Raise unless the answer fits its response schema."""
    if tool is None or answer.resume_entry.status != "resolved":
        return
    if isinstance(tool, Tool) and answer.interrupt.reason == "tool_call":
        return
    schema = answer.interrupt.response_schema or {}
    if schema_violations(schema, answer.resume_entry.payload):
        raise InvalidAnswer(
            f"The answer to '{answer.interrupt.id}' does not fit its responseSchema."
        )


def allows_call(answer: InterruptAnswer) -> bool:
    """
    Return True if the call may be executed: it was approved, or its interrupt was answered.

    Anything but `"approved": true` is a denial where the interrupt asks for consent.
    """
    interrupt, payload = answer.interrupt, answer.resume_entry.payload
    if answer.resume_entry.status != "resolved":
        return False
    if interrupt.reason == "confirmation" and isinstance(payload, bool):
        return payload
    if interrupt.reason == "tool_call" or takes_approval(interrupt.response_schema):
        return isinstance(payload, dict) and payload.get("approved") is True
    return True


def refusal_result(answer: InterruptAnswer) -> str:
    """Return the result of a call that was denied or cancelled."""
    payload = answer.resume_entry.payload
    if answer.resume_entry.status == "cancelled":
        return dumps({"ok": False, "cancelled": True})
    members = payload if isinstance(payload, dict) else {}
    result = {"ok": False, "denied": True, "reason": members.get("reason")}
    if members.get("feedback"):
        result["feedback"] = members["feedback"]
        if "editedArgs" in members:
            result["suggested_args"] = members["editedArgs"]
    return dumps(result)


async def _execute(context: StepContext, tool: Tool, call: ToolContext) -> str | InterruptRequest:
    """
    Call the function between two journal entries, or return the stored result.

    Return the interrupt instead if the function paused.
    """
    journal = context.ctx.journal
    permit = await journal.begin(call.tool_call_id, args=call.args, effect=tool.effect)
    if permit.result is not None:
        return permit.result
    call = replace(call, idempotency_key=permit.idempotency_key)
    try:
        content = await _outcome(context, tool, call)
    except CallPaused as pause:
        return pause.request
    if len(content) > tool.max_output_characters:
        # The call was executed, so it needs a result.
        content = dumps({"ok": False, "error": "OutputTooLarge", "characters": len(content)})
    await journal.settle(call.tool_call_id, result=content)
    return content


async def _outcome(context: StepContext, tool: Tool, call: ToolContext) -> str:
    """
    Call the function, with retries; return its result, or its final error as a result.

    Raise the error if the effect is in doubt, or if the author chose `on_error="fail"`.
    """
    tries = 1 if tool.effect is Effect.ONCE else 1 + tool.retries
    for number in range(tries):
        try:
            # A copy, so that its message numbers start again.
            return dumps_arguments(await tool.execute(replace(call)))
        except CallPaused as pause:
            if tool.effect is Effect.ONCE:
                raise OnceToolPaused(f"{tool.name}: {pausing_once_tool('call')}") from pause
            raise
        except ToolError as error:
            return dumps({"ok": False, "error": error_text(error)})
        except Exception as error:
            if number + 1 < tries:
                await context.clock.sleep(_FIRST_RETRY_SECONDS * 2**number)
                continue
            if tool.effect is Effect.ONCE or tool.on_error == "fail":
                raise
            # The class only: the text may hold secrets, and everyone can read the result.
            _log.exception("The tool %s failed in call %s.", tool.name, call.tool_call_id)
            context.ctx.report_error(error)
            return dumps({"ok": False, "error": type(error).__name__})
    raise AssertionError("a call is tried at least once")


def error_text(error: BaseException) -> str:
    """Return the storable text of an error."""
    return storable_text(str(error))[:_MAX_ERROR_CHARACTERS] or type(error).__name__
