"""Publishing a policy while agents propose calls."""

import json
from functools import partial

import pytest

from inbox import engine
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.actions.runs.start_run import start_run
from inbox.models import Decision, Interrupt, PolicyVersion, Run
from inbox.rules.people.access import SEED
from tests.support.agents import scripted_agents
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.policies.replay import replay_all
from tests.support.races.concurrently import at_once, failures, rounds
from tests.support.steps import request

pytestmark = pytest.mark.services

AMOUNTS = [1, 60, 500]


def rules(limit):
    large = {"path": "/args/amount", "op": "gt", "value": 4 * limit}
    return [
        rule("small", "allow", tool_is("refund"), up_to(limit)),
        rule("large", "deny", tool_is("refund"), large),
    ]


def test_calls_have_one_ruling_while_a_policy_is_published(committed_world):
    world = committed_world
    name = scripted_agents.register(proposals([{"amount": amount} for amount in AMOUNTS]))
    agent = ensure_agent(
        team=world.team, slug=name, implementation=name, description="", actor=SEED
    )
    publish(world, *rules(50))
    limits = (100, 50)
    for number in range(rounds(short=15, long=200)):
        body = {"rules": rules(limits[number % 2])}
        save_draft(team_id=world.team.pk, body=body, actor=SEED)
        starts = [
            start_run(agent=agent, request=request("go"), actor=world.actor(world.alice)).run.pk
            for _ in range(4)
        ]
        *racing, last = (partial(engine.execute_run, run) for run in starts)

        def publish_and_run(last=last):
            publish_draft(team_id=world.team.pk, actor=SEED)
            last()

        outcomes = at_once([*racing, publish_and_run])

        assert failures(outcomes) == []
        for run in starts:
            rows = list(Interrupt.objects.filter(run=run).order_by("position"))
            (version,) = {row.ruling.version for row in rows}
            assert [row.rulings.count() for row in rows] == [1, 1, 1]
            is_raised = json.loads(version.body) == {"rules": rules(100)}
            expected = ["allow", "allow", "deny"] if is_raised else ["allow", "ask", "deny"]
            assert [row.ruling.effect for row in rows] == expected
            assert Run.objects.filter(resumes=run).count() == is_raised
            assert Decision.objects.filter(interrupt__run=run).count() == 2 + is_raised
            assert version.number - number in (1, 2)
        assert version.number - number == 2, "a run after the publication has the old version"

    assert replay_all()["differences"] == []
    assert PolicyVersion.objects.count() == number + 2


def test_of_two_who_publish_at_once_one_makes_the_next_version(committed_world):
    world = committed_world
    for number in range(rounds(short=10, long=100)):
        save_draft(team_id=world.team.pk, body={"rules": rules(10 + number)}, actor=SEED)
        publishing = partial(publish_draft, team_id=world.team.pk, actor=SEED)

        outcomes = at_once([publishing, publishing])

        assert [type(error).__name__ for error in failures(outcomes)] == ["NotFound"]
        assert PolicyVersion.objects.filter(team=world.team).count() == number + 1
