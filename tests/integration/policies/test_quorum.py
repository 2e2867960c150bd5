"""Several people approve together: endorsements, slots, changes and withdrawals."""

import json
from datetime import timedelta

import pytest

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.endorsements import withdraw_endorsement
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import change_role, change_team, remove_member
from inbox.actions.people.provisioning import add_member
from inbox.actions.runs.cancel_run import cancel_run
from inbox.models import Claim, Decision, Delivery, Endorsement, GroupMember, Interrupt, Run
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Role
from inbox.rules.runs.states import EntryStatus
from tests.support.audit.entries import audited
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import (
    answer,
    approve,
    deny,
    open_interrupts,
    reread,
    resumed_run,
    start,
)

EMAIL = tool_is("send_email")
TWO = [{"role": "reviewer"}, {"role": "reviewer"}]


def ask_slots(slots, **require):
    return rule("email", "ask", EMAIL, require={"slots": slots, **require})


@pytest.fixture
def person(world):
    """Return a function that adds a reviewer to the team, and to a group."""

    def add(name, group=None, role=Role.REVIEWER):
        user = add_member(
            team=world.team,
            username=name,
            full_name=name.capitalize(),
            password=f"{name}-password",
            role=role,
            actor=SEED,
        )
        if group:
            add_to_group(team_id=world.team.pk, name=group, user_id=user.pk, actor=SEED)
        return actor_of_user(user)

    return add


@pytest.fixture
def finance(world):
    return create_group(team_id=world.team.pk, name="finance", actor=SEED)


@pytest.fixture
def ask(world):
    """Return a function that publishes a policy and opens an interrupt under it."""

    def open_interrupt(slots=TWO, *rules, **require):
        publish(world, ask_slots(slots, **require), *rules)
        return open_interrupts(start(world, "rehearse:tool_call"))[0]

    return open_interrupt


def in_force(interrupt):
    rows = Endorsement.objects.filter(interrupt=interrupt, withdrawn_at=None, voided_at=None)
    return list(rows.order_by("pk").values_list("user__username", flat=True))


def edited(interrupt, **args):
    proposed = json.loads(interrupt.args)
    return {"approved": True, "editedArgs": {**proposed, **args}}


def test_the_second_of_two_reviewers_decides(ask, bob, dora):
    interrupt = ask()

    first = approve(interrupt, bob)

    assert isinstance(first, Endorsement)
    assert reread(interrupt).status == "open"
    assert not Run.objects.filter(resumes=interrupt.run).exists()

    decision = approve(interrupt, dora)

    assert isinstance(decision, Decision)
    assert (reread(interrupt).status, decision.actor_label) == ("resolved", "Dora")
    assert set(decision.endorsements.values_list("user__username", flat=True)) == {"bob", "dora"}
    assert resumed_run(interrupt.run).status == "succeeded"


def test_endorsing_again_is_a_replay(ask, bob):
    interrupt = ask()

    assert approve(interrupt, bob) == approve(interrupt, bob)

    assert in_force(interrupt) == ["bob"]
    assert len(audited("interrupt.endorsed")) == 1


def test_an_endorser_who_repeats_the_answer_gets_the_decision(ask, bob, dora):
    interrupt = ask()
    approve(interrupt, bob)
    decision = approve(interrupt, dora)

    assert approve(interrupt, bob) == decision
    with pytest.raises(errors.AlreadyDecided):
        deny(interrupt, bob)


def test_one_rejection_decides_at_once(ask, bob, dora):
    interrupt = ask()
    approve(interrupt, bob)

    decision = deny(interrupt, dora)

    assert json.loads(decision.payload)["approved"] is False
    assert in_force(interrupt) == []
    assert resumed_run(interrupt.run) is not None


def test_people_fill_the_slots_that_leave_room_for_others(ask, person, finance):
    """Taking the first slot for each would leave the slot of finance empty."""
    interrupt = ask([{"group": "finance"}, {"role": "reviewer"}])
    felix, rita = person("felix", "finance"), person("rita")

    assert isinstance(approve(interrupt, rita), Endorsement)
    assert isinstance(approve(interrupt, felix), Decision)


