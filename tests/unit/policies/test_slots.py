"""Slots: the assignment of people, compared with trying every assignment."""

from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.policies.language.policy import Slot
from inbox.rules.policies.slots import Person, assign_slots, is_possible
from tests.support.properties.json_values import generated

FINANCE, LEADS = Slot("group", "finance"), Slot("group", "leads")
REVIEWER, ADMIN = Slot("role", "reviewer"), Slot("role", "admin")


def person(name, *groups, role="reviewer"):
    return Person(name, role, frozenset(groups))


def filled(slots, people):
    return assign_slots([{slot} for slot in slots], people)


def test_people_move_to_other_slots_to_make_room():
    both, finance = person("both", "finance", "leads"), person("finance", "finance")

    assert filled([FINANCE, LEADS], [both, finance]).people == {0: "finance", 1: "both"}
    assert filled([FINANCE, REVIEWER], [both, person("anyone")]).is_complete


def test_missing_slots_are_named():
    assignment = filled([FINANCE, REVIEWER, ADMIN], [person("a"), person("b")])

    assert assignment.missing == (0, 2)
    assert not assignment.is_complete


def test_one_person_fills_one_slot_however_often_they_endorse():
    alice = person("alice", "finance", "leads")

    assert filled([FINANCE, LEADS], [alice, alice]).missing != ()


def test_an_administrator_is_also_a_reviewer_and_a_viewer_is_not():
    assert filled([REVIEWER], [person("a", role="admin")]).is_complete
    assert not filled([ADMIN], [person("a")]).is_complete
    assert not filled([REVIEWER], [person("a", role="viewer")]).is_complete
    assert not filled([REVIEWER], [person("a", role="")]).is_complete


def test_an_escalated_slot_takes_either_group():
    assert not is_possible([{FINANCE}], [person("a", "leads")])
    assert is_possible([{FINANCE, LEADS}], [person("a", "leads")])


def test_a_thousand_people_in_a_chain_can_all_be_moved():
    slots = [Slot("group", f"g{number}") for number in range(1000)]
    people = [person(f"p{number}", f"g{number}", f"g{number + 1}") for number in range(999)]

    assert filled(slots, [*people, person("last", "g0")]).is_complete


def best_by_trying_all(slots, people):
    """Return the largest number of slots that some assignment fills."""
    seats = [*people, *[None] * len(slots)]
    return max(
        sum(
            holder is not None and any(holder.fits(option) for option in slot)
            for slot, holder in zip(slots, order, strict=True)
        )
        for order in permutations(seats, len(slots))
    )


@generated(100)
@given(st.integers(0, 2**32))
def test_no_assignment_fills_more_slots(seed):
    random = Random(seed)
    for _ in range(20):
        options = [FINANCE, LEADS, REVIEWER, ADMIN]
        slots = [set(random.choices(options, k=random.randint(1, 2))) for _ in range(3)]
        people = [
            person(
                str(number),
                *random.sample(["finance", "leads", "others"], k=random.randint(0, 2)),
                role=random.choice(["viewer", "reviewer", "reviewer", "admin"]),
            )
            for number in range(random.randint(0, 4))
        ]

        assignment = assign_slots(slots, people)

        by_id = {member.id: member for member in people}
        assert len(set(assignment.people.values())) == len(assignment.people)
        for number, member in assignment.people.items():
            assert any(by_id[member].fits(option) for option in slots[number])
        assert len(assignment.people) == best_by_trying_all(slots, people)
        assert assignment.is_complete == is_possible(slots, reversed(people))
