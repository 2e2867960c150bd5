"""The facts that rules look at, and how a path is read from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cached_property
from math import isfinite
from typing import Any, Final

from inbox.rules.decisions.approvals import is_tool_call
from inbox.rules.runs.states import Reason
from inbox.rules.text.unicode_spoofing import MOST, find_spoofing

MAX_NODES = 10_000
MAX_DEPTH = 32
MAX_CHARACTERS = 2 * 1024 * 1024
#: Larger integers are not compared; JSON numbers are smaller than 2^1024.
MAX_BITS = 1_100


class Doubt(Enum):
    """The reason that a fact cannot be used."""

    MISSING = "missing"  #: absent, or null
    WRONG_TYPE = "wrong_type"
    TOO_LARGE = "too_large"
    DECEPTIVE = "deceptive"  #: hidden or look-alike characters
    NO_ITEMS = "no_items"  #: `every` of an empty list
    CALENDAR = "calendar"  #: the policy has no such calendar


@dataclass(frozen=True)
class Requester:
    """The person or key that started the run; None is unknown."""

    kind: str | None = None
    id: str | None = None
    role: str | None = None
    groups: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        groups = None if self.groups is None else list(self.groups)
        return {"kind": self.kind, "id": self.id, "role": self.role, "groups": groups}


@dataclass(frozen=True)
class Facts:
    """
    The facts about one interrupt; None is unknown.

    `args` is the parsed JSON object of the call. `local_time` has a time zone.
    """

    reason: str
    tool: str | None = None
    args: Any = None
    agent: str | None = None
    environment: str | None = None
    team: str | None = None
    requester: Requester | None = None
    local_time: datetime | None = None
    resumes_without_person: int = 0  #: of the thread, since a person decided last

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object from which `facts_from_json` returns equal facts."""
        return {
            "reason": self.reason,
            "tool": self.tool,
            "args": self.args,
            "agent": self.agent,
            "environment": self.environment,
            "team": self.team,
            "requester": self.requester and self.requester.to_json(),
            "local_time": self.local_time and self.local_time.isoformat(),
            "resumes_without_person": self.resumes_without_person,
        }


def facts_from_json(stored: Mapping[str, Any]) -> Facts:
    """Return the facts of `Facts.to_json`; members that were not stored are unknown."""
    members = {name: stored[name] for name in Facts.__dataclass_fields__ if name in stored}
    requester, local_time = stored.get("requester"), stored.get("local_time")
    if requester:
        groups = requester.get("groups")
        requester = Requester(
            requester.get("kind"),
            requester.get("id"),
            requester.get("role"),
            None if groups is None else tuple(groups),
        )
    members["requester"] = requester or None
    members["local_time"] = datetime.fromisoformat(local_time) if local_time else None
    return Facts(**members)


class FactReader:
    """Reads paths from facts; each value is read once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        #: True if the interrupt has a tool or arguments, or should have them.
        self.names_call = (
            bool(facts.tool) or facts.args is not None or facts.reason == Reason.TOOL_CALL
        )
        self._values: dict[str, Any] = {}

    def value(self, path: str, tokens: tuple[str, ...]) -> Any:
        """Return the value at a JSON pointer, or the Doubt that forbids using it."""
        try:
            return self._values[path]
        except KeyError:
            value = self._values[path] = self._read(tokens)
            return value

    @property
    def resumes_without_person(self) -> int:
        return self._facts.resumes_without_person

    @property
    def local_time(self) -> datetime | None:
        return self._facts.local_time

    @cached_property
    def is_bounded(self) -> bool:
        """True if the arguments are JSON within the limits."""
        return _is_bounded_json(self._facts.args)

    @cached_property
    def is_deceptive(self) -> bool:
        """True if the call or a name has hidden or look-alike characters."""
        return bool(self._deceptive_places)

    @property
    def is_call(self) -> bool:
        """True if the interrupt is about one complete tool call, which rules may answer."""
        facts = self._facts
        has_parts = bool(facts.tool) and facts.args is not None
        return is_tool_call(reason=facts.reason, has_call=has_parts)

    @cached_property
    def _tree(self) -> dict[str, Any]:
        facts = self._facts
        requester = facts.requester or Requester()
        groups = None if requester.groups is None else list(requester.groups)
        return {
            "agent": facts.agent,
            "tool": facts.tool,
            "reason": facts.reason,
            "args": facts.args,
            "environment": facts.environment,
            "team": facts.team,
            "requester": {
                "kind": requester.kind,
                "id": requester.id,
                "role": requester.role,
                "groups": groups,
            },
            "local_time": facts.local_time,
        }

    @cached_property
    def _deceptive_places(self) -> frozenset[tuple[str, ...]]:
        tree = {name: value for name, value in self._tree.items() if name != "local_time"}
        if not self.is_bounded:
            tree.pop("args")
        findings = find_spoofing(tree)
        places = {tuple(map(str, finding.path)) for finding in findings}
        # The list of findings may be incomplete.
        return frozenset(places | {("args",)} if len(findings) >= MOST else places)

    def _read(self, tokens: tuple[str, ...]) -> Any:
        if tokens[0] == "args" and not self.is_bounded:
            return Doubt.TOO_LARGE
        value: Any = self._tree
        for token in tokens:
            value = _child(value, token)
        if value is None or (value == "" and tokens[0] != "args"):
            return Doubt.MISSING
        if self._deceptive_places and self._deceives(tokens):
            return Doubt.DECEPTIVE
        return value

    def _deceives(self, tokens: tuple[str, ...]) -> bool:
        """Return True if a finding is at the place, in it or around it."""
        return any(place[: len(tokens)] == tokens[: len(place)] for place in self._deceptive_places)


_POSITION: Final = re.compile(r"0|[1-9][0-9]{0,4}")


def _child(value: Any, token: str) -> Any:
    """Return a member or an item; None without it (RFC 6901, 4)."""
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and _POSITION.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return None


def _is_bounded_json(body: Any) -> bool:
    stack: list[tuple[int, Any]] = [(0, body)]
    nodes = characters = 0
    while stack:
        depth, value = stack.pop()
        nodes += 1
        if nodes > MAX_NODES or depth > MAX_DEPTH or characters > MAX_CHARACTERS:
            return False
        kind = type(value)
        if kind is str:
            characters += len(value)
        elif kind is dict:
            if len(value) > MAX_NODES or not all(type(key) is str for key in value):
                return False
            characters += sum(map(len, value))
            stack += [(depth + 1, item) for item in value.values()]
        elif kind is list:
            if len(value) > MAX_NODES:
                return False
            stack += [(depth + 1, item) for item in value]
        elif not _is_plain(value):
            return False
    return characters <= MAX_CHARACTERS


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is float:
        return isfinite(value)
    if kind is int:
        return bool(value.bit_length() <= MAX_BITS)
    return value is None or kind is bool
