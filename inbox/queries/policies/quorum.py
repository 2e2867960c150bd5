"""The people that a policy requires for one interrupt, and those who have approved it."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from inbox.models import Decision, Endorsement, GroupMember, Interrupt, Membership
from inbox.platform.clock import database_now
from inbox.queries.people.access import has_two_deciders
from inbox.queries.policies.policies import ruling_on, stored_ruling
from inbox.rules.people.access import ROLE_PERMISSIONS, Permission, Role
from inbox.rules.policies.endorsements import DEFAULT_SLOTS, Slots, merge_slots, slot_names
from inbox.rules.policies.evaluation import Ruling
from inbox.rules.policies.slots import Assignment, Person, assign_slots


@dataclass(frozen=True)
class Quorum:
    """The slots of an interrupt at one time, each with the groups and roles that may fill it."""

    interrupt: Interrupt
    slots: Slots
    rules: tuple[str, ...]  #: ids of the rules that ask
    self_approval: bool | None  #: None: until two people can decide

    @cached_property
    def allows_self_approval(self) -> bool:
        if self.self_approval is None:
            return not has_two_deciders(self.interrupt.team_id)
        return self.self_approval

    @property
    def needs_several(self) -> bool:
        return len(self.slots) > 1

    @property
    def is_default(self) -> bool:
        """True if any one reviewer or key may decide."""
        return self.slots == DEFAULT_SLOTS

    def eligible_people(self, user_ids: Collection[int] | None = None) -> list[Person]:
        """Return the people who may approve now, or those of them with these user ids."""
        row = self.interrupt
        members = Membership.objects.filter(team=row.team_id, user__is_active=True)
        if user_ids is not None:
            members = members.filter(user__in=user_ids)
        if row.is_proposal and not self.allows_self_approval:
            members = members.exclude(user__in=row.run.requester_person_ids)
        groups: dict[int, set[str]] = {}
        for membership_id, name in GroupMember.objects.filter(membership__in=members).values_list(
            "membership", "group__name"
        ):
            groups.setdefault(membership_id, set()).add(name)
        return [
            Person(str(user_id), role, frozenset(groups.get(pk, ())))
            for pk, user_id, role in members.values_list("pk", "user", "role").order_by("user")
            if Permission.DECIDE in ROLE_PERMISSIONS[Role(role)]
        ]

    @cached_property
    def endorsements(self) -> list[Endorsement]:
        """The endorsements in force with their users, in the order in which they were given."""
        return endorsements_in_force(self.interrupt)

    @cached_property
    def assignment(self) -> Assignment:
        """The people in the slots now: only endorsements of the current view by eligible people."""
        users = [row.user_id for row in self.endorsements if row.counts_for(self.interrupt)]
        return assign_slots(self.slots, self.eligible_people(users) if users else ())

    @property
    def is_possible(self) -> bool:
        """False if too few people can approve this."""
        return assign_slots(self.slots, self.eligible_people()).is_complete


@dataclass(frozen=True)
class EndorsementProgress:
    """The people who have approved, of those that a policy requires."""

    endorsed: int
    of: int
    missing: Sequence[str]  #: for each empty slot its groups and roles


def endorsement_progress(result: Decision | Endorsement) -> EndorsementProgress | None:
    """Return how many people have approved after an answer; None if it was decided."""
    if isinstance(result, Decision):
        return None
    return progress_of_quorum(current_quorum(result.interrupt, database_now()))


def progress_of_quorum(quorum: Quorum) -> EndorsementProgress:
    assignment = quorum.assignment
    missing = [slot_names([quorum.slots[number]]) for number in assignment.missing]
    return EndorsementProgress(len(assignment.people), len(quorum.slots), missing)


def rulings_on(row: Interrupt, payload: Any) -> list[Ruling]:
    """Return the ruling on an interrupt, and the one on the arguments that an answer has edited."""
    ruling = stored_ruling(row)
    if ruling is None:
        return []
    has_edits = row.tool_call_id is not None and isinstance(payload, dict)
    edited = payload.get("editedArgs") if has_edits else None
    return [ruling] if edited is None else [ruling, ruling_on(row, edited)]


def quorum_of(
    row: Interrupt, now: datetime, rulings: Sequence[Ruling], *, self_approval: bool | None
) -> Quorum:
    """Return the slots that the strictest of the rulings requires at this time."""
    slots, rules = DEFAULT_SLOTS, []
    for ruling in rulings:
        if ruling.requirement is not None:
            slots = merge_slots(slots, ruling.requirement.slots_at(now))
            rules += [rule for rule in ruling.rules if rule not in rules]
            if ruling.requirement.self_approval is False:
                self_approval = False
    return Quorum(row, slots, tuple(rules), self_approval)


def current_quorum(row: Interrupt, now: datetime) -> Quorum:
    """Return the slots of an interrupt with the arguments that were endorsed last."""
    payload = json.loads(row.endorsed_payload) if row.endorsed_payload else None
    return quorum_of(
        row,
        now,
        rulings_on(row, payload),
        self_approval=row.team.self_approval,
    )


def endorsements_in_force(row: Interrupt) -> list[Endorsement]:
    rows = Endorsement.objects.filter(interrupt=row, withdrawn_at=None, voided_at=None)
    return list(rows.select_related("user").order_by("created_at", "pk"))
