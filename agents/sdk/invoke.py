"""Calls of tool functions, which contain every exception."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from agents.sdk.context import Args, ToolContext
from agents.sdk.signature import context_parameter


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
