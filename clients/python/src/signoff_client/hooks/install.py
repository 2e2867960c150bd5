"""`signoff hooks install HOST`: write the hooks into the settings of a user or a machine."""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from signoff_client.cli.exits import Exit, complain, write
from signoff_client.errors import ConfigurationError
from signoff_client.hooks.gate import HOSTS, MARGIN_SECONDS
from signoff_client.hooks.layouts import LAYOUTS, Layout
from signoff_client.settings import check_url, read_settings, write_credentials

_REPORT_SECONDS: Final = 30
#: Turns every failure of a hook into the exit code that denies: also a program that is missing.
FAIL_CLOSED: Final = " || exit 2"


def install(options: Namespace) -> Exit:
    """Write the hooks, beside what is in the settings already; the same again changes nothing."""
    layout = LAYOUTS[options.host]
    _ensure_credentials()
    path = layout.file(managed=options.managed)
    _refuse_repository(path)
    wait_seconds = HOSTS[options.host].wait_seconds if options.wait is None else options.wait
    if wait_seconds < 1:
        raise ValueError("--wait must be at least a second")
    settings = read_json(path)
    events = _events(layout, options, wait_seconds)
    merged = _merge(settings, layout, options.host, events)
    if merged != settings:
        _write_json(path, merged)
    write(f"{path}: {', '.join(events)} ask in Signoff, {wait_seconds:g} s at most")
    if options.host == "codex":
        write("Codex runs hooks only after you have trusted them: start codex, and open /hooks")
    write(f"Next: signoff hooks check {options.host}")
    return Exit.YES


def _events(layout: Layout, options: Namespace, wait_seconds: float) -> dict[str, dict[str, Any]]:
    """Return the entry of each event."""
    gates = layout.gates
    if options.interactive:
        if options.host != "codex":
            raise ValueError("--interactive is for codex")
        gates = {"PermissionRequest": layout.matcher}
    command = f"{program()} hook {options.host}"
    if options.agent:
        command += f" --agent {shlex.quote(options.agent)}"
    if options.matcher and not layout.matcher:
        raise ValueError(f"{options.host} has no matchers")
    skip = f" --skip {','.join(layout.skip)}" if layout.skip and not options.matcher else ""
    entries: dict[str, dict[str, Any]] = {}
    for event, default in gates.items():
        name = f" --event {event}" if layout.names_event else ""
        words = f"{command}{name}{skip} --wait {wait_seconds:g}{FAIL_CLOSED}"
        timeout = wait_seconds + MARGIN_SECONDS
        matcher = options.matcher or default
        entries[event] = layout.entry(words, timeout, matcher=matcher, is_gate=True)
    for event in layout.reports:
        name = f" --event {event}" if layout.names_event else ""
        words = f"{command}{name}"
        matcher = options.matcher or layout.matcher
        entries[event] = layout.entry(words, _REPORT_SECONDS, matcher=matcher, is_gate=False)
    return entries


def program() -> str:
    """Return the command of this program by its full path: hosts have another PATH."""
    path = shutil.which("signoff") if Path(sys.argv[0]).stem.lower() != "signoff" else sys.argv[0]
    if path:
        return shlex.quote(str(Path(path).absolute()))
    return f"{shlex.quote(sys.executable)} -m signoff_client"


def is_ours(command: str, host: str) -> bool:
    """Return whether a command of the settings is this hook, wherever it is installed."""
    program = r"signoff(?:_client|\.exe)?['\"]? hook "
    return bool(re.search(rf"{program}{re.escape(host)}\b", command, re.IGNORECASE))


def read_json(path: Path) -> dict[str, Any]:
    """Return the settings in a file, or none; raise ConfigurationError for other JSON."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8") or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read, and stays as it is: {error}") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(rows, list) for rows in hooks.values()):
        raise ConfigurationError(f"{path} has no object with lists of hooks, and stays as it is")
    return dict(settings)


def _merge(
    settings: Mapping[str, Any], layout: Layout, host: str, events: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the settings with these entries instead of our older ones."""
    hooks: dict[str, Any] = {}
    for event, entries in settings.get("hooks", {}).items():
        others = [entry for entry in entries if not _has_ours(layout, entry, host)]
        if others or not entries:
            hooks[event] = others
    for event, entry in events.items():
        hooks[event] = [*hooks.get(event, []), entry]
    version = {} if layout.version is None else {"version": layout.version}
    return {**version, **settings, "hooks": hooks}


def _has_ours(layout: Layout, entry: Any, host: str) -> bool:
    return any(is_ours(hook.command, host) for hook in layout.hooks({"hooks": {"any": [entry]}}))


def _write_json(path: Path, settings: Mapping[str, Any]) -> None:
    """Replace the file at once, with the mode that it had; the one before it stays beside it."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if path.exists():
        shutil.copymode(path, draft)
        shutil.copy2(path, path.with_name(f"{path.name}.before-signoff"))
    draft.replace(path)


def _refuse_repository(path: Path) -> None:
    """Refuse settings that belong to the repository one is in: they are for all who clone it."""
    target = path.resolve()
    for folder in (Path.cwd().resolve(), *Path.cwd().resolve().parents):
        if (folder / ".git").exists() and folder != Path.home().resolve():
            if folder in target.parents:
                raise ConfigurationError(
                    f"{path} belongs to the repository {folder}. Hooks are installed for a user "
                    "or a machine, never in a repository."
                )
            return


def _ensure_credentials() -> None:
    """Ask for the address and the key on a terminal unless they are there."""
    try:
        read_settings()
    except ConfigurationError:
        if not sys.stdin.isatty():
            raise
    else:
        return
    complain("The address and a key of Signoff are stored for you alone.")
    url = check_url(os.environ.get("SIGNOFF_URL") or input("Address of Signoff: ").strip())
    key = os.environ.get("SIGNOFF_API_KEY") or getpass.getpass("API key: ").strip()
    write(f"{write_credentials({'url': url, 'api_key': key})} has the address and the key")
