"""`signoff hook HOST`: answer one event of a host, and deny whenever something goes wrong."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import platform
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from signoff_client import flows
from signoff_client.cli.exits import Terminated, terminable
from signoff_client.errors import (
    AlreadyStarted,
    ApiError,
    ConfigurationError,
    Denied,
    Expired,
    Lapsed,
    NotApproved,
    Pending,
    SignoffError,
    Unreachable,
)
from signoff_client.exchanges import encode
from signoff_client.hooks import attempts, words
from signoff_client.hooks.claude_code import ClaudeCode
from signoff_client.hooks.codex import Codex
from signoff_client.hooks.copilot_cli import CopilotCli
from signoff_client.hooks.cursor import Cursor
from signoff_client.hooks.events import (
    BLOCKED,
    RECORD_VARIABLE,
    Answer,
    Decision,
    Event,
    Host,
    Kind,
    UnexpectedEvent,
    blocked,
    is_same,
)
from signoff_client.hooks.gemini_cli import GeminiCli
from signoff_client.requests import Item, Request, answer_of, require_approval
from signoff_client.settings import read_settings, to_seconds
from signoff_client.transport import Transport

HOSTS: Final[dict[str, Host]] = {
    host.name: host for host in (ClaudeCode(), Codex(), GeminiCli(), CopilotCli(), Cursor())
}
#: After the wait, before the hook ends by itself: the answer of a server that is slow.
GRACE_SECONDS: Final = 20
#: How long a host's timeout has to be above the wait.
MARGIN_SECONDS: Final = 60
_PATIENCE_SECONDS: Final = 10
_LARGEST_EVENT: Final = 16 * 2**20
_LONGEST_RESULT: Final = 4_000
_LEASE_SECONDS: Final = 3_600


def run_hook(arguments: Sequence[str]) -> int:
    """Answer the event on standard input; return 2, which denies, whenever there is no answer."""
    output = _Output()
    try:
        with terminable():
            return _run(arguments, output)
    except (Exception, Terminated, KeyboardInterrupt) as error:
        text = str(error) or type(error).__name__
        return output.write(blocked(words.unavailable(f"the hook was ended: {text}")))


def _run(arguments: Sequence[str], output: _Output) -> int:
    options = _parse(arguments)
    host = HOSTS[options.host]
    try:
        event = host.read(_read_message(), options.event)
    except UnexpectedEvent as error:
        return output.write(blocked(words.unavailable(str(error))))
    is_skipped = event.kind is Kind.CALL and event.tool in options.skip.split(",")
    if event.kind is Kind.IGNORED or (is_skipped and event.tool):
        return 0
    if event.kind in (Kind.SUCCEEDED, Kind.FAILED, Kind.INTERRUPTED):
        return _report(host, event)
    if record := os.environ.get(RECORD_VARIABLE):
        with open(record, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{event.tool}\n")
        return output.write(blocked(words.CHECKED))
    wait_seconds = host.wait_seconds if options.wait is None else options.wait
    _end_in_time(wait_seconds + GRACE_SECONDS, host, event, output)
    gate = _Gate(host, event, options, deadline=time.monotonic() + wait_seconds)
    answer = gate.answer()
    code = output.write(answer)
    if code == BLOCKED or answer is not gate.permit:
        gate.give_up()
    return code


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="signoff hook")  # its exit code for wrong usage is 2
    parser.add_argument("host", choices=sorted(HOSTS))
    parser.add_argument("--wait", type=_seconds, help="how long the call waits for people")
    parser.add_argument(
        "--if-down",
        choices=("deny", "ask"),
        default="deny",
        help="ask: let the host prompt its own user while Signoff is unreachable, if it can",
    )
    parser.add_argument("--defer", action="store_true", help="Claude Code: defer open calls")
    parser.add_argument("--agent", default="", help="the agent that asks, if the key has none")
    parser.add_argument(
        "--skip", default="", help="tools that are not asked about, separated by commas"
    )
    parser.add_argument("--event", default="", help="Copilot CLI: the event of this hook")
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    return to_seconds(text) or 0.0


def _read_message() -> Mapping[str, Any]:
    data = sys.stdin.buffer.read(_LARGEST_EVENT + 1)
    if len(data) > _LARGEST_EVENT:
        raise UnexpectedEvent("the event is too large")
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnexpectedEvent(f"the event is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise UnexpectedEvent("the event is no object")
    return message


class _Output:
    """Writes one answer at most, whichever thread has it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.is_written = False

    def write(self, answer: Answer) -> int:
        """Return the exit code; 2 if nobody reads the answer."""
        with self._lock:
            if self.is_written:
                return BLOCKED
            self.is_written = True
            try:
                _write_all(2, f"{answer.error}\n" if answer.error else "")
                _write_all(1, answer.text)
            except OSError:
                return BLOCKED
            return answer.code


