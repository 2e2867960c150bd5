"""Approving alone despite the policy, in an emergency."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.decide import decide
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import change_team
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import AuditEntry, Decision, Delivery, Run
from inbox.platform.clock import database_now
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED
from inbox.rules.runs.states import EntryStatus
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, reread

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
LARGE = rule("large", "deny", {"path": "/args/amount", "op": "gt", "value": 1000})


@pytest.fixture
def leader(world):
    """Bob, who may override and has just signed in."""
    team_id = world.team.pk
    create_group(team_id=team_id, name="leads", actor=SEED)
    add_to_group(team_id=team_id, name="leads", user_id=world.bob.pk, actor=SEED)
    change_team(team_id=team_id, override_group="leads", actor=SEED)
    return replace(world.actor(world.bob), signed_in_at=database_now())


@pytest.fixture
def interrupt(world, run_paying):
    publish(world, rule("two", "ask", tool_is("refund"), require=TWO), LARGE)
    return open_interrupts(run_paying({"amount": 40}))[0]


def override(interrupt, actor, payload=None, *, reason="The shop is down.", digest=None):
    return decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=payload or {"approved": True},
        actor=actor,
        view_digest=reread(interrupt).shown_digest if digest is None else digest,
        entrance=Entrance.OVERRIDE_REST,
        override_reason=reason,
    )


def test_one_of_the_group_approves_what_needs_two(interrupt, leader, dora):
    approve(interrupt, dora)

    decision = override(interrupt, leader)

    assert reread(interrupt).status == "resolved"
    assert (decision.override_reason, decision.entrance) == ("The shop is down.", "override_rest")
    assert Run.objects.filter(resumes=interrupt.run).count() == 1


def test_the_trail_has_the_reason_and_the_rules(interrupt, leader):
    override(interrupt, leader)

    entry = AuditEntry.objects.select_related("payload").get(action="interrupt.overridden")
    detail = json.loads(entry.payload.text)["detail"]
    assert entry.actor_id == str(leader.user_id)
    assert detail["payload"] == {"reason": "The shop is down."}
    assert detail["policy"]["rules"] == ["two"]


def test_clients_and_webhooks_learn_of_an_override(world, client, interrupt, leader):
    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["interrupt.decided"],
        actor=SEED,
    )

    override(interrupt, leader)

    client.force_login(world.bob)
    decision = client.get(f"/api/interrupts/{interrupt.pk}").json()["decision"]
    assert decision["override_reason"] == "The shop is down."
    assert json.loads(Delivery.objects.get().body)["data"]["decision"]["override"] is True


def test_the_requester_may_override(world, leader, run_paying):
    publish(world, rule("four-eyes", "ask", require={"self_approval": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 40}, actor=leader))
    with pytest.raises(errors.SelfApproval):
        approve(interrupt, leader)

    override(interrupt, leader)

    assert reread(interrupt).status == "resolved"


def test_others_do_not_override(world, interrupt, leader, dora):
    with pytest.raises(errors.Forbidden):
        override(interrupt, replace(dora, signed_in_at=database_now()))
    with pytest.raises(errors.Forbidden):
        override(interrupt, actor_of_key(world.key))
    change_team(team_id=world.team.pk, override_group="", actor=SEED)
    with pytest.raises(errors.Forbidden):
        override(interrupt, leader)
    assert not Decision.objects.exists()


def test_an_override_needs_a_fresh_sign_in_and_a_reason(interrupt, leader):
    late = replace(leader, signed_in_at=database_now() - timedelta(minutes=6))
    with pytest.raises(errors.SignInTooOld):
        override(interrupt, late)
    for reason in ("", "  ", "x" * 501):
        with pytest.raises(errors.InvalidValue):
            override(interrupt, leader, reason=reason)
    assert reread(interrupt).status == "open"


def test_what_the_policy_denies_is_not_approved(interrupt, leader):
    with pytest.raises(errors.DeniedByPolicy):
        override(interrupt, leader, {"approved": True, "editedArgs": {"amount": 4000}})
    with pytest.raises(errors.InvalidValue):
        override(interrupt, leader, {"approved": False})


def test_an_override_passes_the_other_checks(interrupt, leader, dora):
    with pytest.raises(errors.ViewChanged):
        override(interrupt, leader, digest="0" * 64)
    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
    with pytest.raises(errors.Claimed):
        override(interrupt, leader)


def test_the_same_override_again_is_a_replay(interrupt, leader):
    assert override(interrupt, leader) == override(interrupt, leader)
    assert Decision.objects.count() == 1
