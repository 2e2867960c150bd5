"""Two people who answer a question otherwise at the same moment."""

import json
from functools import partial

import pytest

from inbox.actions.decisions.decide import decide
from inbox.models import Decision, Endorsement
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from tests.races.policies.test_quorum import ask, crowd
from tests.support import steps
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services

__all__ = ["crowd"]


def question_of(world):
    (interrupt,) = steps.open_interrupts(steps.start(world, "rehearse:input_required"))
    return interrupt


def answer_with(interrupt, digest, actor, revenue):
    return decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"quarter": "Q1", "year": 2026, "revenue": revenue},
        actor=actor,
        view_digest=digest,
        entrance=Entrance.PAGE,
    )


def test_two_other_answers_at_once_leave_one_that_counts(committed_world, crowd):
    ask(committed_world, 2)
    for _ in range(rounds(short=4, long=100)):
        interrupt = question_of(committed_world)
        answer_with(interrupt, interrupt.shown_digest, crowd[0], 1)
        digest = steps.reread(interrupt).shown_digest

        outcomes = at_once(
            [
                partial(answer_with, interrupt, digest, actor, revenue)
                for actor, revenue in ((crowd[1], 2), (crowd[2], 3))
            ]
        )

        (error,) = failures(outcomes)
        assert isinstance(error, errors.ViewChanged)
        assert not Decision.objects.filter(interrupt=interrupt).exists()
        (counted,) = Endorsement.objects.filter(
            interrupt=interrupt, withdrawn_at=None, voided_at=None
        )
        row = steps.reread(interrupt)
        assert counted.view_digest == row.shown_digest
        assert json.loads(row.endorsed_payload) == json.loads(counted.payload)


def test_an_agreement_and_another_answer_decide_at_most_once(committed_world, crowd):
    ask(committed_world, 2)
    for _ in range(rounds(short=4, long=100)):
        interrupt = question_of(committed_world)
        answer_with(interrupt, interrupt.shown_digest, crowd[0], 1)
        digest = steps.reread(interrupt).shown_digest

        outcomes = at_once(
            [
                partial(answer_with, interrupt, digest, actor, revenue)
                for actor, revenue in ((crowd[1], 1), (crowd[2], 2))
            ]
        )

        (error,) = failures(outcomes)
        assert isinstance(error, (errors.ViewChanged, errors.AlreadyDecided))
        decisions = Decision.objects.filter(interrupt=interrupt)
        assert [json.loads(row.payload)["revenue"] for row in decisions] in ([1], [])
