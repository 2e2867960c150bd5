"""Hosts' events and our answers, in the terms that all hosts share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Any


class Kind(Enum):
    """The kinds of messages that hosts send."""

    CALL = "call"  #: may this call of a tool run?
    QUESTION = "question"  #: questions to the user
    SUCCEEDED = "succeeded"  #: a call has ended
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    IGNORED = "ignored"  #: nothing to do; the host goes on as without the hook


@dataclass(frozen=True)
class Event:
    """One message of a host."""

    kind: Kind
    name: str  #: the host's own name of the event
    session: str
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = ""  #: the host's id of the call, if it has one
    cwd: str = ""
    mode: str = ""  #: the permission mode of the host
    why: str = ""
    result: Any = None
    error: str = ""

    @property
    def folder(self) -> str:
        return PurePath(self.cwd).name


@dataclass(frozen=True)
class Decision:
    """A decision on a call, or the reason why there is none."""

    decider: str = ""
    reason: str = ""
    at: str | None = None
    url: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    edited: bool = False

    @property
    def local_time(self) -> str:
        """Hours and minutes of the decision in the time zone of this machine."""
        if not self.at:
            return ""
        return datetime.fromisoformat(self.at.replace("Z", "+00:00")).astimezone().strftime("%H:%M")


@dataclass(frozen=True)
class Answer:
    """The output, the error text and the exit code of the hook."""

    output: Mapping[str, Any] | None = None
    error: str = ""
    code: int = 0

    @property
    def text(self) -> str:
        return "" if self.output is None else to_text(self.output)


#: Names a file. A hook with this variable writes each call's tool into it, and denies the call.
RECORD_VARIABLE = "SIGNOFF_HOOK_RECORD"
BLOCKED = 2  #: the exit code with which a hook denies


def to_text(output: Mapping[str, Any]) -> str:
    return json.dumps(output, indent=2, ensure_ascii=False) + "\n"


def blocked(text: str) -> Answer:
    """Deny without a word that only one event of one host understands."""
    return Answer(error=text, code=BLOCKED)


def is_same(first: Any, second: Any) -> bool:
    """Compare JSON values; unlike Python, JSON has no equality of true and 1."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            is_same(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same, first, second))
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def changed_members(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of the members that were added, removed or changed."""
    return [
        name
        for name in {**before, **after}
        if name not in before or name not in after or not is_same(before[name], after[name])
    ]


class UnexpectedEvent(ValueError):
    """The host sent something that this hook does not know; the call must not run."""


class Host(ABC):
    """The messages of one host, and the answers that it understands."""

    name: str
    #: How long calls wait for people unless `--wait` says otherwise: below the host's own timeout.
    wait_seconds: float
    #: Whether the host tells how calls end.
    reports: bool = True

    @abstractmethod
    def read(self, message: Mapping[str, Any], event_name: str) -> Event:
        """Return the event; raise UnexpectedEvent. `event_name` is from the command line."""

    @abstractmethod
    def allow(self, event: Event, decision: Decision) -> Answer: ...

    @abstractmethod
    def deny(self, event: Event, decision: Decision) -> Answer:
        """Pass on the denial of a person, a key or a policy."""

    @abstractmethod
    def block(self, event: Event, text: str) -> Answer:
        """Deny because there is no decision, or none that can be carried out."""

    def fail(self, event: Event, text: str) -> Answer:
        """Deny because something is broken."""
        return self.block(event, text)

    def accepts_edits(self, event: Event) -> bool:
        del event
        return True

    def refuse_edit(self, event: Event, args: Mapping[str, Any]) -> str:
        """Return why the host cannot run these arguments, or nothing."""
        del event, args
        return ""

    def prompt(self, event: Event) -> Answer | None:
        """Return the answer that lets the host prompt its own user, if it would do so now."""
        del event
        return None

    def answer_questions(self, event: Event, answers: Mapping[str, Any]) -> Answer:
        """Pass on the answers to questions, by the ids of their items."""
        del answers
        raise UnexpectedEvent(f"{event.name} has no questions")

    def questions(self, event: Event) -> list[dict[str, Any]]:
        """Return the items for the questions of an event."""
        raise UnexpectedEvent(f"{event.name} has no questions")


def call_event_of(message: Mapping[str, Any]) -> Event:
    """Return the event of a message with the member names of Claude Code, which Codex shares."""
    return Event(
        kind=Kind.CALL,
        name=text_of(message, "hook_event_name"),
        session=text_of(message, "session_id"),
        tool=text_of(message, "tool_name"),
        call_id=text_of(message, "tool_use_id"),
        cwd=text_of(message, "cwd"),
        mode=text_of(message, "permission_mode"),
    )


def text_of(message: Mapping[str, Any], name: str) -> str:
    """Return a member that has to be a text, or is absent."""
    value = message.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnexpectedEvent(f"{name} is no text")
    return value


def object_of(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that has to be an object, or its JSON."""
    value = message.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UnexpectedEvent(f"{name} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise UnexpectedEvent(f"{name} is no object")
    return value
