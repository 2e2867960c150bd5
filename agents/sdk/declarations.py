"""Checks of what authors declare; each error names the tool, the setting and the remedy."""

import dis
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from agents.json_schema import schema_error
from agents.port import AgentMistake, Effect

_TYPES = "array, boolean, integer, null, number, object or string"
EFFECTS = '"read" (no effect), "idempotent" (safe to repeat) or "once" (never repeated)'


class UntypedArguments(UserWarning):
    """A tool has arguments without type hints."""


class InvalidSchema(AgentMistake, ValueError):
    """The setting is not a valid JSON Schema."""


def check_effect(tool: str, effect: Any) -> Effect:
    """
    Return the effect of a tool.

    Raises:
        TypeError: it is missing.
        ValueError: it is unknown.
    """
    if effect is None:
        raise TypeError(f'{tool}: @tool needs effect=, such as @tool(effect="once"): {EFFECTS}.')
    try:
        return Effect(effect)
    except ValueError:
        raise ValueError(f"{tool}: effect={effect!r} is unknown; use {EFFECTS}.") from None


def check_schema(setting: str, schema: Mapping[str, Any]) -> None:
    """
    Raise InvalidSchema unless this is a JSON Schema.

    `setting` names the place for the author, such as "pay: approval=".
    """
    if error := schema_error(schema):
        path = error.json_path
        hint = f"; a type is one of {_TYPES}" if path.endswith(".type") else ""
        raise InvalidSchema(
            f"{setting} is not a valid JSON Schema. At {path}: {error.message[:300]}{hint}."
        )


def schema_of(setting: str, value: Any) -> dict[str, Any] | None:
    """
    Return the JSON Schema that an author gave, or the one of a type such as `str`.

    Raises:
        InvalidSchema: it is not a valid schema.
        TypeError: it is neither a schema nor a type.
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        check_schema(setting, value)
        return dict(value)
    problem = (
        f"{setting} takes a JSON Schema or a type (bool, list[str], a pydantic model), "
        f"not {str(value)[:60]!r}."
    )
    if isinstance(value, str | bytes):
        raise TypeError(problem)
    try:
        return TypeAdapter(value).json_schema()
    except Exception as error:  # pydantic raises several unrelated errors
        raise TypeError(problem) from error


def check_tools(owner: str, tools: Any, kinds: tuple[type, ...]) -> None:
    """
    Raise unless `tools=` is a list of tools with different names.

    `owner` is the name of the agent.

    Raises:
        TypeError, ValueError.
    """
    if isinstance(tools, kinds):
        raise TypeError(
            f"{owner}: tools= takes a list; write tools=[{getattr(tools, 'name', '...')}]."
        )
    if not isinstance(tools, Sequence) or isinstance(tools, str):
        raise TypeError(f"{owner}: tools= takes a list of tools, not {str(tools)[:60]!r}.")
    names: dict[str, Any] = {}
    for tool in tools:
        if not isinstance(tool, kinds):
            name = getattr(tool, "__name__", str(tool)[:60])
            raise TypeError(
                f"{owner}: tools= has {name}, which is not a tool; "
                'decorate it with @tool(effect="...").'
            )
        name = getattr(tool, "name", "")
        if names.setdefault(name, tool) is not tool:
            raise ValueError(f"{owner}: Two tools are named {name}; rename one.")


def warn_about_missing_hints(tool: str, names: Sequence[str]) -> None:
    """Warn the author about arguments without type hints, where the tool is defined."""
    if names:
        warnings.warn(
            f"{tool}: no type hint for {', '.join(names)}; reviewers get a field for any JSON, and "
            f"nothing is checked. Write a type, such as `{names[0]}: str`.",
            UntypedArguments,
            stacklevel=4,  # the decorated function
        )


def check_once_tool_never_pauses(tool: str, function: Callable[..., Any], context: str) -> None:
    """
    Raise TypeError if the function of a `once` tool calls `interrupt` of its context.

    It would start again with the answer, which a `once` tool never does.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    instructions = list(dis.get_instructions(code)) if code else []
    for first, second in pairwise(instructions):
        loads_context = first.opname.startswith("LOAD_") and first.argval == context
        if loads_context and second.argval == "interrupt":
            raise TypeError(f"{tool}: {pausing_once_tool(context)}")


def pausing_once_tool(context: str) -> str:
    """Return why a `once` tool cannot pause, and what to do."""
    return (
        f'a tool with effect="once" cannot call {context}.interrupt, because the function would '
        "start again with the answer. Ask in its approval= (True, a text or a function), in the "
        'workflow with ctx.interrupt, or declare effect="idempotent" or "read".'
    )