def test_the_one_of_both_groups_moves_to_the_other_slot(ask, world, person, finance):
    create_group(team_id=world.team.pk, name="legal", actor=SEED)
    interrupt = ask([{"group": "finance"}, {"group": "legal"}])
    both = person("both", "finance")
    add_to_group(team_id=world.team.pk, name="legal", user_id=both.user_id, actor=SEED)

    assert isinstance(approve(interrupt, both), Endorsement)
    assert isinstance(approve(interrupt, person("felix", "finance")), Decision)


def test_who_fits_no_open_slot_is_refused(ask, person, finance):
    interrupt = ask([{"group": "finance"}, {"role": "reviewer"}])
    approve(interrupt, person("rita"))

    with pytest.raises(errors.RequirementNotMet) as refusal:
        approve(interrupt, person("ron"))

    assert "email" in str(refusal.value)
    assert "finance" in str(refusal.value)
    assert in_force(interrupt) == ["rita"]


def test_a_single_slot_of_a_group_needs_no_endorsement(ask, bob, person, finance):
    interrupt = ask([{"group": "finance"}])

    with pytest.raises(errors.RequirementNotMet):
        approve(interrupt, bob)

    assert isinstance(approve(interrupt, person("felix", "finance")), Decision)
    assert not Endorsement.objects.exists()


def test_a_key_fills_no_slot_of_a_policy(ask, robot, finance):
    with pytest.raises(errors.RequirementNotMet):
        approve(ask(), robot)
    with pytest.raises(errors.RequirementNotMet):
        approve(ask([{"group": "finance"}]), robot)


@pytest.mark.parametrize(
    "entrance",
    [
        *(Entrance.AGUI_HTTP, Entrance.AGUI_WEBSOCKET),
        *(Entrance.BULK_PAGE, Entrance.BULK_REST, Entrance.CHAT),
    ],
)
def test_other_entrances_refuse_one_of_several(ask, bob, entrance):
    interrupt = ask()
    refusal = errors.Forbidden if "agui" in entrance else errors.NotInBulk

    with pytest.raises(refusal):
        decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            view_digest=interrupt.shown_digest,
            actor=bob,
            entrance=entrance,
        )

    assert in_force(interrupt) == []


def test_the_requester_is_not_one_of_them(ask, world, bob, dora):
    interrupt = ask(self_approval=False)
    change_role(team_id=world.team.pk, user_id=world.alice.pk, role=Role.REVIEWER, actor=SEED)

    with pytest.raises(errors.SelfApproval):
        approve(interrupt, world.actor(world.alice))

    assert deny(interrupt, world.actor(world.alice)).status == "resolved"


# -- eligibility is checked again -----------------------------------------------------------------


@pytest.mark.parametrize("change", ["left", "viewer", "inactive"])
def test_an_endorser_who_may_not_decide_any_more_does_not_count(
    ask, world, bob, dora, person, change
):
    interrupt = ask()
    approve(interrupt, bob)
    if change == "left":
        remove_member(team_id=world.team.pk, user_id=world.bob.pk, actor=SEED)
    elif change == "viewer":
        change_role(team_id=world.team.pk, user_id=world.bob.pk, role=Role.VIEWER, actor=SEED)
    else:
        type(world.bob).objects.filter(pk=world.bob.pk).update(is_active=False)

    assert isinstance(approve(interrupt, dora), Endorsement)
    assert isinstance(approve(interrupt, person("rita")), Decision)


def test_an_endorser_who_became_a_viewer_does_not_count_for_the_group(ask, world, person, finance):
    interrupt = ask([{"group": "finance"}, {"group": "finance"}])
    felix = person("felix", "finance")
    approve(interrupt, felix)
    change_role(team_id=world.team.pk, user_id=felix.user_id, role=Role.VIEWER, actor=SEED)

    assert isinstance(approve(interrupt, person("fiona", "finance")), Endorsement)
    assert isinstance(approve(interrupt, person("fred", "finance")), Decision)


