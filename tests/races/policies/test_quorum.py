"""Many people who approve, reject, edit and withdraw at the same moment."""

import json
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement

import pytest

from inbox.actions.decisions import endorsements
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.endorsements import withdraw_endorsement
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import change_team
from inbox.actions.people.provisioning import add_member
from inbox.models import Decision, Endorsement, Interrupt, Run
from inbox.platform.clock import database_now
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Role
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.policies.published import publish, rule
from tests.support.races.concurrently import Meeting, at_once, failures, rounds

pytestmark = pytest.mark.services

REFUSED = (
    errors.AlreadyDecided,
    errors.InterruptExpired,
    errors.ViewChanged,
    errors.Forbidden,
    errors.RequirementNotMet,
)


@pytest.fixture
def crowd(committed_world):
    """Forty reviewers."""
    return [
        committed_world.actor(
            add_member(
                team=committed_world.team,
                username=f"r{number}",
                full_name=f"R {number}",
                password="password-of-a-reviewer",
                role=Role.REVIEWER,
                actor=SEED,
            )
        )
        for number in range(40)
    ]


def ask(world, people):
    slots = [{"role": "reviewer"}] * people
    publish(world, rule(f"by-{people}", "ask", require={"slots": slots}))


def open_one(world):
    (interrupt,) = steps.open_interrupts(steps.start(world, "rehearse:tool_call"))
    return interrupt


def check_outcome(interrupt, *, is_decided=True):
    """One decision and one resume, or neither."""
    decisions = Decision.objects.filter(interrupt=interrupt, withdrawn_at=None).count()
    resumes = Run.objects.filter(resumes=interrupt.run).count()
    status = steps.reread(interrupt).status
    assert decisions == resumes == (status != "open")
    if is_decided:
        assert status == "resolved"


@pytest.mark.parametrize("people", [2, 3, 4, 5])
def test_a_crowd_makes_one_decision_and_one_resume(committed_world, crowd, people):
    ask(committed_world, people)
    for _ in range(rounds(short=1, long=50)):
        interrupt = open_one(committed_world)

        outcomes = at_once([partial(steps.approve, interrupt, actor) for actor in crowd])

        unexpected = [error for error in failures(outcomes) if not isinstance(error, REFUSED)]
        assert unexpected == []
        check_outcome(interrupt)
        decision = Decision.objects.get(interrupt=interrupt)
        assert decision.endorsements.count() == people


def test_exactly_enough_people_are_never_stuck(committed_world, crowd):
    ask(committed_world, 3)
    for _ in range(rounds(short=5, long=200)):
        interrupt = open_one(committed_world)

        at_once([partial(steps.approve, interrupt, actor) for actor in crowd[:3]])

        check_outcome(interrupt)


def test_without_the_lock_the_last_two_are_stuck(
    committed_world, crowd, without_the_lock, without_the_trail, monkeypatch
):
    """Each counts the approvals before the other has stored one, so nobody is the last."""
    ask(committed_world, 2)
    interrupt = open_one(committed_world)
    read_then_meet = Meeting(2).after(endorsements.endorsements_in_force)
    monkeypatch.setattr(endorsements, "endorsements_in_force", read_then_meet)

    outcomes = at_once([partial(steps.approve, interrupt, actor) for actor in crowd[:2]])

    assert [type(outcome) for outcome in outcomes] == [Endorsement, Endorsement]
    assert steps.reread(interrupt).status == "open"


def edit(interrupt, actor):
    args = {**json.loads(interrupt.args), "subject": f"By {actor.label}"}
    return steps.answer(interrupt, actor, {"approved": True, "editedArgs": args})


def withdraw(interrupt, actor):
    return withdraw_endorsement(interrupt_id=interrupt.pk, actor=actor)


def expire(interrupt, _):
    Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=database_now())
    return expire_interrupts(thread_id=interrupt.thread_id)


ACTS = {
    "approve": steps.approve,
    "reject": steps.deny,
    "edit": edit,
    "withdraw": withdraw,
    "expire": expire,
}


@pytest.mark.parametrize("pair", list(combinations_with_replacement(ACTS, 2)), ids="-".join)
def test_two_acts_at_once_leave_one_outcome(committed_world, crowd, pair):
    """The first has approved before, so that one more approval decides."""
    first, second = pair
    ask(committed_world, 2)
    for _ in range(rounds(short=2, long=100)):
        interrupt = open_one(committed_world)
        steps.approve(interrupt, crowd[0])

        outcomes = at_once(
            [
                partial(ACTS[first], interrupt, crowd[0 if first == "withdraw" else 1]),
                partial(ACTS[second], interrupt, crowd[0 if second == "withdraw" else 2]),
            ]
        )

        unexpected = [error for error in failures(outcomes) if not isinstance(error, REFUSED)]
        assert unexpected == []
        check_outcome(interrupt, is_decided=False)
        if steps.reread(interrupt).status == "open":
            for actor in crowd[5:7]:
                if steps.reread(interrupt).status == "open":
                    steps.approve(interrupt, actor)
            check_outcome(interrupt)


def test_an_override_and_approvals_make_one_decision(committed_world, crowd):
    """A member of the emergency group overrides while others fill the slots."""
    world = committed_world
    ask(world, 2)
    team_id = world.team.pk
    create_group(team_id=team_id, name="leads", actor=SEED)
    add_to_group(team_id=team_id, name="leads", user_id=crowd[0].user_id, actor=SEED)
    change_team(team_id=team_id, override_group="leads", actor=SEED)
    for _ in range(rounds(short=10, long=200)):
        interrupt = open_one(world)
        leader = replace(crowd[0], signed_in_at=database_now())
        override = partial(
            decide,
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            actor=leader,
            view_digest=interrupt.shown_digest,
            entrance=Entrance.OVERRIDE_REST,
            override_reason="The shop is down.",
        )
        others = [partial(steps.approve, interrupt, person) for person in crowd[1:4]]
        outcomes = at_once([override, *others])
        assert set(map(type, failures(outcomes))) <= set(REFUSED)
        check_outcome(interrupt)
