"""Administrators who change a remote agent while others change it, or decide what it asks."""

from functools import partial
from threading import Event

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.decisions import decide
from inbox.models import Decision, Endpoint
from inbox.rules.errors import AddressTaken, AgentChanged, ViewChanged
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.remote_agent_server import elsewhere, new_address
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

__all__ = ["elsewhere", "new_address"]


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
    outcomes = at_once([partial(add, committed_world, number) for number in range(4)])

    assert sorted(outcomes) == [False, False, False, True]
    assert Endpoint.objects.count() == 1


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_several_who_add_a_new_agent_one_does(committed_world, number):
    adding = [partial(add, committed_world, number, must_be_new=True) for number in range(4)]

    outcomes = at_once(adding)

    assert outcomes.count(True) == 1
    assert [type(outcome) for outcome in outcomes if outcome is not True] == [AddressTaken] * 3


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_several_who_change_what_they_have_seen_one_does(committed_world, number):
    add(committed_world, 0)
    seen = Endpoint.objects.get().changed_at

    outcomes = at_once(
        [partial(add, committed_world, number, seen_at=seen) for number in range(1, 5)]
    )

    assert outcomes.count(False) == 1
    assert [type(outcome) for outcome in outcomes if outcome is not False] == [AgentChanged] * 3


# -- an agent that moves while a reviewer decides --------------------------------------------------


def place(world, server):
    """Tell where the agent is; returns it."""
    return set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=server.url, headers={}, actor=SEED
    ).agent


def ask(world, server):
    """The interrupt of a run at this address, and what the agent says when it is resumed."""
    server.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [vendor_servers.started(), *vendor_servers.done(), vendor_servers.finished()],
    ]
    server.sent.clear()
    run = steps.start(world, "Refund it.", agent=place(world, server))
    (interrupt,) = steps.open_interrupts(run)
    return interrupt


def approve_what_is_shown(interrupt, actor):
    """Approve under the digest of the page that was loaded before."""
    return partial(
        decide.decide,
        interrupt_id=interrupt.pk,
        status=steps.EntryStatus.RESOLVED,
        payload=steps.APPROVE,
        view_digest=interrupt.shown_digest,
        actor=actor,
        entrance=steps.Entrance.REST,
    )


@pytest.mark.parametrize("number", range(rounds(short=10, long=100)))
def test_an_approval_while_an_agent_moves_runs_nothing_there(
    committed_world, race_bob, elsewhere, new_address, number
):
    interrupt = ask(committed_world, elsewhere)

    decided, moved = at_once(
        [
            approve_what_is_shown(interrupt, race_bob),
            partial(place, committed_world, new_address),
        ]
    )

    assert failures([moved]) == []
    if isinstance(decided, Decision):
        resumed = steps.resumed_run(interrupt.run)
        assert (resumed.status, resumed.error_code) == ("failed", "AGENT_MOVED")
    else:
        assert isinstance(decided, ViewChanged)
        assert steps.open_interrupts(interrupt.run) == [interrupt]
    assert (len(elsewhere.sent), new_address.sent) == (1, [])


@pytest.mark.parametrize("number", range(rounds(short=10, long=100)))
def test_a_run_that_resumes_while_its_agent_moves_is_not_sent_there(
    committed_world, race_bob, elsewhere, new_address, number
):
    interrupt = ask(committed_world, elsewhere)
    approve_what_is_shown(interrupt, race_bob)()

    resumed, moved = at_once(
        [
            partial(steps.resumed_run, interrupt.run),
            partial(place, committed_world, new_address),
        ]
    )

    assert failures([resumed, moved]) == []
    ended = (resumed.status, resumed.error_code, len(elsewhere.sent))
    assert ended in [("succeeded", "", 2), ("failed", "AGENT_MOVED", 1)]
    assert new_address.sent == []


def test_a_move_waits_for_a_decision_that_is_being_made(
    committed_world, race_bob, elsewhere, new_address, monkeypatch
):
    """Without the lock of the thread, the decision signs another place than is stored."""
    interrupt = ask(committed_world, elsewhere)
    deciding, meeting, check_view = Event(), Meeting(2), decide.check_view

    def check_then_meet(**view):
        check_view(**view)
        deciding.set()
        meeting.wait()

    def move_then_meet():
        assert deciding.wait(60)
        place(committed_world, new_address)
        meeting.wait()

    monkeypatch.setattr(decide, "check_view", check_then_meet)

    outcomes = at_once([approve_what_is_shown(interrupt, race_bob), move_then_meet])

    assert failures(outcomes) == []
    assert not meeting.met
    assert steps.resumed_run(interrupt.run).error_code == "AGENT_MOVED"
