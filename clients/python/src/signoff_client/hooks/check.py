"""`signoff hooks check HOST`: say what is missing for the hooks to work."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import threading
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from signoff_client import flows
from signoff_client.cli.exits import Exit, write
from signoff_client.errors import ConfigurationError, SignoffError
from signoff_client.hooks.gate import GRACE_SECONDS, HOSTS
from signoff_client.hooks.install import FAIL_CLOSED, is_ours, read_json
from signoff_client.hooks.layouts import LAYOUTS, Hook, Layout
from signoff_client.hooks.real_host import Seen, Trial, try_host
from signoff_client.settings import read_settings, to_seconds
from signoff_client.transport import Transport

_PATIENCE_SECONDS: Final = 5
_CODEX_SECONDS: Final = 30


def check(options: Namespace) -> Exit:
    """Print a line for each problem; exit with 0 if there is none."""
    problems = [*_hook_problems(options.host)]
    notes = [*_narrower_matchers(options.host)]
    if not problems and not options.files_only:
        trial = try_host(options.host)
        is_problem = trial.seen is Seen.NO_HOOK and not notes  # a matcher of one's own may miss it
        (problems if is_problem else notes).append(_sentence(trial))
    problems = [*_server_problems(), *problems]
    for problem in problems:
        write(f"missing: {problem}")
    for note in notes:
        write(f"note: {note}")
    if not problems:
        write(f"The hooks of {options.host} are complete, and Signoff answers.")
    return Exit.NO if problems else Exit.YES


def _sentence(trial: Trial) -> str:
    match trial.seen:
        case Seen.HOOK:
            return f"{trial.program} asked the hook before a harmless call, and did not run it"
        case Seen.NO_HOOK:
            return f"{trial.program} went on with a harmless call without asking the hook"
    return f"no call was tried through the host: {trial.why}"


def _server_problems() -> Iterator[str]:
    try:
        settings = read_settings()
        steps = flows.list_requests({"status": "open"}, patience_seconds=_PATIENCE_SECONDS)
        Transport(settings).run(steps)
    except SignoffError as error:
        yield str(error)


def _hook_problems(host: str) -> Iterator[str]:
    layout = LAYOUTS[host]
    hooks: list[Hook] = []
    for path in _files(layout):
        try:
            settings = read_json(path)
        except ConfigurationError as error:
            yield str(error)
            continue
        yield from _switches(path, settings)
        hooks += [hook for hook in layout.hooks(settings) if is_ours(hook.command, host)]
    yield from _unread_problems(host, layout)
    yield from _installation_problems(host, layout, hooks)
    if host == "codex" and hooks:
        yield from _trust_problems(layout.file(managed=False))


def _files(layout: Layout) -> list[Path]:
    managed = [layout.file(managed=True)] if layout.managed_files else []
    return [layout.file(managed=False), *managed]


def _hooks_in(paths: Iterable[Path], host: str) -> Iterator[tuple[Path, Hook]]:
    """Yield our hooks in the files that can be read."""
    for path in paths:
        with suppress(ConfigurationError):
            for hook in LAYOUTS[host].hooks(read_json(path)):
                if is_ours(hook.command, host):
                    yield path, hook


def _switches(path: Path, settings: Mapping[str, Any]) -> Iterator[str]:
    """Name the settings of hosts that turn hooks off."""
    if settings.get("disableAllHooks") is True:
        yield f"{path} has disableAllHooks: no hook runs"
    switches = settings.get("hooksConfig")  # Gemini CLI
    if isinstance(switches, dict):
        if switches.get("enabled") is False:
            yield f"{path} has hooksConfig.enabled: false: no hook runs"
        if "signoff" in (switches.get("disabled") or ()):
            yield f"{path} has signoff in hooksConfig.disabled: the hook does not run"


def _unread_problems(host: str, layout: Layout) -> Iterator[str]:
    """Name files of earlier versions: they look like a gate and are none."""
    for path in dict.fromkeys(path for path, _ in _hooks_in(layout.unread_files(), host)):
        yield f"{path} has hooks, and {host} does not read this file; remove them"


def _installation_problems(host: str, layout: Layout, hooks: list[Hook]) -> Iterator[str]:
    again = f"run: signoff hooks install {host}"
    events = {hook.event for hook in hooks}
    gates = set(layout.gates) | ({"PermissionRequest"} if host == "codex" else set())
    if not events & gates:
        yield f"no hook before a call in {layout.file(managed=False)}; {again}"
    elif host != "codex":
        for event in sorted(gates - events):
            yield f"no hook for {event}, so that some tools run unasked; {again}"
    if host == "codex" and gates <= events:
        names = " and ".join(sorted(gates))
        yield f"Codex has hooks for both {names}: each call asks twice; {again}"
    for event in layout.reports:
        if events and event not in events:
            yield f"no hook for {event}, so that nobody learns how calls end; {again}"
    for hook in hooks:
        yield from (f"{hook.event}: {text}; {again}" for text in _problems_of(host, hook, gates))


def _narrower_matchers(host: str) -> Iterator[str]:
    """Name matchers that somebody chose: hosts run whatever they do not fit."""
    layout = LAYOUTS[host]
    for _, hook in _hooks_in(_files(layout), host):
        default = layout.gates.get(hook.event, layout.matcher)
        if hook.event in layout.reports or hook.matcher in (default, *layout.older_matchers):
            continue
        yield (
            f"{hook.event} asks only about tools that fit `{hook.matcher}`; "
            f"without --matcher it asks about all that fit `{default}`"
        )


def _problems_of(host: str, hook: Hook, gates: set[str]) -> Iterator[str]:
    words = shlex.split(hook.command)
    if not shutil.which(words[0]):
        yield f"{words[0]} is no program"
    if hook.event not in gates:
        return
    if not hook.command.endswith(FAIL_CLOSED):
        yield f"the command does not end in `{FAIL_CLOSED.strip()}`, so that failures let calls run"
    wait_seconds = HOSTS[host].wait_seconds
    if hook.matcher in LAYOUTS[host].older_matchers:
        yield f"the matcher `{hook.matcher}` is of an earlier version and misses tools that act"
    if "--wait" in words[:-1]:
        wait_seconds = to_seconds(words[words.index("--wait") + 1]) or 0
    if hook.timeout_seconds is None or hook.timeout_seconds <= wait_seconds + GRACE_SECONDS:
        yield (
            f"the host ends the hook after {hook.timeout_seconds or 'an unknown number of'} s, "
            f"which has to be more than {wait_seconds + GRACE_SECONDS:g} s"
        )


def _trust_problems(path: Path) -> Iterator[str]:
    """Ask Codex itself: hooks that are not trusted are skipped without a word."""
    advice = "start codex, open /hooks, and trust the hooks of Signoff"
    if not shutil.which("codex"):
        yield f"codex is not on the PATH, so that trust cannot be checked; {advice}"
        return
    try:
        hooks = _codex_hooks()
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        yield f"codex does not say which hooks it trusts ({error}); {advice}"
        return
    for hook in hooks:
        command = hook.get("command") or ""
        is_this = is_ours(command, "codex") and hook.get("sourcePath") == str(path.resolve())
        runs = hook.get("enabled") and hook.get("trustStatus") in ("trusted", "managed")
        if is_this and not runs:
            yield f"Codex does not run the hook for {hook.get('eventName')}, silently; {advice}"
    if not any(is_ours(hook.get("command") or "", "codex") for hook in hooks):
        yield f"Codex has not read {path}; look for hooks = false in its config.toml"


def _codex_hooks() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"clientInfo": {"name": "signoff", "version": "1"}},
        },
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(Path.cwd())]}},
    ]
    process = subprocess.Popen(
        ["codex", "app-server"],  # noqa: S607 - the user's own
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        text=True,
    )
    timer = threading.Timer(_CODEX_SECONDS, process.kill)
    timer.start()
    with process:
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return [hook for row in answer["result"]["data"] for hook in row["hooks"]]
        finally:
            timer.cancel()
            process.kill()
    raise ValueError("it ended without an answer")
