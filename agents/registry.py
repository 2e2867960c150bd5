"""The registry of agents by name; an agent is imported when it is first used."""

import importlib
import inspect
import os
import traceback
from pathlib import Path
from typing import Any

from agents.adapters.in_process import (
    FRAMEWORKS,
    InProcessAgent,
    framework_of,
    is_installed,
    is_target,
    missing_extra,
)
from agents.port import Agent
from agents.sdk.tools import InterruptTool, Tool

_BUILT_IN = {
    "rehearsal": "agents.demo_agent.agent:build",
    "refund-desk": "agents.examples.refund_desk:refund_desk",
    "release-train": "agents.examples.release_train:release_train",
    "database-steward": "agents.examples.database_steward:database_steward",
    "onboarding": "agents.examples.onboarding:onboarding",
    "importer": "agents.examples.error_recovery:importer",
    "expense-desk": "agents.examples.expenses:expense_desk",
    "treasury": "agents.examples.policy_hold:treasury",
    "showcase": "agents.examples.showcase:showcase",
}

#: The variable with custom agents, separated by commas: `my_agents:refund_desk` is the agent
#: refund-desk, and `langgraph+my_graphs:refund_desk` one written with that framework.
AGENTS_SETTING = "SIGNOFF_AGENTS"

#: Code that an import of an author's module passes through: this file, the SDK and Python's own.
_NOT_OF_AUTHORS = (__file__, str(Path(__file__).parent / "sdk"), importlib.__file__, "<frozen")

_agents: dict[str, Agent] = {}


class UnknownAgent(LookupError):
    """No agent has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no agent '{name}'; choose one of: {', '.join(names())}.")


class UnusableAgent(UnknownAgent):
    """An entry of SIGNOFF_AGENTS is no agent; the text says why, and what to write."""

    def __init__(self, path: str, problem: str) -> None:
        LookupError.__init__(self, f"{AGENTS_SETTING} has {path!r}: {problem}.")


def get(name: str) -> Agent:
    """
    Return the agent of this name, the same object every time.

    Raises:
        UnknownAgent: it is not registered.
        UnusableAgent: its entry in SIGNOFF_AGENTS is no agent.
    """
    agent = _agents.get(name)
    if agent is None:
        paths = _BUILT_IN | configured_agents()
        if name not in paths:
            raise UnknownAgent(name)
        agent = _agents[name] = _load(paths[name])
    return agent


def names() -> list[str]:
    """List the names of all agents, sorted, without importing them."""
    return sorted(_BUILT_IN.keys() | configured_agents().keys() | _agents.keys())


def configured_agents() -> dict[str, str]:
    """Return the agents of SIGNOFF_AGENTS: name -> path."""
    return {agent_name(path): path for path in _configured_paths()}


def agent_name(path: str) -> str:
    """Return the name of the agent at "module:attribute"."""
    return path.partition(":")[2].replace("_", "-")


def register(agent: Agent) -> None:
    """Add an agent under its own name; an earlier one of that name is replaced."""
    _agents[agent.name] = agent


def problems(*, with_frameworks: bool) -> list[str]:
    """
    Return what is wrong with SIGNOFF_AGENTS, one sentence for each problem.

    Imports the agents, and those of other frameworks only `with_frameworks`.
    """
    sentences = []
    paths = _configured_paths()
    by_name: dict[str, str] = {}
    for path in paths:
        other = by_name.setdefault(agent_name(path), path)
        try:
            if other != path:
                raise UnusableAgent(  # noqa: TRY301 - reported like the others
                    path, f"{other!r} has the same name; rename one of the two objects"
                )
            _load(path)
            if with_frameworks and "+" in path:
                _check_framework_agent(path)
        except UnusableAgent as error:
            sentences.append(str(error))
    return sentences


def replaced_agents() -> list[str]:
    """Return the names of built-in agents that SIGNOFF_AGENTS replaces."""
    return sorted(_BUILT_IN.keys() & configured_agents().keys())


def _load(path: str) -> Agent:
    framework, _, object_path = path.rpartition("+")
    module, _, attribute = object_path.partition(":")
    if not module or not attribute:
        raise UnusableAgent(
            path, "an agent is named module:attribute, such as my_agents:bookkeeper"
        )
    if framework and framework not in FRAMEWORKS:
        prefixes = ", ".join(f"{name}+" for name in FRAMEWORKS)
        raise UnusableAgent(
            path, f"there is no adapter for the framework {framework!r}; use one of: {prefixes}"
        )
    if framework:
        return InProcessAgent(agent_name(object_path), framework, object_path)
    return _as_agent(path, attribute, _import(path, object_path))


def _check_framework_agent(path: str) -> None:
    framework, _, object_path = path.rpartition("+")
    if not is_installed(framework):
        title = FRAMEWORKS[framework].title
        raise UnusableAgent(path, f"{title} is not installed; {missing_extra(framework)}")
    target = _import(path, object_path)
    if not is_target(framework, target):
        needed = FRAMEWORKS[framework]
        raise UnusableAgent(
            path, f"{needed.title} needs {needed.target}, and this is {_kind_of(target)}"
        )


def _import(path: str, object_path: str) -> Any:
    """Return the object at "module:attribute"; raise UnusableAgent if there is none."""
    name, _, attribute = object_path.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise UnusableAgent(path, _import_problem(name, error)) from error
        raise UnusableAgent(
            path,
            f"there is no module {error.name!r}; PYTHONPATH must have the folder of its file, such "
            "as PYTHONPATH=. for the current one",
        ) from error
    except Exception as error:
        raise UnusableAgent(path, _import_problem(name, error)) from error
    if not hasattr(module, attribute):
        agents = [key for key, value in vars(module).items() if _is_agent(value)]
        hint = f"; its agents are: {', '.join(agents)}" if agents else ""
        raise UnusableAgent(path, f"the module {name} has no {attribute!r}{hint}")
    return getattr(module, attribute)


def _import_problem(module: str, error: Exception) -> str:
    """Return an error of an import with the line of the author's code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_NOT_OF_AUTHORS)]
    place = f" at {own[-1].filename}, line {own[-1].lineno}" if own else ""
    if isinstance(error, SyntaxError):
        place = f" at {error.filename}, line {error.lineno}"
    text = str(error)[:500].removesuffix(".")
    return f"importing {module} failed{place}: {type(error).__name__}: {text}"


