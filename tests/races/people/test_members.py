"""Administrators who leave their team at the same moment."""

from functools import partial

import pytest

from inbox.actions.people import members
from inbox.actions.people.members import change_role, remove_member
from inbox.models import Membership
from inbox.rules.errors import LastAdmin
from inbox.rules.people.access import Role
from tests.support.audit.entries import make_admin
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)


def leaving(world, *who):
    return [
        partial(remove_member, team_id=world.team.pk, user_id=member.user_id, actor=member)
        for member in who
    ]


def admins(world):
    return Membership.objects.filter(team=world.team, role="admin").count()


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_two_administrators_who_leave_at_once_one_stays(committed_world, number):
    ana, ben = make_admin(committed_world), make_admin(committed_world, "ben")

    outcomes = at_once(leaving(committed_world, ana, ben))

    assert [type(failure) for failure in failures(outcomes)] == [LastAdmin]
    assert admins(committed_world) == 1


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_two_who_lower_each_other_one_stays_an_administrator(committed_world, number):
    ana, ben = make_admin(committed_world), make_admin(committed_world, "ben")
    lower = partial(change_role, team_id=committed_world.team.pk, role=Role.VIEWER)

    outcomes = at_once(
        [
            partial(lower, user_id=ben.user_id, actor=ana),
            partial(lower, user_id=ana.user_id, actor=ben),
        ]
    )

    assert len(failures(outcomes)) == 1
    assert admins(committed_world) == 1


def test_without_the_lock_both_leave(
    committed_world, without_the_lock, without_the_trail, monkeypatch
):
    """The tests above need the lock: each of the two sees that the other is there."""
    ana, ben = make_admin(committed_world), make_admin(committed_world, "ben")
    meeting = Meeting(2)
    check_together = meeting.after(members.check_admin_stays)
    monkeypatch.setattr(members, "check_admin_stays", check_together)

    assert failures(at_once(leaving(committed_world, ana, ben))) == []
    assert meeting.met
    assert admins(committed_world) == 0
