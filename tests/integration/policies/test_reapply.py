"""Applying a changed policy to open requests: rulings, digests, endorsements and decisions."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.policies.reapply import reapply_policies
from inbox.models import Announcement, Claim, Decision, Endorsement, Ruling, Run, ToolCall
from inbox.queries.policies.reapplication import preview_reapplication
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.states import EntryStatus
from inbox.transparency_log.reconciliation import reconcile
from tests.support.audit.entries import audited
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.policies.replay import replay_all
from tests.support.steps import approve, deny, open_interrupts, reread, resumed_run

REFUND = tool_is("refund")
TWO = [{"role": "reviewer"}, {"role": "reviewer"}]
ASK_TWO = rule("two", "ask", REFUND, require={"slots": TWO})
ALLOW_SMALL = rule("small", "allow", REFUND, up_to(50))
DENY = rule("stop", "deny", REFUND)


@pytest.fixture
def erin(world):
    return administrator(world)


@pytest.fixture
def reapply(world, erin):
    return lambda **more: reapply_policies(team_id=world.team.pk, actor=erin, **more)


def test_requests_that_the_changed_policy_answers_are_decided(world, run_paying, reapply):
    run = run_paying({"amount": 40}, {"amount": 60})
    small, large = open_interrupts(run)
    publish(world, ALLOW_SMALL)

    result = reapply()

    assert (result.changed, result.decided, result.next_after) == (0, 1, None)
    assert [reread(row).status for row in (small, large)] == ["resolved", "open"]
    decision = Decision.objects.get(interrupt=small)
    assert (decision.entrance, decision.ruling.number) == ("policy", 1)
    assert len(audited("policy.reapplied")) == 1


def test_the_last_request_that_is_decided_resumes_the_run_once(world, run_paying, reapply):
    run = run_paying({"amount": 40}, {"amount": 45})
    publish(world, ALLOW_SMALL)

    reapply()
    reapply()

    assert Run.objects.filter(resumes=run).count() == 1
    assert resumed_run(run).status == "succeeded"


def test_a_denial_by_the_changed_policy_closes_the_request(world, run_paying, reapply):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    publish(world, DENY)

    reapply()

    assert json.loads(Decision.objects.get(interrupt=row).payload)["approved"] is False


def test_a_claim_ends_when_the_policy_decides(world, run_paying, reapply, bob):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    claim_interrupt(interrupt_id=row.pk, actor=bob)
    publish(world, ALLOW_SMALL)

    reapply()

    assert not Claim.objects.exists()


def test_a_stricter_requirement_refuses_answers_to_the_old_view(world, run_paying, reapply, bob):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    publish(world, ASK_TWO)
    before = row.shown_digest

    assert reapply().changed == 1

    row = reread(row)
    assert row.people_needed == 2
    assert row.shown_digest != before
    with pytest.raises(errors.ViewChanged):
        decide(
            interrupt_id=row.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            view_digest=before,
            actor=bob,
            entrance=Entrance.REST,
        )


def test_endorsements_of_the_old_requirement_are_void(world, run_paying, reapply, bob):
    publish(world, ASK_TWO)
    (row,) = open_interrupts(run_paying({"amount": 40}))
    approve(row, bob, editedArgs={"amount": 30})
    publish(world, rule("three", "ask", REFUND, require={"slots": [*TWO, {"role": "admin"}]}))

    reapply()

    row = reread(row)
    assert Endorsement.objects.get().voided_at is not None
    assert (row.endorsed_payload, row.people_needed) == (None, 3)
    assert audited("policy.reapplied")[0][1]["voided"] == ["bob"]


def test_a_ruling_that_would_be_the_same_stays(world, run_paying, reapply, bob):
    publish(world, ASK_TWO)
    (row,) = open_interrupts(run_paying({"amount": 40}))
    approve(row, bob)
    before = reread(row).shown_digest
    publish(world, {**ASK_TWO, "id": "renamed"}, rule("other", "deny", tool_is("drop_table")))

    assert reapply().total == 0

    assert reread(row).shown_digest == before
    assert Endorsement.objects.get().voided_at is None
    assert Ruling.objects.count() == 1


def test_reapplying_again_changes_nothing(world, run_paying, reapply):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    timed = {"slots": TWO, "expires_after": "PT4H", "remind": ["PT1H"]}
    publish(world, rule("two", "ask", REFUND, require=timed))
    reapply()
    before = reread(row)

    assert reapply().total == 0

    assert (reread(row).shown_digest, reread(row).expires_at) == (
        before.shown_digest,
        before.expires_at,
    )


def test_an_expiry_starts_now_and_never_gets_later(world, run_paying, reapply):
    publish(world, rule("two", "ask", REFUND, require={"expires_after": "PT1H"}))
    (row,) = open_interrupts(run_paying({"amount": 40}))
    first = row.expires_at

    publish(world, rule("two", "ask", REFUND, require={"expires_after": "PT4H", "slots": TWO}))
    reapply()
    assert reread(row).expires_at == first

    publish(world, rule("two", "ask", REFUND, require={"expires_after": "PT5M"}))
    reapply()
    row = reread(row)
    assert timedelta() < row.expires_at - datetime.now(UTC) <= timedelta(minutes=5)
    assert row.due_at == row.expires_at
    assert json.loads(row.body)["expiresAt"][:16] == row.expires_at.isoformat()[:16]


def test_what_a_person_took_back_is_not_approved_again(world, run_paying, reapply, bob):
    publish(world, ALLOW_SMALL)
    run = run_paying({"amount": 40}, {"amount": 60})
    small = run.interrupts.get(status="resolved")
    withdraw_decision(interrupt_id=small.pk, actor=bob)
    publish(world, ALLOW_SMALL, rule("other", "deny", tool_is("drop_table")))

    assert reapply().total == 0
    assert reread(small).status == "open"


def test_new_rulings_are_replayed_and_verified(world, run_paying, reapply, bob):
    run_paying({"amount": 40}, {"amount": 60}, {"amount": 700})
    publish(world, ASK_TWO)
    reapply()
    publish(world, ALLOW_SMALL, rule("large", "ask", REFUND, require={"expires_after": "PT2H"}))
    run_paying({"amount": 60})
    reapply()
    (row, *_) = open_interrupts(Run.objects.earliest("queued_at"))
    deny(row, bob)

    assert replay_all()["differences"] == []
    assert reconcile() == []
    assert Ruling.objects.filter(number=2).count() == 3


def test_a_forged_later_ruling_is_found(world, run_paying, reapply):
    run_paying({"amount": 40})
    publish(world, ASK_TWO)
    reapply()
    ruling = Ruling.objects.get()
    ruling.pk, ruling.number = None, 2
    ruling.save(force_insert=True)

    assert [finding.code for finding in reconcile()] == ["ruling_differs"]


def test_reviewers_cannot_reapply(world, run_paying, bob):
    run_paying({"amount": 40})
    publish(world, DENY)

    with pytest.raises(errors.Forbidden):
        reapply_policies(team_id=world.team.pk, actor=bob)


def test_an_administrator_of_another_team_cannot_reapply(world, run_paying, carol):
    run_paying({"amount": 40})
    publish(world, DENY)
    with pytest.raises(errors.NotFound):
        reapply_policies(team_id=world.team.pk, actor=carol)


def test_a_preview_changes_nothing(world, run_paying, erin):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    publish(world, ALLOW_SMALL)

    preview = preview_reapplication(erin, world.team)

    assert [(item.interrupt.pk, item.after.effect) for item in preview.changes] == [
        (row.pk, "allow")
    ]
    assert reread(row).status == "open"
    assert not Ruling.objects.exists()


def test_people_are_notified_of_requests_that_they_must_decide_anew(world, run_paying, reapply):
    run_paying({"amount": 40}, {"amount": 60})
    publish(
        world,
        ALLOW_SMALL,
        rule("two", "ask", REFUND, {**up_to(50), "op": "gt"}, require={"slots": TWO}),
    )
    before = Announcement.objects.count()

    reapply()

    assert Announcement.objects.count() == before + 1


def test_one_call_handles_a_limited_number_of_threads(world, run_paying, reapply, monkeypatch):
    monkeypatch.setattr("inbox.actions.policies.reapply.MAX_THREADS", 2)
    for _ in range(5):
        run_paying({"amount": 40})
    publish(world, ALLOW_SMALL)

    first = reapply()
    second = reapply(after=first.next_after)
    third = reapply(after=second.next_after)

    assert [first.decided, second.decided, third.decided] == [2, 2, 1]
    assert third.next_after is None


def test_a_call_that_a_person_has_edited_is_not_decided_by_the_policy(world, run_paying, reapply):
    (row,) = open_interrupts(run_paying({"amount": 40}))
    # By the answer to another question about the same call.
    ToolCall.objects.filter(pk=row.tool_call_id).update(edited_args='{"amount":500}')
    publish(world, ALLOW_SMALL)

    assert reapply().decided == 0

    assert reread(row).status == "open"


def test_without_open_requests_reviewers_and_strangers_are_refused_too(world, bob, carol):
    with pytest.raises(errors.Forbidden):
        reapply_policies(team_id=world.team.pk, actor=bob)
    with pytest.raises(errors.NotFound):
        reapply_policies(team_id=world.team.pk, actor=carol)


def test_a_preview_reads_the_facts_of_a_run_once(
    world, run_paying, erin, django_assert_max_num_queries
):
    run_paying(*({"amount": amount} for amount in range(40)))
    publish(world, ALLOW_SMALL)

    with django_assert_max_num_queries(14):
        assert len(preview_reapplication(erin, world.team).changes) == 40
