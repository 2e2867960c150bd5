"""Entries of several people at once: each gets its own place in the chain, and nobody hangs."""

from functools import partial

import pytest

from inbox.actions.decisions.claims_and_comments import record_view
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.saved_views import save_view, share_view
from inbox.actions.people.accounts import record_sign_in
from inbox.actions.people.provisioning import ensure_team
from inbox.actions.runs.start_run import start_run
from inbox.models import AuditEntry, Membership, RejectionCount, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.audit.audit_entry import SYSTEM_CHAIN
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.errors import ContractError, ViewChanged
from inbox.rules.people.access import SEED, Role
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.audit.logs import keep_in, verify
from tests.support.races.concurrently import at_once, failures


@pytest.fixture
def interrupt(committed_world):
    return steps.open_interrupts(steps.start(committed_world, "rehearse:tool_call"))[0]


def chain_of(thread):
    return list(
        AuditEntry.objects.filter(chain=thread.pk).order_by("seq").values_list("seq", flat=True)
    )


def test_refused_answers_are_counted_and_written_down_once_per_person(
    committed_world, race_bob, erin, interrupt
):
    def wrong(actor):
        return partial(
            decide,
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            actor=actor,
            view_digest="0" * 64,
            entrance=Entrance.REST,
            payload={"approved": True},
        )

    outcomes = at_once([wrong(race_bob), wrong(erin)] * 4)

    assert {type(failure) for failure in failures(outcomes)} == {ViewChanged}
    assert AuditEntry.objects.filter(action="interrupt.refused").count() == 2
    assert list(RejectionCount.objects.values_list("count", flat=True)) == [4, 4]
    numbers = chain_of(interrupt.thread)
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_view_is_written_down_once_in_however_many_tabs_it_is_opened(
    committed_world, race_bob, erin, interrupt
):
    def look(actor):
        return partial(
            record_view, interrupt_id=interrupt.pk, view_digest=interrupt.view_digest, actor=actor
        )

    outcomes = at_once([look(race_bob), look(erin)] * 4)

    assert failures(outcomes) == []
    assert AuditEntry.objects.filter(action="interrupt.viewed").count() == 2


def test_rejected_resumes_are_all_counted_and_written_down_once(
    committed_world, race_bob, interrupt
):
    resume = steps.request(
        "",
        thread_id=interrupt.thread.external_id,
        entries=[steps.entry(interrupt, {"approved": "yes"})],
    )
    send = partial(start_run, agent=committed_world.agent, request=resume, actor=race_bob)

    outcomes = at_once([send] * 8)

    assert all(isinstance(failure, ContractError) for failure in failures(outcomes))
    assert len(failures(outcomes)) == 8
    assert AuditEntry.objects.filter(action="resume.rejected").count() == 1
    assert RejectionCount.objects.get().count == 8


def test_concurrent_entries_in_several_teams_do_not_deadlock(
    committed_world, race_bob, erin, settings, tmp_path
):
    auditor = keep_in(settings, tmp_path)
    for number in range(4):
        team = ensure_team(slug=f"more-{number}", name="More", actor=SEED)
        for actor in (race_bob, erin):
            Membership.objects.create(team=team, user_id=actor.user_id, role=Role.REVIEWER)
    saves = [
        partial(
            save_view, name=f"view {number}", list_filter=InterruptFilter(mine=True), actor=actor
        )
        for number in range(10)
        for actor in (race_bob, erin)
    ]

    outcomes = at_once(saves)

    assert failures(outcomes) == []
    assert AuditEntry.objects.filter(action="view.saved").count() == 20 * 5
    from inbox import transparency_log

    transparency_log.append_and_sign()
    assert verify(auditor)["verdict"] == "intact"
    assert share_view(view_id=outcomes[0].pk, team_id=None, actor=race_bob)


def test_concurrent_entries_without_a_team_get_distinct_positions(committed_world):
    people = [User.objects.create_user(f"person-{number}") for number in range(8)]

    outcomes = at_once([partial(record_sign_in, actor=actor_of_user(person)) for person in people])

    assert failures(outcomes) == []
    numbers = AuditEntry.objects.filter(chain=SYSTEM_CHAIN).order_by("seq")
    assert list(numbers.values_list("seq", flat=True)) == list(range(1, len(people) + 1))
