"""The adapter for Pydantic AI; imported in the worker only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, AgentRunResult, AgentRunResultEvent, messages
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import (
    DeferredToolRequests,
    DeferredToolResults,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)
from pydantic_ai.tools import RunContext as ToolRun

from agents.adapters.framework_run import (
    FrameworkCall,
    FrameworkRun,
    result_content,
    tool_effect,
)
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

_HARMLESS = (ModelRetry, ToolFailed)
_PAUSING = (ApprovalRequired, CallDeferred)
#: Keys of the saved state: the framework's messages, and the pending calls.
_HISTORY, _WAITING = "history", "waiting"
_APPROVAL, _CALL = "approval", "call"


@dataclass
class _Journaled(AbstractCapability[Any]):
    """Executes every tool call through the journal, with the approved arguments."""

    framework_run: FrameworkRun
    arguments: dict[str, Mapping[str, Any]] = field(default_factory=dict)  #: schemas by tool

    async def prepare_tools(
        self, ctx: ToolRun[Any], tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        """Record the tools, unchanged."""
        for definition in tool_defs:
            self.arguments[definition.name] = definition.parameters_json_schema
            self.framework_run.register_tool(definition.name, definition.metadata)
        return tool_defs

    async def before_model_request(
        self, ctx: ToolRun[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Forget call ids before the model answers."""
        self.framework_run.forget_calls()
        return request_context

    async def wrap_tool_execute(
        self,
        ctx: ToolRun[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Any,
    ) -> Any:
        try:
            return await self.framework_run.call_tool(
                FrameworkCall(
                    call.tool_call_id,
                    call.tool_name,
                    self.framework_run.approved_arguments(
                        call.tool_call_id, call.tool_name, call.args_as_dict()
                    ),
                    tool_effect(tool_def.metadata),
                    lambda: handler(args),
                    harmless=_HARMLESS,
                    pausing=_PAUSING,
                )
            )
        except ToolError as error:
            raise ToolFailed(error_text(error)) from error


async def converse(agent: Agent[Any, Any], framework_run: FrameworkRun) -> None:
    """Run an `Agent`; approvals and deferred calls become interrupts."""
    stored_state = framework_run.stored_state or {_HISTORY: [], _WAITING: {}}
    results = _results(framework_run, stored_state[_WAITING])
    journaled = _Journaled(framework_run)
    history = ModelMessagesTypeAdapter.validate_python(stored_state[_HISTORY])
    prompts = framework_run.take_new_messages()
    while not results and len(prompts) > 1:  # no message may follow calls without a result
        history.append(_message(*prompts.pop(0)))
    running: Any = agent.run_stream_events(
        "\n\n".join(text for _, text in prompts) or None,
        message_history=history,
        deferred_tool_results=results,
        output_type=[agent.output_type, DeferredToolRequests],
        capabilities=[journaled],
    )
    async with running as events:
        async for event in events:
            if isinstance(event, AgentRunResultEvent):
                _finish(framework_run, event.result, journaled.arguments)
            else:
                _emit(framework_run, event)


def _message(role: str, text: str) -> messages.ModelMessage:
    if role == "user":
        return messages.ModelRequest(parts=[messages.UserPromptPart(text)])
    return messages.ModelResponse(parts=[messages.TextPart(text)])


def _finish(
    framework_run: FrameworkRun,
    result: AgentRunResult[Any],
    arguments: Mapping[str, Mapping[str, Any]],
) -> None:
    output, waiting = result.output, dict[str, str]()
    if isinstance(output, DeferredToolRequests):
        waiting = _ask(framework_run, output, arguments)
    elif not isinstance(output, str):
        framework_run.append_text(result_content(output))
    framework_run.stored_state = {
        _HISTORY: ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json"),
        _WAITING: waiting,
    }


def _ask(
    framework_run: FrameworkRun,
    requests: DeferredToolRequests,
    arguments: Mapping[str, Mapping[str, Any]],
) -> dict[str, str]:
    """Add interrupts for pending calls; return the kinds by call id."""
    kinds: dict[str, str] = {}
    for kind, calls in ((_APPROVAL, requests.approvals), (_CALL, requests.calls)):
        for call in calls:
            metadata = requests.metadata.get(call.tool_call_id, {})
            framework_run.add_call_interrupt(
                call.tool_call_id,
                call.tool_name,
                _arguments(call),
                is_approval=kind == _APPROVAL,
                words=metadata,
                arguments=arguments.get(call.tool_name),
                metadata=metadata,
            )
            kinds[call.tool_call_id] = kind
    return kinds


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    """Return the model's arguments; text that is not a JSON object under "?", for display only."""
    try:
        return call.args_as_dict()
    except (ValueError, AssertionError):
        return {"?": str(call.args)}


def _results(framework_run: FrameworkRun, waiting: Mapping[str, str]) -> DeferredToolResults | None:
    """Return the results of all pending calls: answers or refusals."""
    if not waiting:
        return None
    results = DeferredToolResults()
    for call_id, kind in waiting.items():
        decision = framework_run.take_decision(call_id)
        if kind == _APPROVAL:
            # The stored, approved arguments, never those of the framework's state.
            results.approvals[call_id] = (
                ToolDenied(decision)
                if isinstance(decision, str)
                else ToolApproved(override_args=decision.args)
            )
        else:
            results.calls[call_id] = (
                ToolFailed(decision) if isinstance(decision, str) else decision.payload
            )
    return results


def _emit(framework_run: FrameworkRun, event: Any) -> None:
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)):
            framework_run.append_text(text)
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)):
            framework_run.append_text(text)
        case messages.PartEndEvent(part=messages.TextPart()):
            framework_run.end_message()
        case messages.FunctionToolCallEvent(part=call):
            framework_run.propose(call.tool_call_id, call.tool_name, _arguments(call))
        case messages.FunctionToolResultEvent(part=part):
            framework_run.add_result(part.tool_call_id, result_content(part.content))
