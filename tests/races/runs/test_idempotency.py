"""Many who ask for the same under one name at the same moment."""

from functools import partial

import pytest

from inbox.actions import idempotency
from inbox.actions.decisions import claims_and_comments
from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.idempotency import IdempotencyKey
from inbox.actions.people.api_keys import make_key
from inbox.models import ApiKey, Comment
from inbox.rules.errors import IdempotencyConflict
from inbox.rules.people.access import SEED, Permission
from tests.support.races.concurrently import at_once, failures, rounds
from tests.support.steps import open_interrupts, start


def comment(interrupt, actor):
    idempotency = IdempotencyKey(key="k", request={"text": "Yes?", "at": str(interrupt.pk)})
    return add_comment(interrupt_id=interrupt.pk, actor=actor, text="Yes?", idempotency=idempotency)


@pytest.mark.parametrize("number", range(rounds(short=2, long=50)))
def test_the_same_request_from_many_makes_one_comment(committed_world, race_bob, number):
    (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))

    outcomes = at_once([partial(comment, interrupt, race_bob)] * 8)

    assert failures(outcomes) == []
    assert {comment_.pk for comment_ in outcomes} == {Comment.objects.get().pk}


@pytest.mark.parametrize("number", range(rounds(short=2, long=50)))
def test_of_two_requests_under_one_name_one_is_done(committed_world, race_bob, number):
    interrupts = open_interrupts(start(committed_world, "rehearse:parallel3"))[:2]

    outcomes = at_once([partial(comment, interrupt, race_bob) for interrupt in interrupts])

    (refused,) = failures(outcomes)
    assert isinstance(refused, IdempotencyConflict)
    assert Comment.objects.count() == 1


def test_who_waited_for_a_request_that_came_to_nothing_makes_it(committed_world, monkeypatch):
    """The first one fails behind its record, which goes with it."""
    failed = []
    make = ApiKey.objects.create

    def fail_once(**columns):
        if not failed:
            failed.append(columns)
            raise OSError("the server is killed")
        return make(**columns)

    monkeypatch.setattr(ApiKey.objects, "create", fail_once)

    def ask():
        return make_key(
            team_id=committed_world.team.pk,
            name="ci",
            scopes={Permission.READ},
            actor=SEED,
            idempotency=IdempotencyKey(key="k", request={"name": "ci"}),
        )

    outcomes = at_once([ask] * 4)

    assert [type(failure) for failure in failures(outcomes)] == [OSError]
    assert ApiKey.objects.filter(name="ci").count() == 1


def test_without_the_record_the_same_request_makes_several(committed_world, race_bob, monkeypatch):
    monkeypatch.setattr(claims_and_comments, "existing_result", lambda *_, **__: None)
    (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))

    at_once([partial(comment, interrupt, race_bob)] * 8)

    assert Comment.objects.count() == 8
    assert idempotency.IdempotencyRecord.objects.count() == 0
