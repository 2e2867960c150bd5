"""Steps of workflows as awaitables, and what a run records of the workflow that it began with."""

import hashlib
import sys
from collections.abc import Callable, Coroutine, Generator
from types import CodeType
from typing import Any, TypeVar

from agents.port import AgentMistake

T = TypeVar("T")


class WorkflowChanged(AgentMistake):
    """After a pause the workflow took other steps than before it, so it cannot continue."""

    code = "WORKFLOW_CHANGED"


class ConcurrentSteps(AgentMistake):
    """The workflow began a step while another one was running."""


class StepNotAwaited(AgentMistake, AttributeError):
    """The workflow created a step and did not await it, so it never ran."""


class WorkflowStep(Coroutine[Any, Any, T]):
    """
    A step that runs when it is awaited.

    Reading an attribute of its result without `await` raises an error that says so.
    """

    def __init__(
        self,
        code: str,
        run: Callable[[], Coroutine[Any, Any, T]],
        on_start: "Callable[[WorkflowStep[T]], None]",
    ) -> None:
        self.code = code  #: as the author wrote it, such as "ctx.call(pay, ...)"
        self._run = run
        self._on_start = on_start
        self._coroutine: Coroutine[Any, Any, T] | None = None

    @property
    def problem(self) -> str:
        """Why the step did not run, and what to do."""
        return f"{self.code} was not awaited, so it did not run; write `await {self.code}`."

    def __await__(self) -> Generator[Any, None, T]:
        return self._started().__await__()

    def send(self, value: Any) -> Any:
        return self._started().send(value)

    def throw(self, *error: Any) -> Any:
        return self._started().throw(*error)

    def close(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()

    def __getattr__(self, name: str) -> Any:
        raise StepNotAwaited(f"no attribute {name!r}: {self.problem}")

    def _started(self) -> Coroutine[Any, Any, T]:
        if self._coroutine is None:
            self._on_start(self)
            self._coroutine = self._run()
        return self._coroutine


def workflow_changed(
    name: str, difference: str, has_same_code: bool, run_version: int, version: int
) -> WorkflowChanged:
    """
    Return the error for a workflow that left the path it took before the pause, with the remedy.

    `run_version` is the version that the run began with.
    """
    if has_same_code:
        cause = (
            "Its code is the same, so its path depends on something other than the results of its "
            "steps, such as the time, random numbers, the network or ctx.state: read these in tools"
        )
    elif run_version < version:
        cause = (
            f"The run began with version {run_version}, and the workflow is version {version}: "
            f"keep the earlier steps under `if ctx.version < {version}:`, then retry the run"
        )
    else:
        cause = (
            "Its code was changed while the run waited: restore the earlier steps and retry the "
            f"run, or set @workflow(version={version + 1}), keep them under "
            f"`if ctx.version < {version + 1}:`, and retry it"
        )
    return WorkflowChanged(
        f"The workflow {name} took other steps than before the pause: {difference}. {cause}."
    )


def fingerprint(function: Callable[..., Any]) -> str:
    """
    Return a digest of the function's compiled code, "" if it has none.

    It ignores comments, formatting and the code of functions that it calls, and differs between
    minor versions of Python.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    text = f"{sys.version_info[:2]} {_code_text(code)}"
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


def _code_text(code: CodeType) -> str:
    constants = ",".join(map(_constant_text, code.co_consts))
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} ({constants})"


def _constant_text(value: Any) -> str:
    if isinstance(value, CodeType):
        return _code_text(value)
    if isinstance(value, frozenset):  # iterated in another order in each process
        return f"{{{','.join(sorted(map(_constant_text, value)))}}}"
    if isinstance(value, tuple):
        return f"({','.join(map(_constant_text, value))})"
    return repr(value)
