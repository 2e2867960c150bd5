"""Agents written with Genkit: a prompt with its tools; imported in the worker only."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from ag_ui.core import BaseEvent, RunAgentInput
from genkit import (
    ExecutablePrompt,
    FinishReason,
    GenkitError,
    Interrupt,
    Message,
    ModelResponse,
    ModelResponseChunk,
    MultipartToolResponse,
    Part,
    ToolRequest,
    respond_to_interrupt,
    restart_tool,
)
from genkit.middleware import (
    BaseMiddleware,
    GenerateMiddlewareContext,
    ModelHookParams,
    ToolHookParams,
)

from agents.adapters.framework_run import (
    CALL_NOT_MADE,
    FrameworkRun,
    InterruptDecision,
    result_content,
    tool_effect,
)
from agents.port import RunContext
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

_ROLES = {"user": "user", "assistant": "model"}
_FAILED = (FinishReason.FAILED, FinishReason.ABORTED)
#: The name of an argument where a tool's input is no object.
_INPUT = "input"


async def run(
    prompt: ExecutablePrompt[Any, Any], run_input: RunAgentInput, ctx: RunContext
) -> AsyncIterator[BaseEvent]:
    """Drive a prompt with its tools; what they interrupt for becomes interrupts."""
    framework_run = FrameworkRun(run_input, ctx)
    async for event in framework_run.run(_converse(prompt, framework_run)):
        yield event


def _journaled(framework_run: FrameworkRun, schemas: dict[str, Any]) -> BaseMiddleware[Any]:
    """
    Let every tool call through the journal, and note the schemas of their inputs by tool.

    A class of its own for each run, because Genkit makes its instances by itself.
    """

    class Journaled(BaseMiddleware[Any]):
        async def wrap_model(
            self,
            params: ModelHookParams,
            ctx: GenerateMiddlewareContext,
            next_fn: Callable[..., Awaitable[ModelResponse[Any]]],
        ) -> ModelResponse[Any]:
            """See that every call has a name, by which it is answered."""
            framework_run.forget_calls()
            schemas.update({one.name: one.input_schema for one in params.request.tools or ()})
            answer = await next_fn(params, ctx)
            for request in _requests(answer.message):
                request.ref = request.ref or f"call-{uuid4()}"
            return answer

        async def wrap_tool(
            self,
            params: ToolHookParams,
            ctx: GenerateMiddlewareContext,
            next_fn: Callable[..., Awaitable[MultipartToolResponse[Any]]],
        ) -> MultipartToolResponse[Any]:
            """Begin the call, have it made, and settle it."""
            request = _request(params.tool_request_part)
            framework_run.register_tool(request.name, params.tool.metadata)
            responses: list[MultipartToolResponse[Any]] = []

            async def make() -> Any:
                try:
                    responses.append(await next_fn(params, ctx))
                except GenkitError as error:
                    # What the tool raised comes wrapped.
                    raise error.cause or error from error
                return responses[0].output

            try:
                output = await framework_run.call_tool(
                    str(request.ref),
                    request.name,
                    framework_run.approved_arguments(
                        str(request.ref), request.name, _arguments(request)
                    ),
                    tool_effect(params.tool.metadata),
                    make,
                    schema=params.tool.input_schema if isinstance(request.input, Mapping) else None,
                    pausing=(Interrupt,),
                )
            except ToolError as error:
                output = f"Error: {error_text(error)}"
            return responses[0] if responses else MultipartToolResponse(output=output)

    return Journaled()


def _heard(framework_run: FrameworkRun) -> BaseMiddleware[Any]:
    """
    Tell what a model says and wants, in its order: text that it streams or not, then all its calls.

    Outside of all other middleware, so that it tells what those make of it.
    """

    class Heard(BaseMiddleware[Any]):
        async def wrap_model(
            self,
            params: ModelHookParams,
            ctx: GenerateMiddlewareContext,
            next_fn: Callable[..., Awaitable[ModelResponse[Any]]],
        ) -> ModelResponse[Any]:
            streamed: list[str] = []

            def say(chunk: ModelResponseChunk) -> None:
                streamed.append(chunk.text)
                framework_run.append_text(chunk.text)

            downstream = ctx.replace_on_chunk(say)
            try:
                answer = await next_fn(params, ctx)
            finally:
                ctx.replace_on_chunk(downstream)
            if not any(streamed):
                framework_run.append_text(answer.text)
            framework_run.end_message()
            for request in _requests(answer.message):
                framework_run.propose(str(request.ref), request.name, _arguments(request))
            return answer

    return Heard()


async def _converse(prompt: ExecutablePrompt[Any, Any], framework_run: FrameworkRun) -> None:
    history = [Message.model_validate(one) for one in framework_run.kept or []]
    answers: dict[str, Any] = {}
    if framework_run.decisions:
        answers = _answers(framework_run, history[-1])
    elif history and any(map(_is_waiting, history[-1].content)):
        # The run that was to go on behind this pause has failed: the conversation does.
        history += [Message(role="tool", content=_given_up(history[-1]))]
    if not answers:  # nothing may stand behind the calls that are answered
        history += [
            Message(role=_ROLES[role], content=[Part(text=text)])
            for role, text in framework_run.take_new_messages()
        ]
    # A prompt's own middleware gives way to what a call brings along, so that comes with it.
    own = prompt._use or ()  # noqa: SLF001
    schemas: dict[str, Any] = {}
    use = [_heard(framework_run), *own, _journaled(framework_run, schemas)]
    stream = prompt.stream(messages=history, use=use, **answers)
    async for _ in stream.stream:  # told by `_heard` as it comes
        continue
    answer = await stream.response
    if answer.finish_reason in _FAILED:
        # It says so, where others raise.
        raise GenkitError(message=answer.finish_message or "The model failed.")
    framework_run.end_message()
    for part in filter(_is_waiting, answer.message.content if answer.message else ()):
        _ask(framework_run, schemas, part)
    framework_run.kept = [
        one.model_dump(mode="json", by_alias=True, exclude_none=True)
        for one in answer.messages
        if one.role != "system"
    ]


def _answers(framework_run: FrameworkRun, asked: Message) -> dict[str, Any]:
    """What came of the calls that wait: restarted as they were approved, or answered."""
    decisions = {one.call_id: one for one in framework_run.decisions}
    respond: list[Part] = []
    restart: list[Part] = []
    for part in filter(_is_waiting, asked.content):
        decision = decisions[_request(part).ref]
        if decision.allows_call and decision.is_approval:
            restart.append(_restarted(part, decision))
        elif decision.allows_call:
            framework_run.add_result(str(decision.call_id), result_content(decision.payload))
            respond.append(respond_to_interrupt(decision.payload, interrupt=part))
        else:
            framework_run.add_refusal(decision)
            respond.append(respond_to_interrupt(decision.refusal_text, interrupt=part))
    return {"resume_respond": respond, "resume_restart": restart}


def _given_up(asked: Message) -> list[Part]:
    """The results of a message's calls when nobody answers any more: those there are, and none."""
    return [
        Part.from_tool_response(
            name=_request(part).name,
            ref=_request(part).ref,
            output=(part.metadata or {}).get("pendingOutput", CALL_NOT_MADE),
        )
        for part in asked.content
        if part.tool_request is not None
    ]


