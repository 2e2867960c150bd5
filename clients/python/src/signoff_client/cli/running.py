"""`signoff run`: a command that runs once it is approved, as it was approved."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from signoff_client.calls import LeaseKeeper, StartedCall
from signoff_client.cli.asking import members_of, wait_for
from signoff_client.cli.exits import Exit, complain
from signoff_client.client import LEASE_SECONDS, Signoff
from signoff_client.errors import EditRefused, SignoffError

TOOL = "run_command"


def run(options: Namespace) -> Exit:
    """Ask for a command, run what was approved without a shell, and report how it ended."""
    execution = {"report": True, "effect": options.effect, "lease_seconds": LEASE_SECONDS}
    members = {
        **members_of(options),
        "tool": TOOL,
        "args": {"command": shlex.join(options.command), "cwd": str(Path.cwd())},
        "may_edit": options.may_edit,
        "execution": execution,
    }
    signoff = Signoff()
    request = signoff.create_request(key=options.key, **members)
    call = signoff.start_call(wait_for(signoff, request, options.wait), effect=options.effect)
    try:
        words, cwd = _approved_command(call.args)
    except ValueError as error:
        _report(signoff, call, "failed", error=str(error))
        raise EditRefused(f"Not run: {error}", call.request, call.item) from error
    return _run(signoff, call, words, cwd)


def _approved_command(args: Mapping[str, Any]) -> tuple[list[str], str]:
    if set(args) != {"command", "cwd"} or not all(isinstance(v, str) for v in args.values()):
        raise ValueError("the approved arguments are not a command and a directory")
    words = shlex.split(args["command"])
    if not words:
        raise ValueError("the approved command is empty")
    return words, args["cwd"]


def _run(signoff: Signoff, call: StartedCall, words: list[str], cwd: str) -> Exit:
    environment = {**os.environ, "SIGNOFF_IDEMPOTENCY_KEY": call.idempotency_key}
    signals = _Signals()  # from now on the command gets them, and this process outlives it
    try:
        process = subprocess.Popen(words, cwd=cwd, env=environment)
    except (OSError, ValueError) as error:
        _report(signoff, call, "failed", error=f"not started: {error}")
        complain(f"{words[0]} was approved, but cannot be started: {error}")
        return Exit.FAILED
    signals.send_to(process)
    with LeaseKeeper(lambda: signoff.prolong(call), call.lease_seconds):
        code = process.wait()
    if code == 0:
        executed = dict(call.args)
        _report(signoff, call, "succeeded", result={"exit_code": 0}, executed_args=executed)
        return Exit.YES
    ending = f"ended with code {code}" if code > 0 else f"ended by signal {-code}"
    is_safe = call.effect == "idempotent"
    _report(signoff, call, "failed" if is_safe else "unknown", error=ending)
    more = "" if is_safe else "; Signoff asks a person whether it took effect"
    complain(f"{words[0]} was approved and {ending}{more}")
    return Exit.FAILED if is_safe else Exit.IN_DOUBT


class _Signals:
    """Passes SIGTERM and SIGHUP on to a process; a terminal sends SIGINT to both by itself."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: int | None = None
        signal.signal(signal.SIGINT, lambda *_: None)  # a command would inherit SIG_IGN
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._handle)

    def send_to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        if self._early is not None:
            self._handle(self._early, None)

    def _handle(self, number: int, _: Any) -> None:
        if self._process is None:
            self._early = number
        else:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


def _report(signoff: Signoff, call: StartedCall, outcome: str, **more: Any) -> None:
    try:
        signoff.report(call.request.id, call.item.id, call.attempt, outcome, **more)
    except SignoffError as error:
        complain(f"Signoff could not be told how the command ended: {error}")
