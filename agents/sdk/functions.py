"""Tool functions: their signatures as pydantic models, their approval rules, and their calls."""

import asyncio
import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from string import Formatter
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from agents.sdk.context import Args, ToolContext
from agents.sdk.declarations import check_schema, warn_about_missing_hints

_NO_NAMES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def input_model(function: Callable[..., Any]) -> type[BaseModel]:
    """
    Build the model of a function's arguments from its type hints and defaults.

    Raises:
        TypeError: the function cannot be a tool.
    """
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is a generator; a tool must return its result.")
    hints, context = _hints(function), context_parameter(function)
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != context
    ]
    for parameter in parameters:
        _check_parameter(function, parameter, hints.get(parameter.name, Any))
    warn_about_missing_hints(
        function.__name__,
        [
            parameter.name
            for parameter in parameters
            if parameter.name not in hints and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ],
    )
    has_kwargs = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    fields: dict[str, Any] = {
        parameter.name: (
            hints.get(parameter.name, Any),
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    config = ConfigDict(
        extra="allow" if has_kwargs else "forbid",
        # Comparisons with NaN are false, so it would pass limits.
        allow_inf_nan=False,
        protected_namespaces=(),
    )
    with warnings.catch_warnings():
        # Arguments may be named `copy` or `schema`: the shadowed methods are not called.
        warnings.filterwarnings("ignore", message=".*shadows an attribute", category=UserWarning)
        model = create_model(function.__name__, __config__=config, **fields)
    model.model_json_schema()  # raises for types without a JSON Schema
    return model


def output_hint(function: Callable[..., Any]) -> Any:
    """Return the return annotation of a function."""
    return _hints(function).get("return", Any)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter annotated as ToolContext, if there is one."""
    return next((name for name, hint in _hints(function).items() if hint is ToolContext), None)


@lru_cache(maxsize=1000)
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        # Keep the bounds of Annotated: they are part of the schema.
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        name = getattr(function, "__name__", "function")
        raise TypeError(
            f"{name}: the type hint {error.name!r} is not defined; import it, or correct its name."
        ) from error


def _check_parameter(function: Callable[..., Any], parameter: inspect.Parameter, hint: Any) -> None:
    if parameter.kind in _NO_NAMES:
        raise TypeError(
            f"{function.__name__}: {parameter} is positional; a tool takes keyword arguments only."
        )
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return
    if parameter.name.startswith("_") or parameter.name == "model_config":
        raise TypeError(f"{function.__name__}: an argument cannot be named {parameter.name}.")
    if ToolContext in get_args(hint):
        raise TypeError(f"{function.__name__}: annotate {parameter.name} as plain ToolContext.")


#: When a call needs a person: never, always (with a text such as "Deploy to {environment}"), when
#: a function of the arguments says so, or when the arguments fit a JSON Schema.
Approval = bool | str | Callable[..., "bool | str | None"] | Mapping[str, Any]

#: Starts the part after the name in a placeholder such as "{guest[name]}".
_AFTER_NAME = re.compile(r"[.\[]")


def check_approval(name: str, approval: Approval, arguments: type[BaseModel]) -> None:
    """
    Raise unless the approval rule is usable with these arguments.

    Raises:
        ValueError, TypeError.
    """
    if isinstance(approval, str):
        check_template(name, approval, arguments)
    elif isinstance(approval, Mapping):
        check_schema(f"{name}: approval=", approval)
    elif callable(approval):
        _check_function(name, approval, arguments)


def check_template(name: str, text: str, arguments: type[BaseModel]) -> None:
    """Raise ValueError unless every placeholder in the text is an argument."""
    if arguments.model_config.get("extra") == "allow":
        return
    for _, placeholder, _, _ in Formatter().parse(text):
        root = None if placeholder is None else _AFTER_NAME.split(placeholder)[0]
        if root is not None and root not in arguments.model_fields:
            names = ", ".join(arguments.model_fields) or "none"
            raise ValueError(f"{name}: '{text}' has a placeholder '{root}'; use one of: {names}.")


def _check_function(name: str, approval: Callable[..., Any], arguments: type[BaseModel]) -> None:
    if inspect.iscoroutinefunction(approval):
        raise TypeError(f"{name}: an approval function cannot be async; use a plain function.")
    names = [*arguments.model_fields]
    if (context := context_parameter(approval)) is not None:
        names.append(context)
    try:
        inspect.signature(approval).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise TypeError(
            f"{name}: the approval function is called with {', '.join(names)}: {error}"
        ) from error


class ToolExited(RuntimeError):
    """The function raised an exception that would stop its worker, such as SystemExit."""


def call_function(function: Callable[..., Any], call: ToolContext, args: Args) -> Any:
    """Call a function with its arguments, and with the context if it takes one."""
    context = context_parameter(function)
    return function(**args) if context is None else function(**{context: call}, **args)


async def call_tool_function(function: Callable[..., Any], call: ToolContext, args: Args) -> Any:
    """
    Call a function, in a thread unless it is a coroutine function.

    Raises:
        ToolExited: it raised an exception that would stop the worker.
    """
    try:
        if inspect.iscoroutinefunction(function):
            return await call_function(function, call, args)
        return await asyncio.to_thread(_call_in_thread, function, call, args)
    except SystemExit as error:  # would stop the worker
        raise ToolExited("The function called for the process to exit.") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise ToolExited("The function cancelled itself.") from error


def _call_in_thread(function: Callable[..., Any], call: ToolContext, args: Args) -> Any:
    try:
        return call_function(function, call, args)
    except (StopIteration, GeneratorExit, KeyboardInterrupt) as error:
        # StopIteration never completes a future; the others stop the event loop.
        raise ToolExited(f"The function raised {type(error).__name__}.") from error
