"""The commands ask, get, list, withdraw and report."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from signoff_client.calls import StartedCall
from signoff_client.cli.exits import Exit, complain, write, write_json
from signoff_client.client import Signoff
from signoff_client.errors import Denied
from signoff_client.requests import Request, answer_of


def members_of(options: Namespace) -> dict[str, Any]:
    """Return the members of a request that `ask` and `run` have in common."""
    members: dict[str, Any] = {}
    if options.expires_in is not None:
        members["expires_in"] = int(options.expires_in)
    if options.session:
        members["session"] = {"id": options.session}
    texts = {"why": options.why, "title": options.title, "agent": options.agent}
    return members | {name: text for name, text in texts.items() if text}


def ask(options: Namespace) -> Exit:
    """Ask; print the answer, or for a tool the permit to run it."""
    members = members_of(options)
    if options.tool:
        members |= {"tool": options.tool, "args": options.args or {}, "may_edit": options.may_edit}
    elif options.args is not None or options.may_edit:
        raise ValueError("--args and --may-edit are for --tool")
    if options.schema is not None:
        members["answer_schema"] = options.schema
    signoff = Signoff()
    request = signoff.create_request(key=options.key, **members)
    request = wait_for(signoff, request, options.wait)
    if options.tool:
        return _print_permit(signoff, signoff.start_call(request))
    return _print_answer(request)


def wait_for(signoff: Signoff, request: Request, seconds: float) -> Request:
    """Wait for a request after its address is on standard error, for whoever has to resume."""
    if request.is_open:
        complain(f"request {request.id} is open: {request.url}")
    return signoff.wait(request, seconds)


def _print_answer(request: Request) -> Exit:
    try:
        answer = answer_of(request, request.item)
    except Denied as denied:
        if denied.reason:
            complain(denied.reason)
        answer = False
    if answer is False and request.item.reason:
        complain(request.item.reason)
    if isinstance(answer, bool):
        write("yes" if answer else "no")
        return Exit.YES if answer else Exit.NO
    write(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    return Exit.YES


def _print_permit(signoff: Signoff, call: StartedCall) -> Exit:
    permit = {
        "request": call.request.id,
        "item": call.item.id,
        "attempt": call.attempt,
        "args": call.args,
        "idempotency_key": call.idempotency_key,
    }
    if write_json(permit):
        return Exit.YES
    error = "not run: nobody read the permit"
    signoff.report(call.request.id, call.item.id, call.attempt, "failed", error=error)
    complain(error)
    return Exit.USAGE


def get(options: Namespace) -> Exit:
    """Print a request; the exit code is that of its only item."""
    signoff = Signoff()
    request = signoff.get(options.request)
    if request.is_open and options.wait:
        request = signoff.wait(request, options.wait)
    write_json(request.raw)
    return _status_code(request)


def _status_code(request: Request) -> Exit:
    if request.is_open:
        return Exit.PENDING
    if request.status in ("withdrawn", "expired", "lapsed"):
        return Exit.EXPIRED
    if any(item.state == "in_doubt" for item in request.items):
        return Exit.IN_DOUBT
    refused = any(item.status == "denied" or item.payload is False for item in request.items)
    return Exit.NO if refused else Exit.YES


_CODES_OF_RUNS = {"succeeded": Exit.YES, "failed": Exit.NO, "cancelled": Exit.NO}


def show_run(options: Namespace) -> Exit:
    """Print the status of a run, its error, and what its agent raised."""
    run = Signoff().get_run(options.run_id)
    terminal = run["terminal_event"] or {}
    words = (run["status"], run["error_code"], terminal.get("message", ""))
    lines = [" ".join(word for word in words if word), *(run["exceptions"] or ())]
    write("\n".join(_printable(line) for text in lines for line in text.split("\n")))
    if run["exceptions"] is None:
        complain("exceptions are for keys with the scope run, where the team stores_exceptions")
    return _CODES_OF_RUNS.get(run["status"], Exit.PENDING)


def _printable(line: str) -> str:
    """Escape what could steer a terminal: the text is of an agent."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def list_requests(options: Namespace) -> Exit:
    """Print one request a line."""
    filters = {"session": options.session, "status": options.status, "agent": options.agent}
    for request in Signoff().list(**{name: text for name, text in filters.items() if text}):
        if not write_json(request.raw):
            break
    return Exit.YES


def withdraw(options: Namespace) -> Exit:
    write_json(Signoff().withdraw(options.request, options.reason).raw)
    return Exit.YES


def report(options: Namespace) -> Exit:
    """Report how a call ended."""
    signoff = Signoff()
    item = options.item or signoff.get(options.request).item.id
    more = {"result": options.result, "error": options.error}
    more = {name: value for name, value in more.items() if value is not None}
    answer = signoff.report(options.request, item, options.attempt, options.outcome, **more)
    write_json(answer)
    return Exit.IN_DOUBT if answer.get("state") == "in_doubt" else Exit.YES
