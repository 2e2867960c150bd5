"""Signatures of tool functions as pydantic models."""

import inspect
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from agents.sdk.context import ToolContext

_NO_NAMES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def input_model(function: Callable[..., Any]) -> type[BaseModel]:
    """
    Build the model of a function's arguments from its type hints and defaults.

    Raises:
        TypeError: the function cannot be a tool.
    """
    _check_kind(function)
    hints, context = _hints(function), context_parameter(function)
    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != context
    ]
    for parameter in parameters:
        _check_parameter(function, parameter, hints.get(parameter.name, Any))
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
    # Keep the bounds of Annotated: they are part of the schema.
    return get_type_hints(function, include_extras=True)


def _check_kind(function: Callable[..., Any]) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is a generator; a tool must return its result.")


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
