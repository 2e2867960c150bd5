"""The adapter for Microsoft Agent Framework; imported in the worker only."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    ChatContext,
    ChatMiddleware,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareFailure,
)
from agent_framework.exceptions import ToolException

from agents.adapters.framework_run import (
    FrameworkCall,
    FrameworkRun,
    format_message,
    result_content,
    tool_effect,
)
from agents.agui import strict_json
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

#: The framework's result of a call that was not approved.
_REJECTED = "Error: Tool call invocation was rejected by user."


class _Journaled(FunctionMiddleware):
    """Executes every tool call through the journal, with the approved arguments."""

    def __init__(self, framework_run: FrameworkRun) -> None:
        self._framework_run = framework_run

    async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
        call_id, name = context.metadata["call_id"], context.function.name

        async def call_function() -> str:
            await call_next()
            return _text_of(context.result)

        try:
            args = _mapping(context.arguments)
            context.result = await self._framework_run.call_tool(
                FrameworkCall(
                    call_id,
                    name,
                    self._framework_run.approved_arguments(call_id, name, args),
                    tool_effect(context.function.additional_properties),
                    call_function,
                    schema=context.function.parameters(),
                    harmless=(ToolException,),
                )
            )
        except ToolError as error:
            context.result = f"Error: {error_text(error)}"
        except Exception as error:
            if self._framework_run.end_reason:
                raise MiddlewareFailure("The run ends.") from error
            raise


class _InOrder(ChatMiddleware):
    """Gives the model the reasons of refusals, and every result directly after its call."""

    def __init__(self, framework_run: FrameworkRun, refusals: Mapping[str, str]) -> None:
        self._framework_run = framework_run
        self._refusals = refusals

    async def process(self, context: ChatContext, call_next: Any) -> None:
        """Reorder the model's messages, without changing the session."""
        self._framework_run.forget_calls()
        messages = list(context.messages)
        positions = {
            content.call_id: number
            for number, message in enumerate(messages)
            for content in message.contents
            if content.type == "function_call"
        }

        def sort_key(number: int) -> int:
            message = messages[number]
            if message.role != "tool" or not message.contents:
                return number
            return positions.get(message.contents[0].call_id, number)

        context.messages = [
            self._explained(messages[number])
            for number in sorted(range(len(messages)), key=sort_key)
        ]
        await call_next()

    def _explained(self, message: Message) -> Message:
        if message.role != "tool":
            return message
        contents = [
            Content.from_function_result(
                str(content.call_id), result=self._refusals[str(content.call_id)]
            )
            if content.call_id in self._refusals and str(content.result) == _REJECTED
            else content
            for content in message.contents
        ]
        return Message("tool", contents)


async def converse(agent: Agent[Any], framework_run: FrameworkRun) -> None:
    """Run an `Agent`; approval requests and declared tools become interrupts."""
    stored_state = framework_run.stored_state or {
        "session": AgentSession().to_dict(),
        "waiting": [],
    }
    refusals: dict[str, str] = {}
    replies = _replies(framework_run, stored_state, refusals)
    stream = agent.run(
        [*replies, *(Message(role, [text]) for role, text in framework_run.take_new_messages())],
        stream=True,
        session=(session := AgentSession.from_dict(stored_state["session"])),
        middleware=[_Journaled(framework_run), _InOrder(framework_run, refusals)],
    )
    waiting: list[Content] = []
    async for update in stream:
        for content in update.contents:
            if content.type == "text":
                framework_run.append_text(content.text or "")
        waiting += update.user_input_requests
    answer = await stream.get_final_response()
    _ask(framework_run, agent, answer.messages, waiting)
    framework_run.stored_state = {
        "session": session.to_dict(),
        "waiting": [request.to_dict() for request in waiting],
    }


def _replies(
    framework_run: FrameworkRun, stored_state: Mapping[str, Any], refusals: dict[str, str]
) -> list[Message]:
    """
    Return the replies to all pending requests; add reasons of refusals to `refusals`.

    The framework executes the arguments in its session, whatever a response says, so these are
    replaced by the approved ones.
    """
    approvals: list[Content] = []
    results: list[Content] = []
    for request in stored_state["waiting"]:
        call_id = (request.get("function_call") or request)["call_id"]
        decision = framework_run.take_decision(call_id)
        if isinstance(decision, str):
            refusals[call_id] = decision
        elif "function_call" in request:
            _rewrite([stored_state, request], call_id, json.dumps(decision.args))
        content = Content.from_dict(request)
        if content.type == "function_approval_request":
            approvals.append(content.to_function_approval_response(call_id not in refusals))
        else:
            result = decision if isinstance(decision, str) else result_content(decision.payload)
            results.append(Content.from_function_result(call_id, result=result))
    contents_by_role = (("user", approvals), ("tool", results))
    return [Message(role, contents) for role, contents in contents_by_role if contents]


def _rewrite(value: Any, call_id: str, arguments: str) -> None:
    """Replace the arguments in every copy of a call."""
    if isinstance(value, dict):
        if value.get("type") == "function_call" and value.get("call_id") == call_id:
            value["arguments"] = arguments
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        _rewrite(item, call_id, arguments)


def _ask(
    framework_run: FrameworkRun,
    agent: Agent[Any],
    messages: Sequence[Message],
    waiting: Sequence[Content],
) -> None:
    """Add interrupts for pending requests, with texts from the tools' `additional_properties`."""
    full_calls = {
        content.call_id: content
        for message in messages
        for content in message.contents
        if content.type == "function_call" and content.arguments
    }
    tools: dict[str, FunctionTool] = {}
    for tool in _tools(agent):
        framework_run.register_tool(tool.name, tool.additional_properties)
        tools[tool.name] = tool
    for request in waiting:
        request_call = request.function_call or request
        call = full_calls.get(request_call.call_id, request_call)
        args, called = _arguments(call), tools.get(str(call.name))
        properties = (called.additional_properties or {}) if called else {}
        is_approval = request.type == "function_approval_request"
        message = format_message(properties.get("message"), args) if is_approval else ""
        framework_run.add_call_interrupt(
            str(call.call_id),
            str(call.name),
            args,
            is_approval=is_approval,
            words={**properties, "message": message},
            arguments=called.parameters() if called else None,
        )


def _tools(agent: Agent[Any]) -> list[FunctionTool]:
    options: Mapping[str, Any] = agent.default_options
    return [tool for tool in options.get("tools") or () if isinstance(tool, FunctionTool)]


def _arguments(call: Content) -> dict[str, Any]:
    """Return the model's arguments; text that is not a JSON object under "?", for display only."""
    if not isinstance(call.arguments, str):
        return dict(call.arguments or {})
    try:
        value = strict_json.loads(call.arguments)
    except strict_json.JsonRejected:
        value = None
    return value if isinstance(value, dict) else {"?": call.arguments}


def _mapping(arguments: Any) -> dict[str, Any]:
    return dict(arguments) if isinstance(arguments, Mapping) else dict(arguments.model_dump())


def _text_of(result: Any) -> str:
    """Return the text of a tool's result, which the framework split into contents."""
    if isinstance(result, list) and all(isinstance(content, Content) for content in result):
        return "".join(content.text or "" for content in result)
    return result_content(result)
