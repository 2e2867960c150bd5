"""Slots of a requirement: who of the endorsers fills which."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from inbox.rules.people.access import Role
from inbox.rules.policies.language.policy import Slot

_RANKS = {role.value: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True)
class Person:
    """A person who may decide, with their role and groups now."""

    id: str
    role: str
    groups: frozenset[str] = frozenset()

    def fits(self, slot: Slot) -> bool:
        if slot.kind == "group":
            return slot.name in self.groups
        # An administrator is also a reviewer.
        return _RANKS.get(self.role, -1) >= _RANKS[slot.name]


@dataclass(frozen=True)
class Assignment:
    """The people in the slots, by the slots' positions; `missing` has the empty slots."""

    people: dict[int, str]
    missing: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        return not self.missing


def assign_slots(slots: Sequence[Collection[Slot]], endorsers: Iterable[Person]) -> Assignment:
    """
    Fill as many slots as possible, each with one person who fits one of its groups or roles.

    Nobody fills two slots. Bipartite matching by augmenting paths: taking the first free slot for
    each person may leave a slot empty although there is an assignment for all.
    """
    matching = _Matching(slots)
    for person in {person.id: person for person in endorsers}.values():
        if len(matching.holders) == len(slots):
            break
        matching.place(person)
    people = {number: person.id for number, person in sorted(matching.holders.items())}
    return Assignment(people, tuple(sorted(set(range(len(slots))) - set(people))))


def is_possible(slots: Sequence[Collection[Slot]], eligible: Iterable[Person]) -> bool:
    """Return whether these people could fill all slots."""
    return assign_slots(slots, eligible).is_complete


class _Matching:
    def __init__(self, slots: Sequence[Collection[Slot]]) -> None:
        self._slots = slots
        self.holders: dict[int, Person] = {}
        self._positions: dict[str, int] = {}

    def place(self, person: Person) -> None:
        """Give a person a slot if those in the way can move; breadth first."""
        candidates: dict[int, Person] = {}
        queue = [person]
        for candidate in queue:
            for number, options in enumerate(self._slots):
                if number in candidates or not any(map(candidate.fits, options)):
                    continue
                candidates[number] = candidate
                if number not in self.holders:
                    self._move(number, candidates)
                    return
                queue.append(self.holders[number])

    def _move(self, number: int | None, candidates: dict[int, Person]) -> None:
        """Move each person of the path to the slot that became free."""
        while number is not None:
            person = candidates[number]
            before = self._positions.get(person.id)
            self.holders[number] = person
            self._positions[person.id] = number
            number = before
