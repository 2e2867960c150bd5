"""Deciding many at once: each by itself, and each with what was shown of it."""

import pytest

from inbox.actions.decisions.bulk import decide_many, withdraw_many
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.models import Decision, Run
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.steps import (
    APPROVE,
    deny,
    open_interrupts,
    start,
)


@pytest.fixture
def many(world):
    """Four questions of four runs."""
    return [open_interrupts(start(world, "rehearse:tool_call"))[0] for _ in range(4)]


def approve_all(items, actor):
    return decide_many(
        items=items,
        status=EntryStatus.RESOLVED,
        payload=APPROVE,
        actor=actor,
        entrance=Entrance.BULK_REST,
    )


def view_references(interrupts):
    return [(interrupt.pk, interrupt.view_digest) for interrupt in interrupts]


def refusals(results):
    return [type(result.refusal) for result in results]


def test_every_item_is_decided_and_every_run_goes_on(many, bob):
    results = approve_all(view_references(many), bob)

    assert [result.interrupt_id for result in results] == [interrupt.pk for interrupt in many]
    assert [result.decision.interrupt_id for result in results] == [
        interrupt.pk for interrupt in many
    ]
    assert {steps.resumed_run(interrupt.run).status for interrupt in many} == {"succeeded"}


def test_rejected_item_has_a_reason_and_does_not_stop_the_others(many, world, bob, dora, carol):
    decided, claimed, changed, fine = many
    deny(decided, dora)
    claim_interrupt(interrupt_id=claimed.pk, actor=dora)
    items = [*view_references([decided, claimed]), (changed.pk, "0" * 64), *view_references([fine])]

    results = approve_all(items, bob)

    assert refusals(results) == [
        errors.AlreadyDecided,
        errors.Claimed,
        errors.ViewChanged,
        type(None),
    ]
    assert results[0].refusal.detail["by"] == "Dora"
    assert results[3].decision is not None
    assert set(refusals(approve_all(view_references(many), carol))) == {errors.NotFound}


def test_what_was_not_shown_is_not_approved(many, bob):
    results = approve_all([(interrupt.pk, "") for interrupt in many], bob)

    assert set(refusals(results)) == {errors.ViewDigestRequired}
    assert not Decision.objects.exists()


def test_an_item_that_comes_twice_is_decided_once(many, bob):
    results = approve_all(view_references([many[0], many[0]]), bob)

    assert refusals(results) == [type(None)] * 2
    assert Decision.objects.count() == Run.objects.filter(resumes__isnull=False).count() == 1


def test_there_is_a_most_at_once(many, bob):
    with pytest.raises(errors.InvalidValue):
        approve_all(view_references(many[:1]) * 101, bob)
    with pytest.raises(errors.InvalidValue):
        withdraw_many(interrupt_ids=[many[0].pk] * 101, actor=bob)

    assert not Decision.objects.exists()


def test_the_answers_of_one_run_are_taken_back_together(world, bob):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))
    approve_all(view_references([first, second]), bob)

    results = withdraw_many(
        interrupt_ids=[interrupt.pk for interrupt in (first, second, third)], actor=bob
    )

    assert refusals(results) == [type(None), type(None), errors.Forbidden]
    assert len(open_interrupts(first.run)) == 3
