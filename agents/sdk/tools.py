"""Tools: functions with a declared effect, and interrupt tools without a function."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from agents.json_schema import schema_violations
from agents.port import Effect
from agents.sdk.context import Args, CallPaused, InterruptRequest, ToolContext
from agents.sdk.declarations import (
    check_effect,
    check_once_tool_never_pauses,
    schema_of,
)
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn, check_duration
from agents.sdk.functions import (
    Approval,
    call_function,
    call_tool_function,
    check_approval,
    check_template,
    context_parameter,
    input_model,
    output_hint,
)
from agents.sdk.present import Present
from agents.storable import storable

#: Of JSON text.
MAX_OUTPUT_CHARACTERS = 256 * 1024


class InvalidArguments(ValueError):
    """The arguments do not fit the tool."""


class InvalidOutput(ValueError):
    """The result does not fit the function's return annotation."""


@dataclass(frozen=True, eq=False)
class Tool:
    """A function that an agent may call, with its declared effect and approval rule."""

    name: str
    description: str
    function: Callable[..., Any]
    input_model: type[BaseModel]
    output: TypeAdapter[Any]
    effect: Effect
    approval: Approval = False
    always_requires_approval: bool = False  #: every call needs approval, whatever `approval` says
    timeout: timedelta | None = None
    expires_in: ExpiresIn = TEAM_DEFAULT  #: of its interrupts
    retries: int = 0  #: not for `once` tools
    on_error: Literal["result", "fail"] = "result"
    max_output_characters: int = MAX_OUTPUT_CHARACTERS
    present: Callable[[Args], Present | None] = lambda _: None  #: takes the arguments
    accepts_feedback: bool = False  #: reviewers may send calls back with a question

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the validated arguments, or raise InvalidArguments."""
        if (context := context_parameter(self.function)) in args:
            raise InvalidArguments(f"{self.name} cannot take the argument {context}.")
        return _check(self.name, self.input_model, args)

    def approval_request(self, call: ToolContext) -> InterruptRequest | None:
        """
        Return the approval request that this call needs, None if it may be executed.

        An approval function may request approval again with `call.interrupt`; any other approval
        is given once, for the arguments that the reviewer approved. An answer to another
        interrupt is not an approval.

        Raises:
            InvalidArguments: the arguments do not fit the tool.
        """
        args = self.check_arguments(call.args)
        if callable(self.approval):
            try:
                requirement = call_function(self.approval, call, args)
            except CallPaused as pause:
                return pause.request
        elif isinstance(self.approval, Mapping):
            # The validated arguments: with defaults, and "500" as a number.
            requirement = not schema_violations(self.approval, storable(args))
        else:
            requirement = self.approval
        if call.is_approved or not (requirement or self.always_requires_approval):
            return None
        if isinstance(self.approval, str):
            return InterruptRequest(self.approval.format_map(_template_values(call.args, args)))
        # The text of a function is not a template: braces may come from the agent.
        return InterruptRequest(
            requirement if isinstance(requirement, str) else f"Call {self.name}?"
        )

    async def execute(self, call: ToolContext) -> Any:
        """
        Run the function, in a thread unless it is a coroutine function; return JSON.

        Raises:
            TimeoutError: it took too long; a blocking function continues in its thread.
            InvalidOutput: the result does not fit the return annotation.
        """
        args = self.check_arguments(call.args)
        seconds = self.timeout.total_seconds() if self.timeout else None
        async with asyncio.timeout(seconds):
            value = await call_tool_function(self.function, call, args)
        try:
            return storable(self.output.validate_python(value), text=str)
        except ValidationError as error:
            # A text with a lone surrogate is no `str` for pydantic.
            with suppress(ValidationError):
                return storable(self.output.validate_python(storable(value)))
            raise InvalidOutput(f"{self.name} returned {_problems(error)}") from error


@dataclass(frozen=True)
class InterruptTool:
    """A tool without a function: it always interrupts, and the answer is its result."""

    name: str
    description: str
    input_model: type[BaseModel]
    message: str  #: a template, such as "{question}"
    answer_schema: Callable[[Args], Mapping[str, Any]]  #: takes the arguments
    metadata: Callable[[Args], Mapping[str, Any] | None]  #: takes the arguments
    expires_in: ExpiresIn = TEAM_DEFAULT
    present: Callable[[Args], Present | None] = lambda _: None  #: takes the arguments

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the validated arguments, or raise InvalidArguments."""
        return _check(self.name, self.input_model, args)

    def interrupt_request(self, args: Args) -> InterruptRequest:
        """
        Return the interrupt request for these arguments.

        Raises:
            InvalidArguments: they do not fit, or no request can be built from them.
        """
        values = _template_values(args, self.check_arguments(args))
        try:
            return InterruptRequest(
                self.message.format_map(values),
                reason="input_required",
                response_schema=self.answer_schema(values),
                metadata=self.metadata(values),
            )
        except Exception as error:  # the author's functions may fail for a model's arguments
            raise InvalidArguments(
                f"{self.name} cannot build a request from these arguments: {type(error).__name__}"
            ) from error


