"""Tools: plain functions with a declared effect, and questions that have no function at all."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Never, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from agents.port import Effect

Args = Mapping[str, Any]


class InvalidArguments(ValueError):
    """The arguments do not fit the tool."""


class Pause(Exception):
    """A guard puts the call to a person first."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class ToolContext:
    """What a tool knows about the call it serves."""

    thread_id: str
    tool_call_id: str
    args: Args  #: as they were approved
    idempotency_key: str = ""  #: the same at every attempt; empty in a guard, which has no effect
    resumed: Any = None  #: the answer when a paused call is restarted (S6), never None then

    def interrupt(self, message: str) -> Never:
        """
        Pause the call (S1): a person is asked, and the call starts again when they approve.

        Best done in the guard; in the function itself, only before it has had any effect.
        """
        raise Pause(message)


@dataclass(frozen=True)
class Tool:
    """A function that an agent may call."""

    name: str
    description: str
    function: Callable[..., Any]
    input_model: type[BaseModel]
    effect: Effect
    approval: str | None = None  #: asked before each call, such as "Deploy to {environment}"
    #: Called before the journal is, so without any effect yet; may interrupt the call (S1, S5).
    guard: Callable[..., None] | None = None

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the arguments as the function wants them, or raise InvalidArguments."""
        return _check(self.name, self.input_model, args)

    def check_guard(self, call: ToolContext) -> None:
        """Raise Pause if a person has to look first, or InvalidArguments."""
        args = self.check_arguments(call.args)
        if self.guard is not None:
            self.guard(call, **args)

    async def execute(self, call: ToolContext) -> Any:
        """Run the function: in a thread, if it is a blocking one."""
        args = self.check_arguments(call.args)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(call, **args)
        return await asyncio.to_thread(self.function, call, **args)


@dataclass(frozen=True)
class Question:
    """A tool that always pauses and never works by itself (S1, S3): the answer is its result."""

    name: str
    description: str
    input_model: type[BaseModel]
    message: str  #: what is asked, such as "{question}"
    answer_schema: Callable[
        [Args], dict[str, Any]
    ]  #: the JSON Schema of the answer, from the input

    def check_arguments(self, args: Args) -> dict[str, Any]:
        """Return the arguments as the question wants them, or raise InvalidArguments."""
        return _check(self.name, self.input_model, args)


def tool(
    *, effect: Effect, approval: str | None = None, guard: Callable[..., None] | None = None
) -> Callable[[Callable[..., Any]], Tool]:
    """
    Make a tool of a function whose first parameter is a ToolContext.

    The name is the function's, the description its docstring, the arguments its type hints.

    A function that raises has a result, too, if it may be called again (`read`, `idempotent`): the
    call settles with `{"ok": false, "error": "<class of the exception>"}`, never its text, which
    may hold secrets, and the run goes on. After a call that is made `once`, nobody knows what
    happened: its error ends the run, and a person is asked about the outcome. The same holds for a
    function that returns what is no JSON.
    """

    def decorate(function: Callable[..., Any]) -> Tool:
        return Tool(
            name=function.__name__,
            description=inspect.getdoc(function) or function.__name__,
            function=function,
            input_model=_input_model(function),
            effect=effect,
            approval=approval,
            guard=guard,
        )

    return decorate


def define_interrupt(
    name: str,
    description: str,
    *,
    input_model: type[BaseModel],
    message: str,
    answer_schema: Callable[[Args], dict[str, Any]],
) -> Question:
    """Make a question that an agent asks by calling it (S3)."""
    return Question(name, description, input_model, message, answer_schema)


def _input_model(function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function)
    _context, *parameters = inspect.signature(function).parameters.values()
    takes_more = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    fields: dict[str, Any] = {
        one.name: (
            hints.get(one.name, Any),
            ... if one.default is inspect.Parameter.empty else one.default,
        )
        for one in parameters
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    }
    config = ConfigDict(extra="allow" if takes_more else "forbid")
    return create_model(function.__name__, __config__=config, **fields)


def _check(name: str, model: type[BaseModel], args: Args) -> dict[str, Any]:
    try:
        checked = model.model_validate(dict(args))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()
        )
        raise InvalidArguments(f"{name} cannot take these arguments: {problems}") from error
    return {field: getattr(checked, field) for field in model.model_fields} | (
        checked.model_extra or {}
    )