def _as_agent(path: str, attribute: str, target: Any) -> Agent:
    """
    Return the target if it is an agent, or what it returns if it is a function.

    Raises:
        UnusableAgent.
    """
    if isinstance(target, Tool | InterruptTool):
        raise UnusableAgent(
            path, f"{attribute} is a tool; name the workflow or LlmAgent that has it in tools="
        )
    if inspect.iscoroutinefunction(target):
        raise UnusableAgent(
            path, f"{attribute} is an async function; decorate it with @workflow(tools=[...])"
        )
    if not _is_agent(target) and inspect.isroutine(target):
        try:
            inspect.signature(target).bind()
        except TypeError:
            raise UnusableAgent(
                path, f"{attribute} is a function with arguments; it must return an agent without"
            ) from None
        target = target()
    if framework := framework_of(target):
        raise UnusableAgent(
            path, f"{attribute} is of {FRAMEWORKS[framework].title}; write {framework}+{path}"
        )
    if not _is_agent(target):
        raise UnusableAgent(
            path,
            f"{attribute} is {_kind_of(target)}, not an agent; name a function with @workflow, an "
            "LlmAgent, or a function that returns an agent",
        )
    agent: Agent = target
    return agent


def _is_agent(target: Any) -> bool:
    members = ("name", "description", "restartable", "input_schema", "capabilities", "run")
    is_object = not isinstance(target, type)
    return is_object and all(hasattr(target, member) for member in members)


def _kind_of(target: Any) -> str:
    return f"an object of the class {type(target).__name__}"


def _configured_paths() -> list[str]:
    return [path.strip() for path in os.environ.get(AGENTS_SETTING, "").split(",") if path.strip()]
