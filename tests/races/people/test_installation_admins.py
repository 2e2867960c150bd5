"""Superusers who switch each other off at the same moment."""

from functools import partial

import pytest

from inbox.actions.people import accounts
from inbox.actions.people.accounts import set_active
from inbox.models import AuditEntry, User
from inbox.models.people.sessions import SessionStore
from inbox.queries.people.api_keys import actor_of_superuser
from tests.support.races.concurrently import at_once, failures, rounds


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_superusers_who_switch_each_other_off_one_stays(committed_world, number):
    rows = [User.objects.create_superuser(name) for name in ("sue", "tom", "uma")]
    sue, tom, uma = (actor_of_superuser(row, SessionStore()) for row in rows)
    calls = [(sue, rows[1]), (tom, rows[2]), (uma, rows[0])]

    outcomes = at_once(
        [partial(set_active, user_id=row.pk, is_active=False, actor=who) for who, row in calls]
    )

    left = User.objects.filter(is_superuser=True, is_active=True).count()
    assert left >= 1
    assert {type(failure) for failure in failures(outcomes)} <= {
        accounts.errors.Forbidden,
        accounts.errors.LastAdmin,
    }
    # They belong to no team: all of their entries are one chain, without gaps.
    entries = AuditEntry.objects.filter(action="person.deactivated").order_by("seq")
    assert [entry.seq for entry in entries] == list(range(1, 4 - left))
