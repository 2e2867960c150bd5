"""The strictest of several rules' requirements, with times as instants."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import reduce
from typing import Any, Final, NamedTuple

from inbox.rules.people.access import Role
from inbox.rules.policies.language.business_hours import add_business_time
from inbox.rules.policies.language.policy import (
    Calendar,
    OnExpiry,
    Requirement,
    Slot,
    Via,
)

MAX_STEPS = 20
REVIEWER: Final = Slot("role", Role.REVIEWER.value)

#: A requirement with the calendars of its policy.
Source = tuple[Requirement, Mapping[str, Calendar]]


class StepKind(StrEnum):
    REMIND = "remind"
    ESCALATE = "escalate"


class Step(NamedTuple):
    """A reminder or an escalation; `number` counts the steps of a kind from 1."""

    kind: StepKind
    number: int
    due_at: datetime
    to: tuple[str, ...] = ()  #: the groups and roles of an escalation, e.g. "group:leads"


@dataclass(frozen=True)
class MergedSlot:
    """A slot, and the others who may fill it from an instant on."""

    slot: Slot
    escalations: tuple[tuple[datetime, Slot], ...] = ()


@dataclass(frozen=True)
class MergedRequirement:
    """The requirements on the decision of one interrupt; `via` without an entry: nobody may."""

    slots: tuple[MergedSlot, ...] = (MergedSlot(REVIEWER),)
    self_approval: bool | None = None  #: None: as the team's setting says
    fresh_sign_in_minutes: int | None = None
    keys: bool = True
    via: tuple[Via, ...] | None = None  #: None: every way in
    grantable: bool = True
    expires_at: datetime | None = None
    on_expiry: OnExpiry = OnExpiry.CANCEL
    remind_at: tuple[datetime, ...] = ()
    urgent: bool = False

    @property
    def is_possible(self) -> bool:
        """False if the rules leave no way in for a decision."""
        return self.via != ()

    @property
    def escalate_at(self) -> tuple[datetime, ...]:
        """The instants at which more people may fill slots."""
        return tuple(sorted({at for slot in self.slots for at, _ in slot.escalations}))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The reminders and the escalations, each kind in the order of their times."""
        reminders = [
            Step(StepKind.REMIND, number, at) for number, at in enumerate(self.remind_at, 1)
        ]
        escalations = [
            Step(StepKind.ESCALATE, number, at, self._added_at(at))
            for number, at in enumerate(self.escalate_at, 1)
        ]
        return (*reminders, *escalations)

    def _added_at(self, instant: datetime) -> tuple[str, ...]:
        """Return the groups and roles that may decide from an instant on, too."""
        keys = {to.key for slot in self.slots for at, to in slot.escalations if at == instant}
        return tuple(sorted(keys))

    def slots_at(self, at: datetime) -> list[frozenset[Slot]]:
        """Return for each slot the groups and roles that may fill it at an instant."""
        return [
            frozenset({slot.slot, *(to for since, to in slot.escalations if since <= at)})
            for slot in self.slots
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "slots": [
                {
                    slot.slot.kind: slot.slot.name,
                    "escalations": [[at.isoformat(), to.key] for at, to in slot.escalations],
                }
                for slot in self.slots
            ],
            "self_approval": self.self_approval,
            "fresh_sign_in_minutes": self.fresh_sign_in_minutes,
            "keys": self.keys,
            "via": None if self.via is None else [way.value for way in self.via],
            "grantable": self.grantable,
            "expires_at": self.expires_at and self.expires_at.isoformat(),
            "on_expiry": self.on_expiry.value,
            "remind_at": [at.isoformat() for at in self.remind_at],
            # Left out otherwise: rulings that were stored before do not have it.
            **({"urgent": True} if self.urgent else {}),
        }


def requirement_from_json(stored: Mapping[str, Any]) -> MergedRequirement:
    """Return the requirement of `MergedRequirement.to_json`."""
    via, expires_at = stored["via"], stored["expires_at"]
    return MergedRequirement(
        slots=tuple(_slot_from_json(slot) for slot in stored["slots"]),
        self_approval=stored["self_approval"],
        fresh_sign_in_minutes=stored["fresh_sign_in_minutes"],
        keys=stored["keys"],
        via=None if via is None else tuple(map(Via, via)),
        grantable=stored["grantable"],
        expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        on_expiry=OnExpiry(stored["on_expiry"]),
        remind_at=tuple(map(datetime.fromisoformat, stored["remind_at"])),
        urgent=stored.get("urgent", False),
    )


