"""The parts of a policy, and their canonical JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Final

from inbox.rules.decisions.consent import canonical_json, digest

MAX_BYTES = 64 * 1024
MAX_RULES = 100
MAX_CONDITIONS = 20  #: of a rule, `when` and `unless` together
MAX_EACH = 1_000  #: items of a list that `each` looks at


class Effect(StrEnum):
    ALLOW = "allow"  #: approved by rule
    ASK = "ask"  #: people decide
    DENY = "deny"  #: denied by rule
    GRANT = "grant"  #: approved by a grant; an effect of rulings only


class Mode(StrEnum):
    ENFORCE = "enforce"
    SHADOW = "shadow"  #: evaluated and stored, without an effect
    OFF = "off"


class Op(StrEnum):
    """The operators of conditions."""

    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    BETWEEN = "between"
    IS = "is"
    IS_ONE_OF = "is_one_of"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    CONTAINS = "contains"
    MATCHES = "matches"
    DOMAIN_IS = "domain_is"
    LONGEST = "longest"
    PRESENT = "present"
    SCHEMA = "schema"
    IN_HOURS = "in_hours"


class Each(StrEnum):
    EVERY = "every"
    ANY = "any"


class Via(StrEnum):
    """The ways in for decisions that a rule may restrict."""

    WEB = "web"  #: the inbox
    REST = "rest"
    AGUI = "agui"
    LINK = "link"  #: a link in an e-mail
    CHAT = "chat"


#: The ways of a rule that restricts none. Links and chats have to be named.
COMMON_WAYS: Final = (Via.WEB, Via.REST, Via.AGUI)


class OnExpiry(StrEnum):
    CANCEL = "cancel"
    DENY = "deny"


@dataclass(frozen=True)
class Condition:
    """
    One test of a fact.

    `value` is a number, text, boolean or tuple of these; of `schema` the canonical text of the JSON
    Schema, of `in_hours` the name of a calendar, of `present` True.
    """

    path: str  #: JSON pointer into the facts
    op: Op
    value: Any = True
    each: Each | None = None
    negated: bool = False
    tokens: tuple[str, ...] = field(init=False, compare=False, repr=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", pointer_tokens(self.path))

    @property
    def is_about_calls(self) -> bool:
        """True for a condition on the tool or on an argument, which only tool calls have."""
        return self.tokens[0] in ("tool", "args")

    def to_json(self) -> dict[str, Any]:
        members: dict[str, Any] = {"path": self.path, "op": self.op.value}
        if self.op is Op.SCHEMA:
            members["value"] = json.loads(self.value)
        elif self.op is not Op.PRESENT:
            members["value"] = list(self.value) if isinstance(self.value, tuple) else self.value
        if self.each:
            members["each"] = self.each.value
        if self.negated:
            members["not"] = True
        return members


def condition_from_json(stored: Mapping[str, Any]) -> Condition:
    """Return the condition of `Condition.to_json`; other members are ignored."""
    op, value = Op(stored["op"]), stored.get("value", True)
    if op is Op.SCHEMA:
        value = canonical_json(value)
    elif isinstance(value, list):
        value = tuple(value)
    each = Each(stored["each"]) if "each" in stored else None
    return Condition(stored["path"], op, value, each, stored.get("not", False))


@dataclass(frozen=True, order=True)
class Slot:
    """A place that one person fills: a member of a group, or anyone with at least a role."""

    kind: str  #: "group" or "role"
    name: str

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class Escalation:
    """After a time, another group or role may fill the rule's slots, too."""

    after: timedelta
    to: Slot