def test_the_requesters_endorsement_ends_with_self_approval(ask, world, bob, dora):
    change_role(team_id=world.team.pk, user_id=world.alice.pk, role=Role.REVIEWER, actor=SEED)
    change_team(team_id=world.team.pk, actor=SEED, self_approval=True)
    interrupt = ask()
    approve(interrupt, world.actor(world.alice))
    change_team(team_id=world.team.pk, actor=SEED, self_approval=False)

    assert isinstance(approve(interrupt, bob), Endorsement)
    assert isinstance(approve(interrupt, dora), Decision)


def test_an_endorser_who_left_the_group_does_not_count(ask, person, bob, finance):
    interrupt = ask([{"group": "finance"}, {"role": "reviewer"}])
    felix = person("felix", "finance")
    approve(interrupt, felix)
    GroupMember.objects.all().delete()

    # He still fills the slot of a reviewer.
    with pytest.raises(errors.RequirementNotMet):
        approve(interrupt, bob)

    assert isinstance(approve(interrupt, person("fiona", "finance")), Decision)


def test_a_full_set_that_was_short_of_one_is_completed_by_anybody(ask, world, bob, dora, person):
    interrupt = ask()
    approve(interrupt, bob)
    change_role(team_id=world.team.pk, user_id=world.bob.pk, role=Role.VIEWER, actor=SEED)
    approve(interrupt, dora)
    change_role(team_id=world.team.pk, user_id=world.bob.pk, role=Role.REVIEWER, actor=SEED)

    assert isinstance(approve(interrupt, dora), Decision)


# -- changed arguments ----------------------------------------------------------------------------


def test_changed_arguments_void_earlier_endorsements_and_move_the_digest(ask, bob, dora):
    interrupt = ask()
    seen = interrupt.shown_digest
    approve(interrupt, bob)
    assert reread(interrupt).shown_digest == seen

    assert isinstance(answer(interrupt, dora, edited(interrupt, subject="Other")), Endorsement)

    assert in_force(interrupt) == ["dora"]
    assert reread(interrupt).shown_digest != seen
    with pytest.raises(errors.ViewChanged):
        decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            view_digest=seen,
            actor=bob,
            entrance=Entrance.REST,
            unseen=True,
        )
    assert audited("interrupt.endorsed")[-1][1]["voided"] == ["bob"]


def test_who_joins_approves_the_changed_arguments(ask, bob, dora):
    interrupt = ask()
    answer(interrupt, dora, edited(interrupt, subject="Other"))

    decision = approve(interrupt, bob)

    assert json.loads(decision.payload)["editedArgs"]["subject"] == "Other"
    assert json.loads(reread(interrupt.tool_call).approved_args)["subject"] == "Other"


def test_notes_do_not_change_what_is_endorsed(ask, bob, dora):
    interrupt = ask()
    answer(interrupt, bob, {"approved": True, "reason": "fine"})

    assert isinstance(answer(interrupt, dora, {"approved": True, "reason": "good"}), Decision)


def test_edited_arguments_can_require_more_people(world, bob, dora, person):
    stricter = rule(
        "outside",
        "ask",
        EMAIL,
        {"path": "/args/subject", "op": "is", "value": "Outside"},
        require={"slots": TWO},
    )
    publish(world, stricter)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    assert interrupt.people_needed == 1

    first = answer(interrupt, bob, edited(interrupt, subject="Outside"))

    assert isinstance(first, Endorsement)
    assert reread(interrupt).people_needed == 2
    assert isinstance(approve(interrupt, dora), Decision)