def _slot_from_json(stored: Mapping[str, Any]) -> MergedSlot:
    kind = "group" if "group" in stored else "role"
    escalations = tuple(
        (datetime.fromisoformat(at), Slot(*to.split(":", 1))) for at, to in stored["escalations"]
    )
    return MergedSlot(Slot(kind, stored[kind]), escalations)


def merge_requirements(sources: Sequence[Source], now: datetime) -> MergedRequirement:
    """
    Return the strictest of the requirements of all rules that ask; their order does not matter.

    Each group and role has as many slots as in the rule with the most of it. A slot escalates only
    if every rule that has the slot escalates it, and at the latest of their times.
    """
    if not sources:
        return MergedRequirement()
    requirements = [requirement for requirement, _ in sources]
    expires_at = min(
        (
            _instant(requirement.expires_after, requirement, calendars, now)
            for requirement, calendars in sources
            if requirement.expires_after
        ),
        default=None,
    )
    slots = _merge_slots(sources, now, expires_at)
    return MergedRequirement(
        slots=slots,
        self_approval=_strictest_self_approval(requirements),
        fresh_sign_in_minutes=min(
            (item.fresh_sign_in_minutes for item in requirements if item.fresh_sign_in_minutes),
            default=None,
        ),
        keys=all(item.keys for item in requirements),
        via=_intersect([item.via for item in requirements if item.via is not None]),
        # A grant replaces one person, never several.
        grantable=all(item.grantable for item in requirements) and len(slots) == 1,
        expires_at=expires_at,
        on_expiry=max(
            (item.on_expiry for item in requirements), key=lambda item: item is OnExpiry.DENY
        ),
        remind_at=_reminders(sources, now, expires_at),
        urgent=any(item.urgent for item in requirements),
    )


def _merge_slots(
    sources: Sequence[Source], now: datetime, expires_at: datetime | None
) -> tuple[MergedSlot, ...]:
    most: Counter[Slot] = Counter()
    for requirement, _ in sources:
        most |= Counter(requirement.slots)
    slots = most or Counter([REVIEWER])
    merged = []
    for slot in sorted(slots):
        # Without any slot, every rule asks for the one reviewer.
        owners = [source for source in sources if slot in source[0].slots or not most]
        escalations = tuple(
            (at, to)
            for at, to in _common_escalations(owners, now)
            if to != slot and (expires_at is None or at < expires_at)
        )
        merged += [MergedSlot(slot, escalations)] * slots[slot]
    return tuple(merged)


def _common_escalations(sources: Sequence[Source], now: datetime) -> list[tuple[datetime, Slot]]:
    by_rule: list[dict[Slot, datetime]] = []
    for requirement, calendars in sources:
        first: dict[Slot, datetime] = {}
        for step in requirement.escalate:
            at = _instant(step.after, requirement, calendars, now)
            first[step.to] = min(at, first.get(step.to, at))
        by_rule.append(first)
    shared = reduce(set.intersection, (set(first) for first in by_rule))
    return sorted((max(first[to] for first in by_rule), to) for to in shared)


def _reminders(
    sources: Iterable[Source], now: datetime, expires_at: datetime | None
) -> tuple[datetime, ...]:
    instants = {
        _instant(after, requirement, calendars, now)
        for requirement, calendars in sources
        for after in requirement.remind
    }
    in_time = sorted(at for at in instants if expires_at is None or at < expires_at)
    return tuple(in_time[:MAX_STEPS])


def _strictest_self_approval(requirements: Sequence[Requirement]) -> bool | None:
    values = {item.self_approval for item in requirements}
    if False in values:
        return False
    return None if None in values else True


def _intersect(ways: Sequence[tuple[Via, ...]]) -> tuple[Via, ...] | None:
    if not ways:
        return None
    return tuple(way for way in Via if all(way in listed for listed in ways))


def _instant(
    after: timedelta, requirement: Requirement, calendars: Mapping[str, Calendar], now: datetime
) -> datetime:
    if requirement.hours is None:
        return now + after
    return add_business_time(calendars[requirement.hours], now, after)
