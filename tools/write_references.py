"""
Write docs/reference/ and deploy/redis/users.acl from the code: `make references`.

The SDK for authors of agents, the commands of manage.py, and the error codes; the surface of the
product for contributors; and the tables of docs/frameworks.md from the results of `make servers`.
"""

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from inbox.platform.deployment.redis_access import users_file
from tools import framework_matrix
from tools.surface import surface_page

T = TypeVar("T")
ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "docs"
ACL_FILE: Final = ROOT / "deploy" / "redis" / "users.acl"

#: What authors import, by module.
SDK: Final[Mapping[str, Sequence[str]]] = {
    "agents.sdk.tools": ("tool", "define_interrupt"),
    "agents.sdk.context": ("ToolContext", "ToolError", "AttachedFile"),
    "agents.sdk.workflow": ("workflow", "WorkflowContext", "ToolOutcome", "InterruptReply"),
    "agents.sdk.llm": ("LlmAgent",),
    "agents.sdk.models": ("ChatCompletions", "ScriptedModel", "Model"),
    "agents.sdk.present": ("Present", "Value", "Fact", "Section"),
    "agents.port": ("Effect",),
    "agents.testing.agent_test": (
        *("run_agent", "approve", "deny", "answer", "expire", "happened", "did_not_happen"),
        *("AgentRun", "Request"),
    ),
}
#: Options that Django gives to every command.
_OF_DJANGO: Final = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback"),
    *("no_color", "force_color", "skip_checks"),
}
_HEAD: Final = "<!-- Written by `make references` from the code. Do not edit. -->\n\n"


def main() -> None:
    for name, text in references().items():
        (FOLDER / name).write_text(text)
    ACL_FILE.parent.mkdir(parents=True, exist_ok=True)
    ACL_FILE.write_text(users_file())
    framework_matrix.PAGE.write_text(framework_matrix.page())


def references() -> dict[str, str]:
    """Return the pages by their path below docs/."""
    return {
        "reference/sdk.md": sdk_page(),
        "reference/commands.md": commands_page(),
        "reference/errors.md": errors_page(),
        "contributors/surface.md": _HEAD + surface_page(),
    }


# -- the SDK --------------------------------------------------------------------------------------


def sdk_page() -> str:
    parts = [
        "# SDK reference\n",
        (
            "The functions and classes for authors of agents. [Write agents](../agents.md) "
            "explains how to use them, [Test agents](../testing-agents.md) the last module.\n"
        ),
    ]
    for module, names in SDK.items():
        path = ROOT / f"{module.replace('.', '/')}.py"
        source = path.read_text()
        public = "agents.testing" if module == "agents.testing.agent_test" else module
        parts.append(f"## {public}\n")
        nodes = {node.name: node for node in ast.parse(source).body if _is_named(node)}  # type: ignore[attr-defined]
        for name in names:
            parts += _symbol(nodes[name], source.splitlines())
    return _HEAD + "\n".join(parts)