def _write_all(descriptor: int, text: str) -> None:
    """Write to the descriptor itself: Python's streams would fail once more at the end."""
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(descriptor, data) :]


def _end_in_time(seconds: float, host: Host, event: Event, output: _Output) -> None:
    """End the process before the host does: a call whose hook is killed runs."""

    def end() -> None:
        if not output.is_written:
            text = words.unavailable("it has not answered in time")
            os._exit(output.write(host.fail(event, text)))

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


class _Gate:
    """Asks about one event, waits, and starts what was approved."""

    def __init__(
        self, host: Host, event: Event, options: argparse.Namespace, *, deadline: float
    ) -> None:
        self._host = host
        self._event = event
        self._options = options
        self._deadline = deadline
        self._attempt: attempts.Attempt | None = None
        self._transport: Transport | None = None
        self.permit: Answer | None = None  #: the host's word for yes, once there is one

    def answer(self) -> Answer:
        """Return the answer for the host, whatever happens."""
        host, event = self._host, self._event
        if problem := _problem_of_json(event.args):
            return host.fail(event, words.unacceptable(problem))
        try:
            settings = read_settings(agent=self._options.agent)
            self._transport = Transport(settings)
            members = {"agent": settings.agent} if settings.agent else {}
            if event.kind is Kind.QUESTION:
                return self._ask_questions(members)
            return self._approve(members)
        except Unreachable as error:
            prompt = host.prompt(event) if self._options.if_down == "ask" else None
            return prompt or host.fail(event, words.unavailable(str(error)))
        except (ApiError, ConfigurationError) as error:
            is_final = isinstance(error, ApiError) and error.is_final
            text = words.unacceptable(_advice(error)) if is_final else words.unavailable(str(error))
            return host.fail(event, text)
        except (Exception, Terminated, KeyboardInterrupt) as error:
            text = f"{type(error).__name__}: {error}"
            return host.fail(event, words.unavailable(text))

    def give_up(self) -> None:
        """Report that the call did not run, because the host did not get the permit."""
        if self._attempt is not None and self._transport is not None:
            attempt = self._attempt
            attempts.forget(attempt)
            try:
                self._transport.run(
                    flows.report(
                        attempt.request,
                        attempt.item,
                        attempt.attempt,
                        "failed",
                        patience_seconds=_PATIENCE_SECONDS,
                        error="not run: the host did not read the answer of its hook",
                    )
                )
            except SignoffError:
                return

    def _approve(self, members: dict[str, Any]) -> Answer:
        event = self._event
        execution = {
            "report": self._host.reports,
            "effect": "once",
            "lease_seconds": _LEASE_SECONDS,
        }
        members |= {
            **self._common(),
            "attach": True,
            "tool": event.tool,
            "args": event.args,
            "may_edit": self._host.accepts_edits(event),
            "execution": execution,
        }
        if event.call_id:
            members["call_id"] = event.call_id
        if event.why:
            members["why"] = event.why
        while True:
            request: Request | None = None
            try:
                request = self._wait(members, key="")
                return self._start(request, _item_of(request, event))
            except (AlreadyStarted, Lapsed) as error:
                # Another call with the same arguments used this approval up: ask for one more.
                if time.monotonic() > self._deadline:
                    return self._host.block(event, words.ended(str(error)))
                time.sleep(0.2)
            except Pending as error:
                return self._pending(error.request)

    def _start(self, request: Request, item: Item) -> Answer:
        """Use up the approval, store the attempt, and return the host's word for yes."""
        host, event, transport = self._host, self._event, self._transport
        assert transport is not None  # noqa: S101
        decision = Decision(
            decider=item.decider,
            reason=item.reason,
            at=item.decided_at,
            url=request.url,
            args=item.args,
            edited=not is_same(item.args, event.args),
        )
        try:
            require_approval(request, item)
            attempt = str(uuid4())
            patience = {"patience_seconds": _PATIENCE_SECONDS}
            started = transport.run(
                flows.start(request, item, attempt, lease_seconds=_LEASE_SECONDS, **patience)
            )
        except Denied:
            return host.deny(event, decision)
        except (AlreadyStarted, Lapsed):
            raise
        except NotApproved as error:
            text = str(error)
            return host.block(event, words.ended(text) if isinstance(error, Expired) else text)
        args = started["args"]
        self._attempt = attempts.Attempt(request.id, item.id, attempt, args)
        decision = Decision(
            decider=decision.decider,
            at=decision.at,
            url=decision.url,
            args=args,
            edited=not is_same(args, event.args),
        )
        if decision.edited and (problem := host.refuse_edit(event, args)):
            error_ = f"not run: {problem}"
            report = flows.report(request.id, item.id, attempt, "failed", error=error_)
            transport.run(report)
            self._attempt = None
            return host.block(event, words.edit_refused(problem))
        if host.reports:
            attempts.store(host.name, event, self._attempt)
        self.permit = host.allow(event, decision)
        return self.permit

    def _pending(self, request: Request) -> Answer:
        if self._options.defer and isinstance(self._host, ClaudeCode):
            deferred = self._host.defer(self._event)
            if deferred is not None:
                return deferred
        return self._host.block(self._event, words.pending(request.url))

    def _ask_questions(self, members: dict[str, Any]) -> Answer:
        """Ask questions of the host's; without an answer in time they are withdrawn."""
        host, event, transport = self._host, self._event, self._transport
        assert transport is not None  # noqa: S101
        items = host.questions(event)
        body = flows.request_members(members, self._common(), items)
        try:
            request = self._wait(body, key=str(uuid4()))
            answers = {item.id: answer_of(request, item) for item in request.items}
        except Pending as error:
            text = words.unanswered_question()
            transport.run(flows.withdraw(error.request.id, "the program stopped waiting"))
            return host.block(event, text)
        except Denied as error:
            return host.deny(event, Decision(decider=error.item.decider, reason=error.reason))
        except NotApproved as error:
            return host.block(event, words.ended(str(error)))
        return host.answer_questions(event, answers)

    def _common(self) -> dict[str, Any]:
        event = self._event
        session = {"id": f"{self._host.name}:{event.session}"[:200]}
        if event.folder:
            session["title"] = event.folder
        return {"session": session, "requester": {"name": _requester()}}

    def _wait(self, members: Mapping[str, Any], *, key: str) -> Request:
        """Ask and wait; raise Pending."""
        transport = self._transport
        assert transport is not None  # noqa: S101
        left = max(self._deadline - time.monotonic(), 0)
        request = transport.run(
            flows.create(members, key=key, wait_seconds=left, patience_seconds=_PATIENCE_SECONDS)
        )
        if not request.is_open:
            return request
        left = max(self._deadline - time.monotonic(), 0)
        return transport.run(flows.wait(request.id, left))