@dataclass(frozen=True)
class Requirement:
    """The requirements of one rule on the people who decide, and on time."""

    slots: tuple[Slot, ...] = ()  #: empty: one reviewer
    self_approval: bool | None = None  #: None: as the team's setting says
    fresh_sign_in_minutes: int | None = None
    keys: bool = True  #: API keys may decide
    via: tuple[Via, ...] | None = None  #: None: every way in
    grantable: bool = True
    urgent: bool = False  #: people are told at once, also in their quiet hours
    expires_after: timedelta | None = None
    on_expiry: OnExpiry = OnExpiry.CANCEL
    hours: str | None = None  #: the calendar whose open hours the times count; None: all hours
    remind: tuple[timedelta, ...] = ()
    escalate: tuple[Escalation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        members: dict[str, Any] = {
            "slots": [{slot.kind: slot.name} for slot in self.slots],
            "self_approval": self.self_approval,
            "fresh_sign_in_minutes": self.fresh_sign_in_minutes,
            "keys": None if self.keys else False,
            "via": [way.value for way in self.via or ()],
            "grantable": None if self.grantable else False,
            "urgent": self.urgent or None,
            "expires_after": self.expires_after and format_duration(self.expires_after),
            "on_expiry": "deny" if self.on_expiry is OnExpiry.DENY else None,
            "hours": self.hours,
            "remind": [format_duration(after) for after in self.remind],
            "escalate": [
                {"after": format_duration(step.after), "to": step.to.key} for step in self.escalate
            ],
        }
        return {name: value for name, value in members.items() if value not in (None, [])}


@dataclass(frozen=True)
class Rule:
    """One rule: it applies if all of `when` hold, unless all of `unless` hold."""

    id: str
    effect: Effect
    name: str = ""
    mode: Mode = Mode.ENFORCE
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    require: Requirement | None = None

    @property
    def title(self) -> str:
        return self.name or self.id

    @property
    def is_about_calls(self) -> bool:
        """
        True if the rule chooses tool calls only.

        It names a tool or an argument, if only in an exception, and does not say by the reason what
        it is about.
        """
        names_call = any(condition.is_about_calls for condition in (*self.when, *self.unless))
        return names_call and all(condition.path != "/reason" for condition in self.when)

    def to_json(self) -> dict[str, Any]:
        members: dict[str, Any] = {"id": self.id, "effect": self.effect.value}
        if self.name:
            members["name"] = self.name
        if self.mode is not Mode.ENFORCE:
            members["mode"] = self.mode.value
        for member, conditions in (("when", self.when), ("unless", self.unless)):
            if conditions:
                members[member] = [condition.to_json() for condition in conditions]
        if self.require:
            members["require"] = self.require.to_json()
        return members


@dataclass(frozen=True)
class Calendar:
    """
    Weekly open hours in a time zone, with closed dates.

    `week` has the intervals of Monday to Sunday in minutes after midnight, sorted, each [start,
    end).
    """

    zone: str
    week: tuple[tuple[tuple[int, int], ...], ...]
    closed: frozenset[date] = frozenset()

    def to_json(self) -> dict[str, Any]:
        week = {
            day: [[_clock(start), _clock(end)] for start, end in intervals]
            for day, intervals in zip(WEEKDAYS, self.week, strict=True)
            if intervals
        }
        members: dict[str, Any] = {"zone": self.zone, "week": week}
        if self.closed:
            members["closed"] = sorted(day.isoformat() for day in self.closed)
        return members


WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Policy:
    rules: tuple[Rule, ...] = ()
    calendars: Mapping[str, Calendar] = field(default_factory=dict)

    @property
    def denies(self) -> bool:
        """True if a rule that is enforced can deny."""
        return any(rule.effect is Effect.DENY and rule.mode is Mode.ENFORCE for rule in self.rules)

    def to_json(self) -> dict[str, Any]:
        """Return the document with default values left out."""
        members: dict[str, Any] = {"rules": [rule.to_json() for rule in self.rules]}
        if self.calendars:
            members["calendars"] = {
                name: calendar.to_json() for name, calendar in self.calendars.items()
            }
        return members


def canonical_body(policy: Policy) -> str:
    """Return the canonical JSON text of a policy (RFC 8785); equal policies have the same text."""
    return canonical_json(policy.to_json())


def policy_digest(policy: Policy) -> str:
    """Return the SHA-256 of the canonical text in hex."""
    return digest(canonical_body(policy))


def pointer_tokens(path: str) -> tuple[str, ...]:
    """Return the reference tokens of a JSON pointer (RFC 6901) that begins with a slash."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])


def format_duration(duration: timedelta) -> str:
    """Return an ISO 8601 duration in hours and minutes: `PT4H`, `PT1H30M`."""
    hours, minutes = divmod(int(duration.total_seconds()) // 60, 60)
    return "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes or not hours else "")


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