def _is_named(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _symbol(node: ast.stmt, lines: Sequence[str]) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield f"### {node.name}\n"
        yield f"{_docstring(node)}\n"
        fields = list(_fields(node, lines))
        if fields:
            yield "| Member | Type | |\n|---|---|---|"
            yield "\n".join(fields) + "\n"
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and _is_public(method):
                yield from _function(method, f"{node.name}.")
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield f"### {node.name}\n"
        yield from _function(node, "")


def _is_public(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return not method.name.startswith("_") and ast.get_docstring(method) is not None


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[str]:
    decorators = {ast.unparse(each) for each in node.decorator_list}
    if owner and "property" in decorators:
        returns = ast.unparse(node.returns) if node.returns else ""
        yield f"**`{owner}{node.name}`** (`{returns}`): {_docstring(node)}\n"
        return
    node.args.args = [each for each in node.args.args if each.arg != "self"]
    # The positional-only None rejects decorators without brackets.
    node.args.posonlyargs = [each for each in node.args.posonlyargs if each.arg != "function"]
    if not node.args.posonlyargs and not node.args.args:
        node.args.defaults = []
    arguments = ast.unparse(node.args)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    yield f"```python\n{_wrapped(f'{owner}{node.name}', arguments, returns)}\n```\n"
    yield f"{_docstring(node)}\n"


def _wrapped(name: str, arguments: str, returns: str) -> str:
    text = f"{name}({arguments}){returns}"
    if len(text) <= 88:
        return text
    node = ast.parse(f"def f({arguments}): ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    lines = ",\n    ".join(_arguments(node.args))
    return f"{name}(\n    {lines},\n){returns}"


def _arguments(args: ast.arguments) -> Iterator[str]:
    defaults = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    for each in args.posonlyargs:
        yield ast.unparse(each)
    if args.posonlyargs:
        yield "/"
    for each, default in zip(args.args, defaults, strict=True):
        yield _argument(each, default)
    if args.vararg:
        yield f"*{ast.unparse(args.vararg)}"
    elif args.kwonlyargs:
        yield "*"
    for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _argument(each, default)
    if args.kwarg:
        yield f"**{ast.unparse(args.kwarg)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + ("" if default is None else f" = {ast.unparse(default)}")


def _fields(node: ast.ClassDef, lines: Sequence[str]) -> Iterator[str]:
    """Yield a row for each field of a dataclass or member of an enumeration."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            name, kind = each.target.id, ast.unparse(each.annotation)
        elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            name, kind = each.targets[0].id, ast.unparse(each.value)
        else:
            continue
        if not name.startswith("_"):
            comment = lines[(each.end_lineno or each.lineno) - 1].partition("#: ")[2]
            yield f"| `{name}` | `{kind.replace('|', chr(92) + '|')}` | {comment} |"


def _docstring(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Return the docstring with its `Raises:` as one paragraph."""
    text = ast.get_docstring(node) or ""
    head, _, raises = text.partition("\n\nRaises:\n")
    return f"{head}\n\nRaises: {' '.join(raises.split())}" if raises else head


# -- commands -------------------------------------------------------------------------------------


def commands_page() -> str:
    from django.core.management import load_command_class  # noqa: PLC0415 - after the settings

    folder = ROOT / "inbox" / "management" / "commands"
    names = sorted(path.stem for path in folder.glob("[!_]*.py"))
    parts = [
        "# Commands\n",
        (
            "`manage.py <command> --help` says the same. In the container: `docker compose exec "
            "web python manage.py <command>`.\n"
        ),
    ]
    for name in names:
        command = load_command_class("inbox", name)
        parser = command.create_parser("manage.py", name)
        parts.append(f"## {name}\n\n{' '.join(command.help.split())}\n")
        rows = list(_options(parser))
        if rows:
            parts.append("| Argument | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return _HEAD + "\n".join(parts)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list
        if action.dest in _OF_DJANGO:
            continue
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action._choices_actions:  # noqa: SLF001
                yield f"| `{each.dest} ...` | {each.help or ''} |"
            continue
        name = ", ".join(action.option_strings) or action.dest
        if action.option_strings and action.nargs != 0:
            name += f" {str(action.metavar or action.dest).upper()}"
        parts = [" ".join((action.help or "").split())]
        if action.choices:
            parts.append(f"one of {', '.join(f'`{each}`' for each in action.choices)}")
        if action.required and action.option_strings:
            parts.append("required")
        text = "; ".join(filter(None, parts)).replace("|", "\\|")
        yield f"| `{name}` | {text} |"


# -- error codes ----------------------------------------------------------------------------------


def errors_page() -> str:
    from agents.adapters.remote.remote_agent import FAILURES  # noqa: PLC0415
    from agents.sdk.workflow_steps import WorkflowChanged  # noqa: PLC0415
    from inbox.api.base.error_responses import status_of  # noqa: PLC0415
    from inbox.rules import errors  # noqa: PLC0415

    rejections: dict[str, tuple[int, str]] = {}
    for kind in _subclasses(errors.RequestRejected):
        rejections.setdefault(kind.code, (status_of(kind), _sentence(kind)))
    runs = dict(errors.PUBLIC_MESSAGES)
    blocked = errors.EventLoopBlocked.code
    runs[blocked] = runs[blocked].format(seconds=20, place="a line of its code")
    runs |= {WorkflowChanged.code: _sentence(WorkflowChanged), **FAILURES}
    parts = [
        "# Error codes\n",
        (
            "Codes are stable; sentences are not. Error responses of REST are problem documents "
            "(RFC 9457) with the code in `code`; over AG-UI the code is that of a `RUN_ERROR`, or "
            "of the problem document if no run was started.\n"
        ),
        "## Rejected requests\n",
        "| Code | HTTP status | Meaning |\n|---|---|---|",
        "\n".join(
            f"| `{code}` | {status} | {meaning} |"
            for code, (status, meaning) in sorted(rejections.items())
        )
        + "\n",
        "## Failed runs\n",
        (
            "In `error_code` of a run. An agent may send codes of its own in `RUN_ERROR`. See "
            "[Troubleshooting](../troubleshooting.md).\n"
        ),
        "| Code | Meaning |\n|---|---|",
        "\n".join(f"| `{code}` | {meaning} |" for code, meaning in sorted(runs.items())) + "\n",
    ]
    return _HEAD + "\n".join(parts)


def _subclasses(kind: type[T]) -> Iterator[type[T]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)


def _sentence(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    import django

    django.setup()
    main()
