"""Claims: who has taken an interrupt, for how long, and whom that stops."""

from datetime import timedelta

import pytest

from inbox.actions.decisions.claims_and_comments import claim_interrupt, release_claim, renew_claim
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Claim
from inbox.queries.decisions.collaboration import claim_on, count_claimed
from inbox.queries.decisions.inbox_lists import list_for
from inbox.queries.decisions.interrupts import detail_for
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.decisions.teamwork.collaboration import CLAIM_LEASE
from tests.support import steps
from tests.support.steps import (
    approve,
    call_off,
    open_interrupts,
    start,
)


@pytest.fixture
def interrupt(world):
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


def claim(interrupt, actor, **options):
    return claim_interrupt(interrupt_id=interrupt.pk, actor=actor, **options)


def renew(interrupt, actor):
    return renew_claim(interrupt_id=interrupt.pk, actor=actor)


def release(interrupt, actor):
    release_claim(interrupt_id=interrupt.pk, actor=actor)


def claims_in_audit(interrupt):
    entries = interrupt.audit.order_by("pk").values_list("action", flat=True)
    return [
        action
        for action in entries
        if action.startswith("interrupt.")
        and action not in ("interrupt.opened", "interrupt.refused")
    ]


def test_a_claim_lasts_for_a_lease_and_is_seen_by_the_others(interrupt, bob, dora):
    claimed = claim(interrupt, bob)

    assert claimed.until - claimed.claimed_at == CLAIM_LEASE == timedelta(minutes=10)
    assert detail_for(dora, interrupt.pk).claim.user.display_name == "Bob"
    (row,) = list_for(dora, InterruptFilter(), now=claimed.claimed_at).rows
    assert claim_on(row, claimed.claimed_at) == claimed


def test_the_list_reads_its_claims_with_its_rows(world, bob, dora, django_assert_max_num_queries):
    run = start(world, "rehearse:parallel:20")
    for interrupt in open_interrupts(run):
        claim(interrupt, bob)

    with django_assert_max_num_queries(3):
        rows = list_for(dora, InterruptFilter(), now=interrupt.created_at).rows
        names = {claim_on(row, row.created_at).user.display_name for row in rows}

    assert names == {"Bob"}


def test_what_another_has_taken_is_refused_with_who_and_until_when(interrupt, bob, dora):
    claimed = claim(interrupt, bob)

    with pytest.raises(errors.Claimed) as refused:
        claim(interrupt, dora)

    assert refused.value.detail == {"by": "Bob", "until": claimed.until.isoformat()}
    assert claims_in_audit(interrupt) == ["interrupt.claimed"]


def test_taking_over_is_possible_and_names_whom_from(interrupt, bob, dora):
    claim(interrupt, bob)

    claim(interrupt, dora, take_over=True)

    assert Claim.objects.get().user_id == dora.user_id
    entry = AuditEntry.objects.get(interrupt=interrupt, action="interrupt.taken_over")
    assert (entry.content["actor"], entry.content["detail"]["taken_from"]) == (
        "Dora",
        "Bob",
    )


def test_taking_over_what_is_free_is_a_claim(interrupt, bob):
    claim(interrupt, bob, take_over=True)

    assert claims_in_audit(interrupt) == ["interrupt.claimed"]


def test_claiming_again_renews_and_leaves_no_second_entry(interrupt, bob, later):
    first = claim(interrupt, bob)
    later(minutes=5)

    again = claim(interrupt, bob)

    assert again.claimed_at == first.claimed_at
    assert again.until - first.until >= timedelta(minutes=5)
    assert claims_in_audit(interrupt) == ["interrupt.claimed"]


def test_a_lease_that_ran_out_is_free(interrupt, bob, dora, later):
    claim(interrupt, bob)
    later(minutes=10)

    assert detail_for(dora, interrupt.pk).claim is None
    assert count_claimed(bob) == 0
    claim(interrupt, dora)

    assert claims_in_audit(interrupt) == ["interrupt.claimed"] * 2
    assert detail_for(bob, interrupt.pk).claim.user.display_name == "Dora"


def test_renewing_extends_the_lease_and_is_not_in_the_audit_trail(interrupt, bob, later):
    first = claim(interrupt, bob)
    later(minutes=9)

    assert renew(interrupt, bob).until > first.until
    assert claims_in_audit(interrupt) == ["interrupt.claimed"]


def test_only_the_holder_renews(interrupt, bob, dora):
    with pytest.raises(errors.NotClaimed):
        renew(interrupt, bob)
    claim(interrupt, bob)

    with pytest.raises(errors.Claimed):
        renew(interrupt, dora)


