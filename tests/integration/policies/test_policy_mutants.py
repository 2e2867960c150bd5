"""Mistakes in policies, made on purpose; each is noticed by a test."""

import pytest

from inbox.models.runs import interrupts as interrupt_rows
from inbox.rules.policies import evaluation, slots
from inbox.rules.policies.operators import Truth
from tests.integration.policies import test_policy_decisions
from tests.unit.policies import test_policy_properties, test_slots


@pytest.fixture
def with_unknown_as_yes(monkeypatch):
    """Take a condition that is unknown for one that holds."""
    evaluate_condition = evaluation.evaluate_condition

    def evaluate(*arguments):
        truth = evaluate_condition(*arguments)
        return Truth.YES if truth is Truth.UNKNOWN else truth

    monkeypatch.setattr(evaluation, "evaluate_condition", evaluate)


@pytest.fixture
def with_greedy_slots(monkeypatch):
    """Give each person the first free slot, and move nobody."""

    def place(self, person):
        for number, options in enumerate(self._slots):
            if number not in self.holders and any(map(person.fits, options)):
                self._move(number, {number: person})
                return

    monkeypatch.setattr(slots._Matching, "place", place)


@pytest.fixture
def with_a_digest_without_ruling(monkeypatch):
    """Leave the ruling out of the view digest."""
    view_digest = interrupt_rows.view_digest
    monkeypatch.setattr(interrupt_rows, "view_digest", lambda ruling, **parts: view_digest(**parts))


def test_unknown_as_yes_is_noticed(with_unknown_as_yes, world, run_paying):
    with pytest.raises(AssertionError):
        test_policy_properties.test_no_rule_allows_on_a_missing_or_mistyped_fact()
    with pytest.raises((AssertionError, ExceptionGroup)):
        test_policy_properties.test_rulings_are_those_of_the_oracle()
    with pytest.raises(AssertionError):
        test_policy_decisions.test_a_missing_or_mistyped_fact_asks(world, run_paying, {})


def test_greedy_slots_are_noticed(with_greedy_slots):
    with pytest.raises(AssertionError):
        test_slots.test_people_move_to_other_slots_to_make_room()
    # Hypothesis raises a group for several kinds of failures.
    with pytest.raises((AssertionError, ExceptionGroup)):
        test_slots.test_no_assignment_fills_more_slots()


def test_a_digest_without_ruling_is_noticed(with_a_digest_without_ruling, world, run_paying):
    with pytest.raises(AssertionError):
        test_policy_decisions.test_the_ruling_is_part_of_the_view(world, run_paying)
