"""Approval rules of tools: when a call needs approval, and the text of the request."""

import inspect
import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from jsonschema import Draft202012Validator
from pydantic import BaseModel

from agents.sdk.signature import context_parameter

#: When a call needs a person: never, always (with a text such as "Deploy to {environment}"), when
#: a function of the arguments says so, or when the arguments fit a JSON Schema.
Approval = bool | str | Callable[..., "bool | str | None"] | Mapping[str, Any]

#: Starts the part after the name in a placeholder such as "{guest[name]}".
_AFTER_NAME = re.compile(r"[.\[]")


def check_approval(name: str, approval: Approval, arguments: type[BaseModel]) -> None:
    """
    Raise unless the approval rule is usable with these arguments.

    Raises:
        ValueError, TypeError, jsonschema.SchemaError.
    """
    if isinstance(approval, str):
        check_template(name, approval, arguments)
    elif isinstance(approval, Mapping):
        Draft202012Validator.check_schema(dict(approval))
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
