"""Uses of one grant at the same moment: never too many, none after its end."""

import json
from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction

from inbox.actions.decisions.decide import decide
from inbox.actions.policies.grants import ActiveGrants, revoke_grant
from inbox.models import Grant, Interrupt, Run, Thread
from inbox.models.locks import lock_thread
from inbox.platform.clock import database_now
from inbox.rules.decisions.gate import Entrance
from inbox.rules.policies.evaluation import Ruling
from inbox.rules.policies.grants import GrantRequest
from inbox.rules.policies.language.policy import Effect
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.browser.site import wait_for
from tests.support.races.concurrently import at_once, failures, rounds
from tests.support.races.held_transactions import hold_transaction, is_waited_for

pytestmark = pytest.mark.services

CROWD = rounds(short=60, long=200)


@pytest.fixture(autouse=True)
def _postgresql_only():
    """These races run on SQLite as well, where the transaction itself is the lock."""


@pytest.fixture
def grant(committed_world, race_bob):
    """A grant of Bob's for all threads of the agent, and any arguments."""
    (interrupt,) = steps.open_interrupts(steps.start(committed_world, "rehearse:tool_call"))
    choices = dict.fromkeys(json.loads(interrupt.args), "any")
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": True},
        actor=race_bob,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.REST,
        grant=GrantRequest(choices, is_for_agent=True),
    )
    return Grant.objects.select_related("made_from__run").get()


@pytest.fixture
def uses(grant):
    """Calls that use the grant, each in a thread of its own."""
    origin = grant.made_from.thread
    threads = Thread.objects.bulk_create(
        Thread(
            team=origin.team,
            agent=origin.agent,
            external_id=f"crowd-{number}",
            created_at=origin.created_at,
            updated_at=origin.updated_at,
        )
        for number in range(CROWD)
    )
    return [partial(use, thread.pk, grant.made_from) for thread in threads]


def use(thread_id, original):
    """Return which use of the grant approved the call, or None."""
    interrupt = Interrupt(tool=original.tool, args=original.args)
    with transaction.atomic():
        thread, _ = lock_thread(thread_id, with_team=True)
        used = ActiveGrants(thread).use(
            Run.objects.get(pk=original.run_id),
            interrupt,
            Ruling(Effect.ASK, grantable=True),
            version_id=None,
            is_answerable=True,
        )
        return interrupt.grant_use[1] if used else None


def renew(grant, **columns):
    later = database_now() + timedelta(hours=1)
    columns = {"used": 0, "ended_at": None, "end_reason": "", "expires_at": later, **columns}
    Grant.objects.filter(pk=grant.pk).update(**columns)


def test_a_grant_is_never_used_too_often(grant, uses):
    for _ in range(rounds(short=2, long=50)):
        renew(grant)

        outcomes = at_once(uses)

        assert failures(outcomes) == []
        assert sorted(filter(None, outcomes)) == [*range(1, 21)]
        assert steps.reread(grant).end_reason == "used_up"


def test_a_grant_that_expires_during_the_wait_approves_nothing(grant, uses):
    def expire(cursor):
        assert wait_for(lambda: is_waited_for(cursor))
        cursor.execute("UPDATE inbox_grant SET expires_at = clock_timestamp()")

    for _ in range(rounds(short=2, long=42)):
        renew(grant)
        lock = f"SELECT 1 FROM inbox_grant WHERE id = '{grant.pk}' FOR UPDATE"
        with hold_transaction(lock, expire) as may_go_on:
            may_go_on.set()
            outcomes = at_once(uses[:24])

        assert failures(outcomes) == []
        assert list(filter(None, outcomes)) == []


def test_nothing_uses_a_grant_after_it_was_revoked(grant, uses, race_bob):
    for _ in range(rounds(short=2, long=50)):
        renew(grant, most_uses=100)
        revoke = partial(revoke_grant, grant_id=grant.pk, actor=race_bob)

        *outcomes, revoked = at_once([*uses[:60], revoke])

        assert failures([*outcomes, revoked]) == []
        count = len([outcome for outcome in outcomes if outcome])
        assert steps.reread(grant).used == revoked.used == count
        assert [use() for use in uses[:1]] == [None]
