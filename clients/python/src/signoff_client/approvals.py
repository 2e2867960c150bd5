"""The options of a function whose calls need approval, and its wrapper."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar

from signoff_client.arguments import Signature
from signoff_client.settings import Duration

Parameters = ParamSpec("Parameters")
Result_co = TypeVar("Result_co", covariant=True)
_ABSENT: Any = object()


class ApprovedFunction(Protocol[Parameters, Result_co]):
    """A function each of whose calls waits for an approval."""

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result_co: ...

    def with_key(self, key: str) -> Callable[Parameters, Result_co]:
        """Return the function for one call, which goes on waiting when it is made again."""


class Approval:
    """The request that belongs to each call of one function."""

    def __init__(  # noqa: PLR0913 - the options of requires_approval
        self,
        function: Callable[..., Any],
        *,
        is_async: bool = False,
        effect: str = "once",
        may_edit: bool = False,
        tool: str = "",
        title: str = "",
        why: str = "",
        wait: Duration = None,
        expires_in: int | None = _ABSENT,
        lease_seconds: int = 600,
        valid_seconds: int = 86_400,
        **members: Any,
    ) -> None:
        _check_function(function, is_async=is_async)
        if effect not in ("once", "idempotent"):
            raise ValueError(f'effect is "once" or "idempotent", not {effect!r}')
        self.function = function
        self.signature = Signature(function)
        self.effect = effect
        self.wait = wait
        self.lease_seconds = lease_seconds
        self._tool = tool or self.signature.name
        self._members = {
            **members,
            "may_edit": may_edit,
            "execution": {
                "report": True,
                "effect": effect,
                "lease_seconds": lease_seconds,
                "valid_seconds": valid_seconds,
            },
        }
        texts = {"title": title, "why": why}
        self._members |= {name: text for name, text in texts.items() if text}
        if expires_in is not _ABSENT:
            self._members["expires_in"] = expires_in
        if may_edit:
            self._members.setdefault("args_schema", self.signature.schema())

    def members(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of the request for one call."""
        return {**self._members, "tool": self._tool, "args": self.signature.to_json(args, kwargs)}

    def bind(self, approved: Mapping[str, Any]) -> Callable[[], Any]:
        """Return the call of the function with the approved arguments; raise UnknownArguments."""
        args, kwargs = self.signature.bind(approved)
        return lambda: self.function(*args, **kwargs)

    def wrap(self, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]) -> Any:
        """Return the function as its callers see it; `call` takes the key and the arguments."""

        def with_key(key: str) -> Callable[..., Any]:
            if not key:
                raise ValueError("The key of a call must not be empty.")
            return lambda *args, **kwargs: call(key, args, kwargs)

        @functools.wraps(self.function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return call("", args, kwargs)

        @functools.wraps(self.function)
        async def async_wrapper(*args: Any, **kwargs: Any) -> Any:
            return await call("", args, kwargs)

        chosen: Any = async_wrapper if inspect.iscoroutinefunction(self.function) else wrapper
        chosen.with_key = with_key
        return chosen


def _check_function(function: Callable[..., Any], *, is_async: bool) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("A generator runs after its call has returned: approve a plain function.")
    if inspect.iscoroutinefunction(function) != is_async:
        kind, client = ("async", "AsyncSignoff") if not is_async else ("plain", "Signoff")
        raise TypeError(f"requires_approval of {client} is the one for this {kind} function.")