def tools_by_name(tools: Sequence[Tool | InterruptTool]) -> dict[str, Tool | InterruptTool]:
    """
    Return the tools by name.

    Raises:
        ValueError: two tools have one name; an approval of one could execute the other.
    """
    by_name: dict[str, Tool | InterruptTool] = {}
    for tool in tools:
        if by_name.setdefault(tool.name, tool) is not tool:
            raise ValueError(f"Two tools are named {tool.name}; rename one.")
    return by_name


def tool(
    function: None = None,
    /,
    *,
    effect: Effect | Literal["read", "idempotent", "once"] | None = None,
    approval: Approval = False,
    timeout: timedelta | None = None,
    expires_in: ExpiresIn = TEAM_DEFAULT,
    retries: int = 0,
    on_error: Literal["result", "fail"] = "result",
    max_output_characters: int = MAX_OUTPUT_CHARACTERS,
    present: Present | Callable[[Args], Present | None] | None = None,
    feedback: bool = False,
) -> Callable[[Callable[..., Any]], Tool]:
    """
    Make a function a tool.

    The name is the function's, the description its docstring; arguments and result come from its
    type hints. A parameter annotated as ToolContext gets the context.

    If a `read` or `idempotent` function raises, the call settles with
    `{"ok": false, "error": "<class of the exception>"}` (never the text, which may hold secrets)
    and the run continues; with `on_error="fail"` the run ends. The outcome of a `once` call that
    raised is not known: the run ends, and a person is asked about it. A timeout and a result that
    does not fit the annotation count as errors.

    `expires_in` applies to the tool's approval and interrupts; None for no expiry. `present` says
    how reviewers see the tool's requests: one for all, or a function of the arguments.

    With `feedback` reviewers may ask back instead of deciding: the call is denied, and its result
    has their question in `feedback`, and the arguments that they suggest in `suggested_args`.

    Raises:
        TypeError, ValueError: the function cannot be a tool, or not with these options.
    """
    if function is not None:
        check_effect(getattr(function, "__name__", "tool"), None)

    def decorate(function: Callable[..., Any]) -> Tool:
        name = function.__name__
        declared_effect = check_effect(name, effect)
        arguments = input_model(function)
        check_approval(name, approval, arguments)
        check_duration(name, "expires_in", expires_in)
        check_duration(name, "timeout", timeout)
        if declared_effect is Effect.ONCE:
            _check_once_tool(name, function, retries)
        return Tool(
            name=name,
            description=inspect.getdoc(function) or name,
            function=function,
            input_model=arguments,
            output=TypeAdapter(output_hint(function)),
            effect=declared_effect,
            approval=approval,
            timeout=timeout,
            expires_in=expires_in,
            retries=retries,
            on_error=on_error,
            max_output_characters=max_output_characters,
            present=_as_function(present),
            accepts_feedback=feedback,
        )

    return decorate


def _check_once_tool(name: str, function: Callable[..., Any], retries: int) -> None:
    if retries:
        raise ValueError(f'{name}: a tool with effect="once" cannot have retries; remove them.')
    if (context := context_parameter(function)) is not None:
        check_once_tool_never_pauses(name, function, context)


def define_interrupt(
    name: str,
    description: str,
    *,
    input_model: type[BaseModel],
    message: str,
    answer_schema: Any,
    metadata: Mapping[str, Any] | Callable[[Args], Mapping[str, Any] | None] | None = None,
    expires_in: ExpiresIn = TEAM_DEFAULT,
    present: Present | Callable[[Args], Present | None] | None = None,
) -> InterruptTool:
    """
    Define a tool whose calls interrupt the run.

    `answer_schema` is a type such as `bool` or `list[str]`, a JSON Schema, or a function of the
    arguments that returns one; `metadata` and `present` are a mapping and a Present, or such
    functions.
    """
    check_template(name, message, input_model)
    check_duration(name, "expires_in", expires_in)
    if not inspect.isroutine(answer_schema):
        answer_schema = schema_of(f"{name}: answer_schema=", answer_schema)
    return InterruptTool(
        name,
        description,
        input_model,
        message,
        _as_function(answer_schema),
        _as_function(metadata),
        expires_in,
        _as_function(present),
    )


def _as_function(value: Any) -> Callable[[Args], Any]:
    return value if callable(value) else lambda _: value


def _check(name: str, model: type[BaseModel], args: Args) -> dict[str, Any]:
    try:
        validated = model.model_validate(dict(args))
    except ValidationError as error:
        problems = _problems(error)
        raise InvalidArguments(f"{name} cannot take these arguments: {problems}") from error
    # Not by attribute: an argument may have the name of a model's method.
    return vars(validated) | (validated.__pydantic_extra__ or {})


def _template_values(args: Args, validated_args: Args) -> dict[str, Any]:
    """Return the values for templates: the original arguments, and the defaults."""
    json_args: dict[str, Any] = storable(dict(validated_args))
    return {
        name: args[name] if name in args and _is_same(args[name], value) else value
        for name, value in json_args.items()
    }


def _is_same(original: Any, value: Any) -> bool:
    """Return True for equal values; 1 and True differ."""
    return bool(original == value) and isinstance(original, bool) == isinstance(value, bool)


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
    )
