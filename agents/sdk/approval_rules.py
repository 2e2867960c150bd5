"""When a tool has its calls approved, and the texts that people are asked with."""

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

#: What follows the name in a place such as "{guest[name]}".
_AFTER_NAME = re.compile(r"[.\[]")


def check_approval(name: str, approval: Approval, arguments: type[BaseModel]) -> None:
    """
    Make sure that the approval can be asked for, before an agent wants it.

    Raises:
        ValueError, TypeError, jsonschema.SchemaError: what is wrong with it.
    """
    if isinstance(approval, str):
        check_template(name, approval, arguments)
    elif isinstance(approval, Mapping):
        Draft202012Validator.check_schema(dict(approval))
    elif callable(approval):
        _check_function(name, approval, arguments)


def check_template(name: str, text: str, arguments: type[BaseModel]) -> None:
    """Raise ValueError unless every place in the text is an argument."""
    if arguments.model_config.get("extra") == "allow":
        return
    for _, place, _, _ in Formatter().parse(text):
        root = None if place is None else _AFTER_NAME.split(place)[0]
        if root is not None and root not in arguments.model_fields:
            known = ", ".join(arguments.model_fields) or "none"
            raise ValueError(f"{name}: '{text}' has a place for '{root}'; arguments are: {known}.")


def _check_function(name: str, approval: Callable[..., Any], arguments: type[BaseModel]) -> None:
    if inspect.iscoroutinefunction(approval):
        raise TypeError(f"{name}: an approval function decides at once, it cannot be async.")
    given = [*arguments.model_fields]
    if (context := context_parameter(approval)) is not None:
        given.append(context)
    try:
        inspect.signature(approval).bind(**dict.fromkeys(given))
    except TypeError as error:
        raise TypeError(
            f"{name}: the approval function is called with {', '.join(given)}: {error}"
        ) from error