def test_nobody_renews_what_another_let_go(interrupt, bob, dora, later):
    claim(interrupt, dora)
    later(minutes=10)

    with pytest.raises(errors.NotClaimed):
        renew(interrupt, bob)


def test_renewing_what_was_taken_over_says_by_whom(interrupt, bob, dora):
    claim(interrupt, bob)
    claim(interrupt, dora, take_over=True)

    with pytest.raises(errors.Claimed) as refused:
        renew(interrupt, bob)

    assert refused.value.detail["by"] == "Dora"


def test_releasing_frees_it_once(interrupt, bob, dora):
    claim(interrupt, bob)

    release(interrupt, bob)
    release(interrupt, bob)

    assert claims_in_audit(interrupt) == ["interrupt.claimed", "interrupt.released"]
    claim(interrupt, dora)


def test_nobody_releases_what_another_holds(interrupt, bob, dora):
    claim(interrupt, bob)

    release(interrupt, dora)

    assert Claim.objects.get().user_id == bob.user_id


@pytest.mark.parametrize("action", [claim, renew, release])
def test_only_those_who_decide_have_claims(interrupt, alice, carol, robot, action):
    with pytest.raises(errors.Forbidden):
        action(interrupt, alice)
    with pytest.raises(errors.Forbidden):
        action(interrupt, robot)
    with pytest.raises(errors.NotFound):
        action(interrupt, carol)

    assert not Claim.objects.exists()


def test_a_claim_keeps_other_people_from_deciding_while_it_runs(interrupt, bob, dora, later):
    claim(interrupt, bob)

    with pytest.raises(errors.Claimed):
        approve(interrupt, dora)
    with pytest.raises(errors.Claimed):
        call_off(interrupt, dora)
    later(minutes=10)
    approve(interrupt, dora)

    assert steps.reread(interrupt).status == "resolved"


def test_the_holder_decides(interrupt, bob):
    claim(interrupt, bob)

    approve(interrupt, bob)

    assert steps.reread(interrupt).status == "resolved"


def test_a_claim_does_not_stop_a_key(interrupt, bob, robot):
    claim(interrupt, bob)

    approve(interrupt, robot)

    assert steps.reread(interrupt).status == "resolved"


def test_a_claim_stops_other_people_over_ag_ui(interrupt, world, bob, dora):
    claim(interrupt, bob)

    with pytest.raises(errors.Claimed):
        start_run(agent=world.agent, request=_answers_to(interrupt), actor=dora)

    assert steps.reread(interrupt).status == "open"


def test_a_claim_does_not_stop_a_machine_over_ag_ui(interrupt, world, bob):
    claim(interrupt, bob)

    start_run(agent=world.agent, request=_answers_to(interrupt), actor=actor_of_key(world.key))

    assert steps.reread(interrupt).status == "resolved"
    assert not Claim.objects.exists()


def _answers_to(interrupt):
    return steps.request(
        thread_id=interrupt.thread.external_id, entries=(steps.entry(interrupt, steps.APPROVE),)
    )


@pytest.mark.parametrize("ending", ["decided", "called off", "expired"])
def test_a_claim_ends_with_its_interrupt(interrupt, bob, dora, later, ending):
    claim(interrupt, bob)
    if ending == "expired":
        later(hours=2)
        expire_interrupts(thread_id=interrupt.thread_id)
    else:
        approve(interrupt, bob) if ending == "decided" else call_off(interrupt, bob)

    assert not Claim.objects.exists()
    assert detail_for(dora, interrupt.pk).claim is None
    expected = errors.InterruptExpired if ending == "expired" else errors.AlreadyDecided
    for action in (claim, renew):
        with pytest.raises(expected):
            action(interrupt, bob)
    release(interrupt, bob)


def test_what_i_have_taken_is_counted_up_to_a_bound(world, bob, dora, monkeypatch):
    for interrupt in open_interrupts(start(world, "rehearse:parallel3")):
        claim(interrupt, bob)

    assert (count_claimed(bob), count_claimed(dora)) == (3, 0)
    monkeypatch.setattr("inbox.queries.decisions.collaboration.MAX_CLAIMED_COUNT", 2)
    monkeypatch.setattr("inbox.queries.decisions.collaboration._CLAIMS._compiled", {})
    assert count_claimed(bob) == 2


def test_who_left_the_team_has_taken_nothing(interrupt, world, bob):
    claim(interrupt, bob)
    world.bob.memberships.all().delete()

    assert count_claimed(bob) == 0