def _problem_of_json(args: Mapping[str, Any]) -> str:
    """Return why the arguments cannot be sent to anybody, or nothing."""
    try:
        encode(args)
    except UnicodeEncodeError:
        return words.LONE_SURROGATE
    except (TypeError, ValueError) as error:
        return f"its arguments are no JSON: {error}"
    return ""


def _advice(error: ApiError | ConfigurationError) -> str:
    """Return what was refused, and the change that helps where the answer does not say it."""
    if isinstance(error, ApiError) and error.code == "TOO_LARGE":
        return f"{words.sentence(str(error))} {words.TOO_LARGE}"
    return str(error)


def _item_of(request: Request, event: Event) -> Item:
    """Return the item that is about the event: a set that was joined may have others."""
    if len(request.items) == 1:
        return request.item
    items = [item for item in request.items if item.tool == event.tool]
    if len(items) != 1:
        raise UnexpectedEvent(f"request {request.id} has {len(items)} calls of {event.tool}")
    return items[0]


def _requester() -> str:
    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (KeyError, OSError):
        return platform.node()


def _report(host: Host, event: Event) -> int:
    """Report how a call ended; nothing is blocked after it."""
    attempt = attempts.claim(host.name, event)
    if attempt is None:
        return 0
    outcome = {Kind.SUCCEEDED: "succeeded", Kind.FAILED: "failed"}.get(event.kind, "unknown")
    more: dict[str, Any] = {"executed_args": {**attempt.args, **event.args}}
    if event.kind is Kind.SUCCEEDED:
        more["result"] = _bounded(event.result)
    else:
        more["error"] = event.error[:_LONGEST_RESULT]
    steps = flows.report(
        attempt.request,
        attempt.item,
        attempt.attempt,
        outcome,
        patience_seconds=_PATIENCE_SECONDS,
        **more,
    )
    try:
        Transport(read_settings()).run(steps)
    except SignoffError as error:
        _write_all(2, f"signoff: the end of a call could not be reported: {error}\n")
    return 0


def _bounded(result: Any) -> Any:
    """Return the result, or the begin of its JSON if it is long."""
    text = json.dumps(result)
    return result if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT]} ..."
