"""Reading a policy's JSON document; all problems are reported at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeVar

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import InvalidValue
from inbox.rules.policies.language.document_values import (
    ABSENT,
    TEXT_FACTS,
    Invalid,
    choice_of,
    integer_from,
    not_one_of,
    read_boolean,
    read_date,
    read_duration,
    read_group,
    read_interval,
    read_name,
    read_path,
    read_role,
    read_rule_id,
    read_target,
    read_zone,
)
from inbox.rules.policies.language.policy import (
    MAX_BYTES,
    MAX_CONDITIONS,
    MAX_RULES,
    WEEKDAYS,
    Calendar,
    Condition,
    Each,
    Effect,
    Escalation,
    Mode,
    OnExpiry,
    Op,
    Policy,
    Requirement,
    Rule,
    Slot,
    Via,
)
from inbox.rules.policies.operators import OPERATORS
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.unicode_spoofing import find_spoofing

T = TypeVar("T")

MAX_NODES = 20_000
MAX_DEPTH = 32
MAX_PROBLEMS = 50
MAX_SLOTS, MAX_STEPS = 10, 10
MAX_CALENDARS, MAX_INTERVALS, MAX_CLOSED = 10, 4, 400


@dataclass(frozen=True)
class Problem:
    """One problem of a document."""

    pointer: str
    code: str
    message: str


class PolicyError(InvalidValue):
    """The document is not a policy; `problems` has every problem."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        first = problems[0]
        super().__init__(
            f"{first.pointer or '/'}: {first.message}",
            problems=[
                {"pointer": problem.pointer, "code": problem.code, "message": problem.message}
                for problem in problems
            ],
        )


def parse_policy(body: object, *, installation: bool = False) -> Policy:
    """
    Return the policy of a JSON document, e.g. from `strict_json.loads`.

    A policy of the installation asks and denies only.

    Raises:
        PolicyError: with every problem, at most MAX_PROBLEMS.
    """
    problems = _unsafe(body)
    if not problems:
        reader = _Reader(installation)
        policy = reader.policy(body)
        problems = reader.problems
    if problems:
        raise PolicyError(problems[:MAX_PROBLEMS])
    return policy


