"""What a function takes: the model that its arguments are checked against."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from agents.sdk.context import ToolContext

_NO_NAMES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def input_model(function: Callable[..., Any]) -> type[BaseModel]:
    """
    Make the model of a function's arguments, from its type hints and defaults.

    Raises:
        TypeError: the function cannot be a tool.
    """
    _check_kind(function)
    hints, context = _hints(function), context_parameter(function)
    parameters = [
        one for one in inspect.signature(function).parameters.values() if one.name != context
    ]
    for one in parameters:
        _check_parameter(function, one, hints.get(one.name, Any))
    takes_more = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    fields: dict[str, Any] = {
        one.name: (
            hints.get(one.name, Any),
            ... if one.default is inspect.Parameter.empty else one.default,
        )
        for one in parameters
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    }
    config = ConfigDict(
        extra="allow" if takes_more else "forbid",
        # "nan" would pass for an amount that is not more than 100.
        allow_inf_nan=False,
        protected_namespaces=(),
    )
    with warnings.catch_warnings():
        # `copy` and `schema` are fine names of arguments: nobody calls the methods they hide.
        warnings.filterwarnings("ignore", message=".*shadows an attribute", category=UserWarning)
        model = create_model(function.__name__, __config__=config, **fields)
    model.model_json_schema()  # raises for what no form and no model can be told of
    return model


def output_hint(function: Callable[..., Any]) -> Any:
    """What a function returns, as it says."""
    return _hints(function).get("return", Any)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The name of the parameter that wants the call, if one does."""
    return next((name for name, hint in _hints(function).items() if hint is ToolContext), None)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    # With what Annotated adds: its bounds are part of what the tool takes.
    return get_type_hints(function, include_extras=True)


def _check_kind(function: Callable[..., Any]) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} yields: a tool returns what it has, all at once.")


def _check_parameter(function: Callable[..., Any], one: inspect.Parameter, hint: Any) -> None:
    if one.kind in _NO_NAMES:
        raise TypeError(f"{function.__name__}: a tool is called by names, and {one} has none.")
    if one.kind is inspect.Parameter.VAR_KEYWORD:
        return
    if one.name.startswith("_") or one.name == "model_config":
        raise TypeError(f"{function.__name__}: an argument cannot be named {one.name}.")
    if ToolContext in get_args(hint):
        raise TypeError(f"{function.__name__}: annotate {one.name} as ToolContext, nothing else.")
