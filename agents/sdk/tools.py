"""Tools: plain functions with a declared effect, and questions that have no function at all."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from agents.port import Effect
from agents.sdk.approval_rules import Approval, check_approval, check_template
from agents.sdk.context import Args, CallPaused, InterruptRequest, ToolContext
from agents.sdk.expiry import TEAM_DEFAULT, ExpiresIn
from agents.sdk.invoke import call_function, call_tool_function
from agents.sdk.signature import context_parameter, input_model, output_hint

#: The longest result that is kept, in characters of JSON.
MAX_OUTPUT_CHARACTERS = 256 * 1024


class InvalidArguments(ValueError):
    """The arguments do not fit the tool."""


class InvalidOutput(ValueError):
    """The function returned something else than its annotation says."""


@dataclass(frozen=True, eq=False)
class Tool:
    """A function that an agent may call, with what is promised about calling it."""

    name: str
    description: str
    function: Callable[..., Any]
    input_model: type[BaseModel]
    output: TypeAdapter[Any]
    effect: Effect
    approval: Approval = False
    always_requires_approval: bool = (
        False  #: whether a person approves each call, whatever `approval` says
    )
    timeout: timedelta | None = None
    expires_in: ExpiresIn = TEAM_DEFAULT  #: how long a person has to answer what it asks
    retries: int = 0  #: further tries of a call that raised; never of a `once` call
    on_error: Literal["result", "fail"] = "result"
    max_output_characters: int = MAX_OUTPUT_CHARACTERS

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the arguments as the function wants them, or raise InvalidArguments."""
        if (context := context_parameter(self.function)) in args:
            raise InvalidArguments(f"{self.name} cannot take the argument {context}.")
        return _check(self.name, self.input_model, args)

    def approval_request(self, call: ToolContext) -> InterruptRequest | None:
        """
        What a person has to be asked before this call, None if it may be made.

        An approval that a function asks for by `call.interrupt` can be asked for again; any other
        is over once it was given, for whatever arguments the reviewer approved. An answer to
        another question is none.

        Raises:
            InvalidArguments: the arguments do not fit the tool.
        """
        args = self.check_arguments(call.args)
        if callable(self.approval):
            try:
                wanted = call_function(self.approval, call, args)
            except CallPaused as pause:
                return pause.ask
        elif isinstance(self.approval, Mapping):
            # As the function gets them: with defaults, and "500" as the number that it becomes.
            wanted = Draft202012Validator(self.approval).is_valid(to_jsonable_python(args))
        else:
            wanted = self.approval
        if call.is_approved or not (wanted or self.always_requires_approval):
            return None
        if isinstance(self.approval, str):
            return InterruptRequest(self.approval.format_map(_as_written(call.args, args)))
        # What a function says is its whole text: an agent's braces in it are no places to fill.
        return InterruptRequest(wanted if isinstance(wanted, str) else f"Call {self.name}?")

    async def execute(self, call: ToolContext) -> Any:
        """
        Run the function, in a thread if it is a blocking one, and return JSON.

        Raises:
            TimeoutError: it took too long; a blocking function goes on in its thread all the same.
            InvalidOutput: what it returned is not what its annotation says.
        """
        args = self.check_arguments(call.args)
        seconds = self.timeout.total_seconds() if self.timeout else None
        async with asyncio.timeout(seconds):
            value = await call_tool_function(self.function, call, args)
        try:
            # Infinity and NaN stay what they are: they are no JSON, and not null either.
            return to_jsonable_python(self.output.validate_python(value), inf_nan_mode="constants")
        except ValidationError as error:
            raise InvalidOutput(f"{self.name} returned {_problems(error)}") from error