def _unsafe(body: object) -> list[Problem]:
    """Return the problems that forbid reading the document."""
    if not _is_bounded_json(body):
        return [Problem("", "not_json", TranslatableMessage("This is no JSON, or too large."))]
    try:
        size = len(canonical_json(body).encode())
    except ValueError:
        text = TranslatableMessage("A number or text has no exact JSON form.")
        return [Problem("", "not_json", text)]
    if size > MAX_BYTES:
        text = TranslatableMessage("A policy has at most {most} KiB.", most=MAX_BYTES // 1024)
        return [Problem("", "too_large", text)]
    return [
        Problem(
            pointer(finding.path),
            "deceptive",
            TranslatableMessage("Remove misleading characters: {what}", what=finding.what),
        )
        for finding in find_spoofing(body)
    ]


def _is_bounded_json(body: object) -> bool:
    stack: list[tuple[int, object]] = [(0, body)]
    nodes = 0
    while stack:
        depth, value = stack.pop()
        nodes += 1
        if nodes > MAX_NODES or depth > MAX_DEPTH:
            return False
        if type(value) is dict:
            if not all(type(key) is str for key in value):
                return False
            stack += [(depth + 1, item) for item in value.values()]
        elif type(value) is list:
            stack += [(depth + 1, item) for item in value]
        elif not (value is None or type(value) in (str, bool, int, float)):
            return False
    return True


Read = Callable[[Any, str], Any]


class _Reader:
    """Reads a document part by part, and collects problems instead of stopping at the first."""

    def __init__(self, installation: bool) -> None:
        self.problems: list[Problem] = []
        self._installation = installation
        self._calendar_names: frozenset[str] = frozenset()

    def policy(self, body: Any) -> Policy:
        calendars = body.get("calendars") if isinstance(body, dict) else None
        self._calendar_names = frozenset(calendars if isinstance(calendars, dict) else ())
        members = self._members(
            body, "", {"rules": self._rules, "calendars": self._read_calendars}, ["rules"]
        )
        return Policy(members.get("rules", ()), members.get("calendars", {}))

    # The parts

    def _rules(self, value: Any, at: str) -> tuple[Rule, ...]:
        rules = [rule for rule in self._items(value, at, self._rule, MAX_RULES) if rule]
        ids = [item.get("id") for item in value if isinstance(item, dict)] if rules else []
        for number, rule_id in enumerate(ids):
            if isinstance(rule_id, str) and rule_id in ids[:number]:
                text = TranslatableMessage("Two rules have the id {id}.", id=rule_id[:64])
                self._add(f"{at}/{number}/id", "duplicate_id", text)
        return tuple(rules)

    def _rule(self, value: Any, at: str) -> Rule | None:
        readers: dict[str, Read] = {
            "id": self._value(read_rule_id),
            "name": self._value(read_name),
            "effect": self._value(self._effect),
            "mode": self._value(choice_of(Mode)),
            "when": self._conditions,
            "unless": self._conditions,
            "require": self._requirement,
        }
        before = len(self.problems)
        members = self._members(value, at, readers, ["id", "effect"])
        if len(self.problems) > before:
            return None
        rule = Rule(**members)
        self._check_rule(rule, at)
        return rule

    def _check_rule(self, rule: Rule, at: str) -> None:
        if len(rule.when) + len(rule.unless) > MAX_CONDITIONS:
            text = TranslatableMessage("A rule has at most {most} conditions.", most=MAX_CONDITIONS)
            self._add(at, "too_many", text)
        if rule.effect is Effect.ALLOW and not rule.when:
            text = TranslatableMessage("A rule that allows needs a condition in `when`.")
            self._add(f"{at}/when", "allows_everything", text)
        if rule.require and rule.effect is not Effect.ASK:
            text = TranslatableMessage("Only a rule that asks has requirements.")
            self._add(f"{at}/require", "not_asked", text)

    def _effect(self, value: Any) -> Effect:
        of_rules = (Effect.ALLOW, Effect.ASK, Effect.DENY)
        if value not in of_rules:
            raise not_one_of(of_rules)
        effect = Effect(value)
        if self._installation and effect is Effect.ALLOW:
            text = TranslatableMessage("A policy of the installation can only ask and deny.")
            raise Invalid("installation_allows", text)
        return effect

    def _conditions(self, value: Any, at: str) -> tuple[Condition, ...]:
        conditions = self._items(value, at, self._condition, MAX_CONDITIONS)
        return tuple(condition for condition in conditions if condition)

    def _condition(self, value: Any, at: str) -> Condition | None:
        readers: dict[str, Read] = {
            "path": self._value(read_path),
            "op": self._value(choice_of(Op)),
            "value": lambda raw, _at: raw,
            "each": self._value(choice_of(Each)),
            "not": self._value(read_boolean),
        }
        before = len(self.problems)
        members = self._members(value, at, readers, ["path", "op"])
        if len(self.problems) > before:
            return None
        raw = self._operand(members["op"], members.get("value", ABSENT), f"{at}/value")
        each = members.get("each")
        if not _fits_path(members["path"], members["op"], each):
            text = TranslatableMessage(
                "{op} cannot be used with {path}.", op=members["op"].value, path=members["path"]
            )
            self._add(f"{at}/op", "op_for_path", text)
        return Condition(members["path"], members["op"], raw, each, members.get("not", False))

    def _operand(self, op: Op, raw: Any, at: str) -> Any:
        if raw is ABSENT and op is not Op.PRESENT:
            self._add(at, "missing", TranslatableMessage("This is missing."))
            return None
        read = self._calendar_name if op is Op.IN_HOURS else OPERATORS[op].read
        return self._value(read)(raw, at)

    def _requirement(self, value: Any, at: str) -> Requirement:
        readers: dict[str, Read] = {
            "slots": lambda raw, place: tuple(self._items(raw, place, self._slot, MAX_SLOTS)),
            "self_approval": self._value(read_boolean),
            "fresh_sign_in_minutes": self._value(integer_from(1, 1440)),
            "keys": self._value(read_boolean),
            "via": self._ways,
            "grantable": self._value(read_boolean),
            "urgent": self._value(read_boolean),
            "expires_after": self._value(read_duration),
            "on_expiry": self._value(choice_of(OnExpiry)),
            "hours": self._value(self._calendar_name),
            "remind": lambda raw, place: self._items(
                raw, place, self._value(read_duration), MAX_STEPS
            ),
            "escalate": lambda raw, place: self._items(raw, place, self._escalation, MAX_STEPS),
        }
        before = len(self.problems)
        members = self._members(value, at, readers)
        if len(self.problems) > before:
            return Requirement()
        requirement = Requirement(**members)
        if members.get("grantable") and len(requirement.slots) > 1:
            text = TranslatableMessage("A grant is possible only if one person decides.")
            self._add(f"{at}/grantable", "grantable_for_several", text)
        self._check_times(requirement, at)
        return requirement

    def _check_times(self, requirement: Requirement, at: str) -> None:
        last = requirement.expires_after
        for member, times in (
            ("remind", requirement.remind),
            ("escalate", tuple(step.after for step in requirement.escalate)),
        ):
            for number, after in enumerate(times):
                if last is not None and after >= last:
                    text = TranslatableMessage("This is not before `expires_after`.")
                    self._add(f"{at}/{member}/{number}", "after_expiry", text)

    def _slot(self, value: Any, at: str) -> Slot | None:
        members = self._members(
            value, at, {"group": self._value(read_group), "role": self._value(read_role)}
        )
        if isinstance(value, dict) and len(value) != 1:
            text = TranslatableMessage("A slot has either a group or a role.")
            self._add(at, "slot", text)
        return next((Slot(kind, name) for kind, name in members.items()), None)

    def _ways(self, value: Any, at: str) -> tuple[Via, ...]:
        ways = self._items(value, at, self._value(choice_of(Via)), len(Via))
        if not ways:
            self._add(at, "empty", TranslatableMessage("This list is empty."))
        return tuple(sorted({way for way in ways if way}))

    def _escalation(self, value: Any, at: str) -> Escalation | None:
        readers: dict[str, Read] = {
            "after": self._value(read_duration),
            "to": self._value(read_target),
        }
        members = self._members(value, at, readers, ["after", "to"])
        return Escalation(**members) if len(members) == 2 and all(members.values()) else None

    def _read_calendars(self, value: Any, at: str) -> dict[str, Calendar]:
        if not isinstance(value, dict):
            self._add(at, "type", TranslatableMessage("This must be an object."))
            return {}
        if len(value) > MAX_CALENDARS:
            self._too_many(at, MAX_CALENDARS)
            return {}
        calendars = {}
        for name, item in value.items():
            self._value(read_rule_id)(name, f"{at}/{_escaped(name)}")
            calendars[name] = self._calendar(item, f"{at}/{_escaped(name)}")
        return calendars

    def _calendar(self, value: Any, at: str) -> Calendar:
        readers: dict[str, Read] = {
            "zone": self._value(read_zone),
            "week": self._week,
            "closed": lambda raw, place: self._items(
                raw, place, self._value(read_date), MAX_CLOSED
            ),
        }
        members = self._members(value, at, readers, ["zone", "week"])
        week = members.get("week", ((),) * 7)
        return Calendar(members.get("zone") or "UTC", week, frozenset(members.get("closed", ())))

    def _week(self, value: Any, at: str) -> tuple[Any, ...]:
        readers: dict[str, Read] = dict.fromkeys(WEEKDAYS, self._day)
        days = self._members(value, at, readers)
        if not any(days.values()):
            self._add(at, "never_open", TranslatableMessage("This calendar is never open."))
        return tuple(days.get(day, ()) for day in WEEKDAYS)

    def _day(self, value: Any, at: str) -> tuple[tuple[int, int], ...]:
        intervals = self._items(value, at, self._value(read_interval), MAX_INTERVALS)
        ordered = sorted(interval for interval in intervals if interval)
        if any(later[0] < sooner[1] for sooner, later in pairwise(ordered)):
            self._add(at, "overlap", TranslatableMessage("Intervals overlap."))
        return tuple(ordered)

    def _calendar_name(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self._calendar_names:
            raise Invalid("unknown_calendar", TranslatableMessage("No calendar has this name."))
        return value

    # Collecting

    def _add(self, at: str, code: str, message: str) -> None:
        self.problems.append(Problem(at, code, message))

    def _too_many(self, at: str, most: int) -> None:
        text = TranslatableMessage("This has more than {most} entries.", most=most)
        self._add(at, "too_many", text)

    def _value(self, read: Callable[[Any], T]) -> Callable[[Any, str], T | None]:
        def collect(value: Any, at: str) -> T | None:
            try:
                return read(value)
            except Invalid as error:
                self._add(at, error.code, error.message)
                return None

        return collect

    def _items(self, value: Any, at: str, read: Read, most: int) -> tuple[Any, ...]:
        if not isinstance(value, list):
            self._add(at, "type", TranslatableMessage("This must be a list."))
            return ()
        if len(value) > most:
            self._too_many(at, most)
            return ()
        return tuple(read(item, f"{at}/{number}") for number, item in enumerate(value))

    def _members(
        self, value: Any, at: str, readers: Mapping[str, Read], required: list[str] | None = None
    ) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._add(at, "type", TranslatableMessage("This must be an object."))
            return {}
        for name in value:
            if name not in readers:
                text = TranslatableMessage("A policy has no such member here.")
                self._add(f"{at}/{_escaped(name)}", "unknown_member", text)
        for name in required or ():
            if name not in value:
                self._add(f"{at}/{name}", "missing", TranslatableMessage("This is missing."))
        return {
            name: read(value[name], f"{at}/{name}")
            for name, read in readers.items()
            if name in value
        }


#: The JSON types of facts outside of `/args/...`; those of `/requester/groups` are of its items.
_TYPES: Final = {"/local_time": "time", "/args": "object", **dict.fromkeys(TEXT_FACTS, "string")}


def _fits_path(path: str, op: Op, each: Each | None) -> bool:
    """Return False if the condition could never be YES or NO."""
    types = OPERATORS[op].types
    if each and (op is Op.PRESENT or path in _TYPES):
        return False
    if path == "/requester/groups":
        return ("string" if each else "array") in types
    return _TYPES[path] in types if path in _TYPES else op is not Op.IN_HOURS


def _escaped(name: str) -> str:
    return pointer((name,))[1:]