def _restarted(part: Part, decision: InterruptDecision) -> Part:
    """The approved call, with the arguments of our own store, edited or not."""
    args: Any = decision.args
    if not isinstance(_request(part).input, Mapping):
        args = args.get(_INPUT)
    # What the reviewer filled in, and the name by which Genkit's own examples look for approval.
    payload: Mapping[str, Any] = decision.payload if isinstance(decision.payload, Mapping) else {}
    resumed = {name: value for name, value in payload.items() if name != "editedArgs"}
    resumed |= {"approved": True, "toolApproved": True, "tool_approved": True}
    return restart_tool(interrupt=part, replace_input=args, resumed_metadata=resumed)


def _ask(framework_run: FrameworkRun, schemas: Mapping[str, Any], part: Part) -> None:
    """
    Ask about a call that waits, in the words of its interrupt's metadata.

    It is about the call itself, which is made when it is approved. With a `response_schema`, or
    without metadata (`define_interrupt`), it is a question, and the answer the tool's result.
    """
    request = _request(part)
    told = (part.metadata or {})["interrupt"]
    words: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    args = _arguments(request)
    framework_run.propose(str(request.ref), request.name, args)
    if "response_schema" in words or not words:
        framework_run.add_result_interrupt(str(request.ref), request.name, words, args)
    else:
        framework_run.add_approval_from_metadata(
            str(request.ref), request.name, words, schemas.get(request.name)
        )


def _is_waiting(part: Part) -> bool:
    return part.tool_request is not None and "interrupt" in (part.metadata or {})


def _requests(message: Message | None) -> list[ToolRequest]:
    parts = message.content if message else ()
    return [part.tool_request for part in parts if part.tool_request is not None]


def _request(part: Part) -> ToolRequest:
    if part.tool_request is None:
        raise ValueError("This part is no tool request.")
    return part.tool_request


def _arguments(request: ToolRequest) -> dict[str, Any]:
    """The input of a call as an object."""
    return dict(request.input) if isinstance(request.input, Mapping) else {_INPUT: request.input}