@dataclass(frozen=True)
class InterruptTool:
    """A tool that always pauses and has no function: the answer of a person is its result."""

    name: str
    description: str
    input_model: type[BaseModel]
    message: str  #: what is asked, such as "{question}"
    answer_schema: Callable[[Args], Mapping[str, Any]]  #: of the answer, from the input
    metadata: Callable[[Args], Mapping[str, Any] | None]  #: for who shows it, from the input
    expires_in: ExpiresIn = TEAM_DEFAULT  #: how long a person has to answer

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the arguments as the question wants them, or raise InvalidArguments."""
        return _check(self.name, self.input_model, args)

    def interrupt_request(self, args: Args) -> InterruptRequest:
        """
        What a person is asked when it is called with these arguments.

        Raises:
            InvalidArguments: they do not fit, or nothing can be asked with them.
        """
        known = _as_written(args, self.check_arguments(args))
        try:
            return InterruptRequest(
                self.message.format_map(known),
                reason="input_required",
                response_schema=self.answer_schema(known),
                metadata=self.metadata(known),
            )
        except Exception as error:  # what a model wrote meets what an author did not think of
            raise InvalidArguments(
                f"{self.name} cannot ask with these arguments: {type(error).__name__}"
            ) from error


def tools_by_name(tools: Sequence[Tool | InterruptTool]) -> dict[str, Tool | InterruptTool]:
    """
    The tools by their names, by which answers find them.

    Raises:
        ValueError: two tools have one name; an approval of one could call the other.
    """
    known: dict[str, Tool | InterruptTool] = {}
    for one in tools:
        if known.setdefault(one.name, one) is not one:
            raise ValueError(f"Two tools are named {one.name}.")
    return known


def tool(
    *,
    effect: Effect | Literal["read", "idempotent", "once"],
    approval: Approval = False,
    timeout: timedelta | None = None,
    expires_in: ExpiresIn = TEAM_DEFAULT,
    retries: int = 0,
    on_error: Literal["result", "fail"] = "result",
    max_output_characters: int = MAX_OUTPUT_CHARACTERS,
) -> Callable[[Callable[..., Any]], Tool]:
    """
    Make a tool of a function.

    The name is the function's, the description its docstring, arguments and result its type hints.
    A parameter that is annotated as ToolContext gets the call.

    A function that raises has a result, too, if it may be called again (`read`, `idempotent`): the
    call settles with `{"ok": false, "error": "<class of the exception>"}`, never its text, which
    may hold secrets, and the run goes on; with `on_error="fail"` the run ends. After a call that is
    made `once`, nobody knows what happened: its error ends the run, and a person is asked about the
    outcome. The same holds for a function that takes too long, or returns what it did not promise.

    `expires_in` is how long a person has for its approval and its questions; None for no expiry.
    """

    if retries and Effect(effect) is Effect.ONCE:
        raise ValueError("A tool that is called once has no retries.")

    def decorate(function: Callable[..., Any]) -> Tool:
        arguments = input_model(function)
        check_approval(function.__name__, approval, arguments)
        return Tool(
            name=function.__name__,
            description=inspect.getdoc(function) or function.__name__,
            function=function,
            input_model=arguments,
            output=TypeAdapter(output_hint(function)),
            effect=Effect(effect),
            approval=approval,
            timeout=timeout,
            expires_in=expires_in,
            retries=retries,
            on_error=on_error,
            max_output_characters=max_output_characters,
        )

    return decorate


def define_interrupt(
    name: str,
    description: str,
    *,
    input_model: type[BaseModel],
    message: str,
    answer_schema: Any,
    metadata: Mapping[str, Any] | Callable[[Args], Mapping[str, Any] | None] | None = None,
    expires_in: ExpiresIn = TEAM_DEFAULT,
) -> InterruptTool:
    """
    Make a question that an agent asks by calling it.

    The answer is described by a type such as `bool` or `list[str]`, by a JSON Schema, or by a
    function of the input that returns one; the metadata are always the same, absent, or computed
    from the input as well.
    """
    check_template(name, message, input_model)
    if not (isinstance(answer_schema, Mapping) or inspect.isroutine(answer_schema)):
        answer_schema = TypeAdapter(answer_schema).json_schema()
    return InterruptTool(
        name,
        description,
        input_model,
        message,
        _of_input(answer_schema),
        _of_input(metadata),
        expires_in,
    )


def _of_input(value: Any) -> Callable[[Args], Any]:
    """A function of the input, also for what does not depend on it."""
    return value if callable(value) else lambda _: value


def _check(name: str, model: type[BaseModel], args: Args) -> dict[str, Any]:
    try:
        checked = model.model_validate(dict(args))
    except ValidationError as error:
        problems = _problems(error)
        raise InvalidArguments(f"{name} cannot take these arguments: {problems}") from error
    # Not by attribute: an argument may be named like one that every model has.
    return vars(checked) | (checked.__pydantic_extra__ or {})


def _as_written(args: Args, checked: Args) -> dict[str, Any]:
    """What texts for people are filled with: the arguments as they were given, and the defaults."""
    as_json: dict[str, Any] = to_jsonable_python(dict(checked))
    return {
        name: args[name] if name in args and _is_same(args[name], value) else value
        for name, value in as_json.items()
    }


def _is_same(given: Any, value: Any) -> bool:
    """Whether a number is only written in another way; 1 is no way to write true."""
    return bool(given == value) and isinstance(given, bool) == isinstance(value, bool)


def _problems(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
