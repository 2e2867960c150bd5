"""The adapter for Genkit prompts with tools; imported in the worker only."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

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
    FrameworkCall,
    FrameworkRun,
    InterruptDecision,
    tool_effect,
)
from agents.sdk.context import ToolError
from agents.sdk.tool_execution import error_text

_ROLES = {"user": "user", "assistant": "model"}
_FAILED = (FinishReason.FAILED, FinishReason.ABORTED)
#: The argument name for tools whose input is not an object.
_INPUT = "input"


def _journaled(framework_run: FrameworkRun, schemas: dict[str, Any]) -> BaseMiddleware[Any]:
    """
    Return middleware that journals tool calls and records the tools' input schemas.

    The class is created for each run, because Genkit instantiates it.
    """

    class Journaled(BaseMiddleware[Any]):
        async def wrap_model(
            self,
            params: ModelHookParams,
            ctx: GenerateMiddlewareContext,
            next_fn: Callable[..., Awaitable[ModelResponse[Any]]],
        ) -> ModelResponse[Any]:
            """Give every call an id."""
            framework_run.forget_calls()
            schemas.update({tool.name: tool.input_schema for tool in params.request.tools or ()})
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
            request = _request(params.tool_request_part)
            framework_run.register_tool(request.name, params.tool.metadata)
            responses: list[MultipartToolResponse[Any]] = []

            async def call_function() -> Any:
                try:
                    responses.append(await next_fn(params, ctx))
                except GenkitError as error:
                    # Genkit wraps the tool's error.
                    raise error.cause or error from error
                return responses[0].output

            try:
                is_object = isinstance(request.input, Mapping)
                output = await framework_run.call_tool(
                    FrameworkCall(
                        str(request.ref),
                        request.name,
                        framework_run.approved_arguments(
                            str(request.ref), request.name, _arguments(request)
                        ),
                        tool_effect(params.tool.metadata),
                        call_function,
                        schema=params.tool.input_schema if is_object else None,
                        pausing=(Interrupt,),
                    )
                )
            except ToolError as error:
                output = f"Error: {error_text(error)}"
            return responses[0] if responses else MultipartToolResponse(output=output)

    return Journaled()


def _emitting(framework_run: FrameworkRun) -> BaseMiddleware[Any]:
    """
    Return middleware that emits the model's text, streamed or not, and then its calls.

    It is the outermost, so that it emits the output of all other middleware.
    """

    class Emitting(BaseMiddleware[Any]):
        async def wrap_model(
            self,
            params: ModelHookParams,
            ctx: GenerateMiddlewareContext,
            next_fn: Callable[..., Awaitable[ModelResponse[Any]]],
        ) -> ModelResponse[Any]:
            streamed: list[str] = []

            def emit(chunk: ModelResponseChunk) -> None:
                streamed.append(chunk.text)
                framework_run.append_text(chunk.text)

            downstream = ctx.replace_on_chunk(emit)
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

    return Emitting()


async def converse(prompt: ExecutablePrompt[Any, Any], framework_run: FrameworkRun) -> None:
    """Run a prompt with its tools; their interrupts become ours."""
    history = [Message.model_validate(message) for message in framework_run.stored_state or []]
    answers: dict[str, Any] = {}
    if framework_run.decisions:
        answers = _answers(framework_run, history[-1])
    elif history and any(map(_is_waiting, history[-1].content)):
        # The run that should have resumed this pause failed, so close its calls.
        history += [Message(role="tool", content=_closing_results(history[-1]))]
    if not answers:  # no message may follow the answered calls
        history += [
            Message(role=_ROLES[role], content=[Part(text=text)])
            for role, text in framework_run.take_new_messages()
        ]
    # `use` replaces the prompt's own middleware, so include it.
    own = prompt._use or ()  # noqa: SLF001
    schemas: dict[str, Any] = {}
    use = [_emitting(framework_run), *own, _journaled(framework_run, schemas)]
    stream = prompt.stream(messages=history, use=use, **answers)
    async for _ in stream.stream:  # emitted by `_emitting`
        continue
    answer = await stream.response
    if answer.finish_reason in _FAILED:
        # Genkit reports a failed model here instead of raising.
        raise GenkitError(message=answer.finish_message or "The model failed.")
    for part in filter(_is_waiting, answer.message.content if answer.message else ()):
        _ask(framework_run, schemas, part)
    framework_run.stored_state = [
        message.model_dump(mode="json", by_alias=True, exclude_none=True)
        for message in answer.messages
        if message.role != "system"
    ]


def _answers(framework_run: FrameworkRun, message: Message) -> dict[str, Any]:
    """Return the resume arguments: approved calls restart, others get a response."""
    respond: list[Part] = []
    restart: list[Part] = []
    for part in filter(_is_waiting, message.content):
        decision = framework_run.take_decision(str(_request(part).ref))
        if isinstance(decision, str):
            respond.append(respond_to_interrupt(decision, interrupt=part))
        elif decision.is_approval:
            restart.append(_restarted(part, decision))
        else:
            respond.append(respond_to_interrupt(decision.payload, interrupt=part))
    return {"resume_respond": respond, "resume_restart": restart}


def _closing_results(message: Message) -> list[Part]:
    """Return results that close the calls of a message: existing ones, or 'not made'."""
    return [
        Part.from_tool_response(
            name=_request(part).name,
            ref=_request(part).ref,
            output=(part.metadata or {}).get("pendingOutput", CALL_NOT_MADE),
        )
        for part in message.content
        if part.tool_request is not None
    ]


def _restarted(part: Part, decision: InterruptDecision) -> Part:
    """Return the approved call with the stored, approved arguments."""
    args: Any = decision.args
    if not isinstance(_request(part).input, Mapping):
        args = args.get(_INPUT)
    # The reviewer's fields, and the names that Genkit's examples use for approval.
    payload: Mapping[str, Any] = decision.payload if isinstance(decision.payload, Mapping) else {}
    resumed = {name: value for name, value in payload.items() if name != "editedArgs"}
    resumed |= {"approved": True, "toolApproved": True, "tool_approved": True}
    return restart_tool(interrupt=part, replace_input=args, resumed_metadata=resumed)


def _ask(framework_run: FrameworkRun, schemas: Mapping[str, Any], part: Part) -> None:
    """
    Add an interrupt for a pending call, worded by the metadata of its interrupt.

    It is an approval of the call. With a `response_schema`, or without metadata
    (`define_interrupt`), it is a request whose answer becomes the tool's result.
    """
    request = _request(part)
    metadata = (part.metadata or {})["interrupt"]
    words: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    framework_run.add_call_interrupt(
        str(request.ref),
        request.name,
        _arguments(request),
        is_approval=bool(words) and "response_schema" not in words,
        words=words,
        arguments=schemas.get(request.name),
        metadata=words,
    )


def _is_waiting(part: Part) -> bool:
    return part.tool_request is not None and "interrupt" in (part.metadata or {})


def _requests(message: Message | None) -> list[ToolRequest]:
    parts = message.content if message else ()
    return [part.tool_request for part in parts if part.tool_request is not None]


def _request(part: Part) -> ToolRequest:
    if part.tool_request is None:
        raise ValueError("This part is not a tool request.")
    return part.tool_request


def _arguments(request: ToolRequest) -> dict[str, Any]:
    """Return the input of a call as an object."""
    return dict(request.input) if isinstance(request.input, Mapping) else {_INPUT: request.input}
