"""Several people with one link at the same moment, and when its mail leaves."""

import threading
from functools import partial

import pytest
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection

from inbox.actions.people import accept_invitation, invitation_mails, invitations
from inbox.actions.people.accept_invitation import join_team, join_with_new_account
from inbox.actions.people.invitation_mails import claim_invitation_mail
from inbox.actions.people.invitations import invite, resend_invitation, withdraw_invitation
from inbox.models import Invitation, Membership
from inbox.rules.errors import InvitationEnded, NotFound
from inbox.rules.people.access import SEED, Role
from inbox.rules.people.invitations import MAX_OPEN_INVITATIONS
from inbox.sending import invitation_sender
from tests.support.races.concurrently import (
    Meeting,
    at_once,
    failures,
    rounds,
)

NORA = {"full_name": "Nora", "password": "a long pass phrase"}


def invited(world, email="nora@example.com"):
    """An invitation, and the token in its link."""
    row, link = invite(
        team_id=world.team.pk, email=email, role=Role.VIEWER, actor=SEED, site="http://x"
    )
    return row, link.rstrip("/").rpartition("/")[2]


def by_one_link(world):
    """Carol, who is a stranger, and somebody new, with one link."""
    _, token = invited(world)
    return [
        partial(join_team, token=token, actor=world.actor(world.carol)),
        partial(join_with_new_account, token=token, username="nora", **NORA),
    ]


def joined(world):
    return Membership.objects.filter(team=world.team, user__username__in=("carol", "nora")).count()


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
def test_of_two_with_one_link_one_joins(committed_world, number):
    outcomes = at_once(by_one_link(committed_world))

    assert [type(failure) for failure in failures(outcomes)] == [InvitationEnded]
    assert joined(committed_world) == 1


def test_without_the_lock_both_join(
    committed_world, without_the_lock, without_the_trail, monkeypatch
):
    """The test above needs the lock: each of the two sees that nobody has used the link."""
    meeting = Meeting(2)
    check_together = meeting.after(accept_invitation.check_is_open)
    monkeypatch.setattr(accept_invitation, "check_is_open", check_together)
    monkeypatch.setattr(accept_invitation, "open_invitation", lambda token: None)

    assert failures(at_once(by_one_link(committed_world))) == []
    assert meeting.met
    assert joined(committed_world) == 2


@pytest.mark.parametrize("number", range(rounds(short=5, long=100)))
@pytest.mark.parametrize("what", ["withdraw", "resend"])
def test_who_joins_while_the_link_ends_joins_or_does_not(committed_world, what, number):
    world = committed_world
    row, token = invited(world)
    about = {"invitation_id": row.pk, "actor": SEED}
    end = {
        "withdraw": partial(withdraw_invitation, **about),
        "resend": partial(resend_invitation, site="http://x", **about),
    }[what]

    outcomes = at_once([partial(join_with_new_account, token=token, username="nora", **NORA), end])

    row.refresh_from_db()
    (refusal,) = failures(outcomes)
    assert isinstance(refusal, InvitationEnded | NotFound)
    assert (row.accepted_at is not None) == (joined(world) == 1) == (outcomes[1] is refusal)


@pytest.mark.parametrize("number", range(rounds(short=3, long=50)))
def test_of_two_new_people_with_one_name_one_gets_it(committed_world, number):
    tokens = [invited(committed_world, f"{name}@example.com")[1] for name in ("nora", "norah")]

    outcomes = at_once(
        [partial(join_with_new_account, token=token, username="nora", **NORA) for token in tokens]
    )

    assert [failure.code for failure in failures(outcomes)] == ["USERNAME_TAKEN"]


def two_for_the_last_place(world):
    for number in range(MAX_OPEN_INVITATIONS - 1):
        invited(world, f"{number}@example.com")
    return [partial(invited, world, f"{x}@example.com") for x in "ab"]


def test_two_at_once_find_room_for_one(committed_world):
    outcomes = at_once(two_for_the_last_place(committed_world))

    assert len(failures(outcomes)) == 1
    assert Invitation.objects.count() == MAX_OPEN_INVITATIONS


def test_without_the_lock_both_find_room(
    committed_world, without_the_lock, without_the_trail, monkeypatch
):
    """The test above needs the lock: each of the two counts before the other is there."""
    calls, meeting = two_for_the_last_place(committed_world), Meeting(2)
    monkeypatch.setattr(invitations, "check_room", meeting.after(invitations.check_room))

    assert failures(at_once(calls)) == []
    assert meeting.met
    assert Invitation.objects.count() == MAX_OPEN_INVITATIONS + 1


class Looking(BaseEmailBackend):
    """Notes whether a transaction is open while a mail is sent."""

    observations: list[bool] = []

    def send_messages(self, messages):
        self.observations.append(connection.in_atomic_block)
        return len(messages)


def test_workers_at_once_send_one_mail_outside_of_transactions(
    committed_world, settings, monkeypatch
):
    settings.SENDS_MAIL, settings.EMAIL_BACKEND = True, f"{__name__}.Looking"
    monkeypatch.setattr(invitation_sender, "_slot", threading.BoundedSemaphore(4))
    Looking.observations.clear()
    for number in range(1, rounds(short=10, long=100) + 1):
        row, _ = invited(committed_world, f"{number}@example.com")

        send = partial(invitation_sender.send_invitation, row.pk)
        assert failures(at_once([send] * 4)) == []

        assert Looking.observations == [False] * number
        Invitation.objects.all().delete()


def test_without_the_lock_workers_claim_one_mail_several_times(
    committed_world, settings, without_the_lock, monkeypatch
):
    settings.SENDS_MAIL = True
    row, _ = invited(committed_world)
    meeting = Meeting(2)
    read_together = meeting.after(invitation_mails.database_now)
    monkeypatch.setattr(invitation_mails, "database_now", read_together)

    mails = at_once([partial(claim_invitation_mail, invitation_id=row.pk)] * 2)

    assert meeting.met
    assert None not in mails