def test_going_back_to_fewer_people_leaves_the_endorsement_out(world, bob, dora):
    stricter = rule(
        "outside",
        "ask",
        EMAIL,
        {"path": "/args/subject", "op": "is", "value": "Outside"},
        require={"slots": TWO},
    )
    publish(world, stricter)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    answer(interrupt, bob, edited(interrupt, subject="Outside"))

    decision = answer(interrupt, dora, edited(interrupt))

    assert isinstance(decision, Decision)
    assert not decision.endorsements.exists()
    assert in_force(interrupt) == []


def test_denied_edits_are_refused(ask, bob):
    bad = {"path": "/args/subject", "op": "is", "value": "Bad"}
    interrupt = ask(TWO, rule("bad", "deny", EMAIL, bad))

    with pytest.raises(errors.DeniedByPolicy):
        answer(interrupt, bob, edited(interrupt, subject="Bad"))

    assert in_force(interrupt) == []


# -- withdrawing, and other ends ------------------------------------------------------------------


def test_an_endorsement_is_withdrawn_by_its_author(ask, bob, dora):
    interrupt = ask()
    approve(interrupt, bob)

    for _ in range(2):
        withdraw_endorsement(interrupt_id=interrupt.pk, actor=bob)

    assert in_force(interrupt) == []
    assert len(audited("endorsement.withdrawn")) == 1
    with pytest.raises(errors.Forbidden):
        withdraw_endorsement(interrupt_id=interrupt.pk, actor=dora)
    assert isinstance(approve(interrupt, dora), Endorsement)
    assert isinstance(approve(interrupt, bob), Decision)


def test_withdrawing_the_only_changes_restores_the_view(ask, bob):
    interrupt = ask()
    seen = interrupt.shown_digest
    answer(interrupt, bob, edited(interrupt, subject="Other"))

    withdraw_endorsement(interrupt_id=interrupt.pk, actor=bob)

    assert reread(interrupt).shown_digest == seen


def test_an_endorsement_of_a_decided_request_cannot_be_withdrawn(ask, bob, dora):
    interrupt = ask()
    approve(interrupt, bob)
    approve(interrupt, dora)

    with pytest.raises(errors.AlreadyDecided):
        withdraw_endorsement(interrupt_id=interrupt.pk, actor=bob)


def test_withdrawing_the_decision_keeps_the_others_endorsements(ask, world, bob, dora):
    change_team(team_id=world.team.pk, actor=SEED, grace_seconds=60)
    interrupt = ask()
    approve(interrupt, bob)
    approve(interrupt, dora)

    withdraw_decision(interrupt_id=interrupt.pk, actor=dora)

    assert in_force(interrupt) == ["bob"]
    assert isinstance(approve(interrupt, dora), Decision)


def test_an_endorsement_ends_the_claim_and_tells_others(ask, world, bob):
    from inbox.actions.decisions.claims_and_comments import claim_interrupt
    from inbox.actions.webhooks.endpoints import add_webhook

    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["interrupt.endorsed"],
        actor=SEED,
    )
    interrupt = ask()
    claim_interrupt(interrupt_id=interrupt.pk, actor=bob)

    approve(interrupt, bob)

    assert not Claim.objects.exists()
    (detail,) = [detail for _, detail in audited("interrupt.endorsed")]
    assert (detail["endorsed"], detail["of"], detail["rules"]) == (1, 2, ["email"])
    (delivery,) = Delivery.objects.all()
    data = json.loads(delivery.body)["data"]
    assert (data["endorsed"], data["of"]) == (1, 2)


def test_expiry_and_cancellation_end_endorsements(ask, world, bob):
    expired = ask()
    approve(expired, bob)
    Interrupt.objects.filter(pk=expired.pk).update(
        expires_at=expired.created_at - timedelta(seconds=1)
    )
    expire_interrupts(thread_id=expired.thread_id)
    (cancelled,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(cancelled, bob)
    cancel_run(run_id=cancelled.run_id, actor=world.actor(world.alice))

    assert (in_force(expired), in_force(cancelled)) == ([], [])
    assert reread(cancelled).status == "cancelled"
