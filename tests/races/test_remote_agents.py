"""Administrators who add or change the same remote agent at the same moment."""

from functools import partial

import pytest

from inbox.actions.remotes import set_remote_agent
from inbox.domain.access import SEED
from inbox.domain.errors import AddressTaken, AgentChanged
from inbox.models import Endpoint
from tests.races.together import at_once, rounds


def add(world, number, **more):
    return set_remote_agent(
        team_id=world.team.pk,
        slug="refunds",
        url=f"https://{number}.example.com/",
        headers={},
        actor=SEED,
        **more,
    ).is_new


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_an_agent_that_several_add_at_once_is_added_once(committed_world, number):
    outcomes = at_once([partial(add, committed_world, one) for one in range(4)])

    assert sorted(outcomes) == [False, False, False, True]
    assert Endpoint.objects.count() == 1


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_several_who_add_a_new_agent_one_does(committed_world, number):
    adding = [partial(add, committed_world, one, must_be_new=True) for one in range(4)]

    outcomes = at_once(adding)

    assert outcomes.count(True) == 1
    assert [type(one) for one in outcomes if one is not True] == [AddressTaken] * 3


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_several_who_change_what_they_have_seen_one_does(committed_world, number):
    add(committed_world, 0)
    seen = Endpoint.objects.get().changed_at

    outcomes = at_once([partial(add, committed_world, one, seen_at=seen) for one in range(1, 5)])

    assert outcomes.count(False) == 1
    assert [type(one) for one in outcomes if one is not False] == [AgentChanged] * 3
