"""The arguments of a Python call as the JSON object that people approve, and back."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any, Final

from signoff_client.exchanges import encode

_JSON_TYPES: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


class UnknownArguments(Exception):
    """The approved arguments do not fit the signature of the function."""


class Signature:
    """The parameters of a function, named as in its definition."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._signature = inspect.signature(function)
        self._hints = _hints(function)
        self.name = getattr(function, "__name__", type(function).__name__)

    def to_json(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return the arguments of a call by name, defaults included, as they come back from JSON.

        Raises:
            TypeError: they do not fit the signature, or JSON cannot represent them.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            more = value if self._kind(name) is Parameter.VAR_KEYWORD else {name: value}
            if twice := values.keys() & more.keys():
                raise TypeError(f"{self.name}() has {', '.join(sorted(twice))} twice")
            values |= more
        try:
            decoded: dict[str, Any] = json.loads(encode(values))
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"{self.name}() needs arguments that JSON has: {error}") from error
        for name, value in values.items():
            _check_keys(value, f"{self.name}() argument {name}")
        return decoded

    def bind(self, approved: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """
        Return positional and keyword arguments for a call with the approved arguments, all of them.

        Raises:
            UnknownArguments: one is missing, or the function does not take it.
        """
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        remaining = dict(approved)
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                kwargs |= remaining
                remaining = {}
            elif name not in remaining:
                raise UnknownArguments(f"{self.name}() needs {name}, which was removed")
            elif parameter.kind is Parameter.VAR_POSITIONAL:
                if not isinstance(values := remaining.pop(name), list):
                    raise UnknownArguments(f"{self.name}() needs a list for {name}")
                args += values
            elif parameter.kind is Parameter.KEYWORD_ONLY:
                kwargs[name] = remaining.pop(name)
            else:
                args.append(remaining.pop(name))
        if remaining:
            raise UnknownArguments(f"{self.name}() does not take {', '.join(sorted(remaining))}")
        return args, kwargs

    def schema(self) -> dict[str, Any]:
        """Return a JSON Schema of the arguments, for the form in which a reviewer edits them."""
        properties: dict[str, Any] = {}
        open_ended = False
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                open_ended = True
            elif parameter.kind is Parameter.VAR_POSITIONAL:
                properties[name] = {"type": "array"}
            else:
                kind = _JSON_TYPES.get(self._hints.get(name))
                properties[name] = {"type": kind} if kind else {}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": open_ended,
        }

    def _kind(self, name: str) -> Any:
        return self._signature.parameters[name].kind


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # annotations are arbitrary expressions, and only the form needs them
        return {}


def _check_keys(value: Any, where: str) -> None:
    """Raise TypeError for keys that are no texts: JSON would turn 1 into "1", and lose one."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            if wrong := [key for key in part if not isinstance(key, str)]:
                raise TypeError(f"{where} has a key that is no text: {wrong[0]!r}")
            pending += part.values()
        elif isinstance(part, (list, tuple)):
            pending += part
