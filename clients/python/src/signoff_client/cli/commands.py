"""Parse the command line, run one command, and turn what happened into an exit code."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from signoff_client.cli.exits import Exit, Terminated, code_of, complain, terminable
from signoff_client.errors import SignoffError
from signoff_client.settings import to_seconds

HOSTS = ("claude-code", "codex", "gemini-cli", "copilot-cli", "cursor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["hook"]:  # a path of its own: whatever goes wrong in it must deny
        from signoff_client.hooks.gate import run_hook  # noqa: PLC0415

        return run_hook(words[1:])
    options = _parser().parse_args(words)
    try:
        with terminable():
            return int(options.run(options))
    except (SignoffError, ValueError) as error:
        complain(str(error))
        return code_of(error)
    except Terminated as signal_:
        complain(f"ended by {signal_}; the request, if there is one, is still open")
        return Exit.PENDING
    except KeyboardInterrupt:
        complain("interrupted; the request, if there is one, is still open")
        return Exit.PENDING


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="signoff",
        description="Ask people for approval in Signoff.",
        epilog="The address and the key are in SIGNOFF_URL and SIGNOFF_API_KEY, or in the "
        "credentials file. Exit codes: 0 yes, 1 no, 2 usage, 3 expired or withdrawn, 4 pending, "
        "5 unreachable, 6 in doubt, 7 the approved command failed.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_asking(commands)
    _add_requests(commands)
    _add_hooks(commands)
    return parser


def _add_asking(commands: Any) -> None:
    from signoff_client.cli.asking import ask  # noqa: PLC0415
    from signoff_client.cli.running import run  # noqa: PLC0415

    parser = commands.add_parser("ask", help="ask a question, or for a call of a tool")
    parser.add_argument("title", help='the question, for example "Deploy?"')
    parser.add_argument("--schema", type=_json, help="JSON Schema of the answer, or @FILE")
    parser.add_argument("--tool", help="ask for the approval of a call of this tool")
    parser.add_argument("--args", type=_json, help="the arguments of the tool, or @FILE")
    _add_members(parser)
    parser.set_defaults(run=ask)

    parser = commands.add_parser("run", help="run a command once it is approved")
    parser.add_argument("--title", default="", help="the title of the request")
    _add_members(parser)
    parser.add_argument(
        "--effect",
        choices=("once", "idempotent"),
        default="once",
        help="whether the command may run again after an error (default: once)",
    )
    parser.add_argument("command", nargs="+", help="the command, after --")
    parser.set_defaults(run=run)


def _add_members(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait", type=_seconds, default=86_400.0, help="how long to wait, 0 for not at all (1d)"
    )
    parser.add_argument("--why", help="the reason, for the people who decide")
    parser.add_argument("--may-edit", action="store_true", help="reviewers may change arguments")
    parser.add_argument("--expires-in", type=_seconds, help="when the request expires (1d)")
    parser.add_argument("--session", help="the id of the job that asks, to group its requests")
    parser.add_argument("--agent", help="the agent that asks, if the key has none")
    parser.add_argument(
        "--key", default="", help="your own idempotency key: the same one, the same request"
    )


def _add_requests(commands: Any) -> None:
    from signoff_client.cli import asking  # noqa: PLC0415

    parser = commands.add_parser("get", help="show a request, or wait for it")
    parser.add_argument("request", help="the id of the request")
    parser.add_argument(
        "--wait", type=_seconds, default=0.0, help="how long to wait until it is decided"
    )
    parser.set_defaults(run=asking.get)

    runs = commands.add_parser("runs", help="show why a run failed")
    actions = runs.add_subparsers(required=True, metavar="ACTION")
    parser = actions.add_parser("show", help="show the status, the error and the exceptions")
    parser.add_argument("run_id", metavar="run", help="the id of the run")
    parser.set_defaults(run=asking.show_run)

    parser = commands.add_parser("list", help="list the newest requests, one JSON text a line")
    parser.add_argument("--session", help="those of this session")
    parser.add_argument("--status", help="open, decided, done, withdrawn, expired or lapsed")
    parser.add_argument("--agent", help="those of this agent")
    parser.set_defaults(run=asking.list_requests)

    parser = commands.add_parser("withdraw", help="close what is still open of a request")
    parser.add_argument("request", help="the id of the request")
    parser.add_argument("--reason", default="", help="why, for the people who were asked")
    parser.set_defaults(run=asking.withdraw)

    parser = commands.add_parser("report", help="report how an approved call ended")
    parser.add_argument("request", help="the id of the request")
    parser.add_argument("--item", help="the id of the item, if there are several")
    parser.add_argument("--attempt", required=True, help="the attempt that `signoff ask` printed")
    parser.add_argument("--outcome", required=True, choices=("succeeded", "failed", "unknown"))
    parser.add_argument("--result", type=_json, help="the result as JSON, or @FILE")
    parser.add_argument("--error", help="what went wrong")
    parser.set_defaults(run=asking.report)


def _add_hooks(commands: Any) -> None:
    from signoff_client.hooks import check, install  # noqa: PLC0415

    commands.add_parser("hook", help="answer the hook of a coding agent: signoff hook HOST")
    hooks = commands.add_parser("hooks", help="install or check the hooks of a coding agent")
    actions = hooks.add_subparsers(required=True, metavar="ACTION")
    parser = actions.add_parser("install", help="write the hooks into the settings of the host")
    parser.add_argument("host", choices=HOSTS)
    parser.add_argument("--wait", type=_seconds, help="how long a call waits for people")
    parser.add_argument("--matcher", default="", help="the tools that need approval, as a regexp")
    parser.add_argument(
        "--managed", action="store_true", help="for all users of this machine, as administrator"
    )
    parser.add_argument(
        "--interactive",
        action="store_true",
        help="Codex: answer its own prompts only, instead of every call",
    )
    parser.add_argument("--agent", default="", help="the agent that asks, if the key has none")
    parser.set_defaults(run=install.install)
    parser = actions.add_parser("check", help="say what is missing for the hooks to work")
    parser.add_argument("host", choices=HOSTS)
    parser.add_argument(
        "--files-only", action="store_true", help="do not start the host to try the hook"
    )
    parser.set_defaults(run=check.check)


def _seconds(text: str) -> float:
    try:
        return to_seconds(text) or 0.0
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _json(text: str) -> Any:
    try:
        text = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON: {error}") from error
