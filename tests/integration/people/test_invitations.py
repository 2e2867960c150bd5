"""Invitations: who sends them, what the mail says, and who joins by them."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend

from inbox.actions.people.accept_invitation import (
    join_by_provider,
    join_team,
    join_with_new_account,
)
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.invitation_mails import claim_invitation_mail, record_invitation_mail
from inbox.actions.people.invitations import invite, resend_invitation, withdraw_invitation
from inbox.models import Invitation, Membership, Team, User
from inbox.queries.people.api_keys import actor_of_key
from inbox.queries.people.invitations import invitations_for, open_invitation
from inbox.rules.errors import (
    AlreadyMember,
    EmailTaken,
    Forbidden,
    InvalidValue,
    InvitationEnded,
    MoreThanOwn,
    NotFound,
    UsernameTaken,
)
from inbox.rules.notifications.events import SendProblem
from inbox.rules.people.access import SEED, Permission, Role
from inbox.rules.people.invitations import MAX_OPEN_INVITATIONS
from inbox.sending.invitation_sender import build_invitation
from tests.support.audit.entries import audited, make_admin
from tests.support.notifications.invitation_mails import send_invitations
from tests.support.notifications.mail_server import run_mail_server

SITE = "https://signoff.example.com/"
NORA = {"username": "nora", "full_name": "Nora  New", "password": "a long pass phrase"}


@pytest.fixture
def ana(world):
    return make_admin(world)


@pytest.fixture
def by_mail(settings):
    """The site has a mail server."""
    settings.SENDS_MAIL = True


def ask(world, actor, email="nora@example.com", role=Role.REVIEWER):
    """Invite, and let a worker send the mail."""
    row, link = invite(team_id=world.team.pk, email=email, role=role, actor=actor, site=SITE)
    send_invitations()
    row.refresh_from_db()
    return row, link


def again(row, actor):
    row, link = resend_invitation(invitation_id=row.pk, actor=actor, site=SITE)
    send_invitations()
    row.refresh_from_db()
    return row, link


def withdraw(row, actor):
    withdraw_invitation(invitation_id=row.pk, actor=actor)


def token_of(link):
    return link.rstrip("/").rpartition("/")[2]


def mailed_token():
    (link,) = [line for line in mail.outbox[-1].body.splitlines() if line.startswith("https:")]
    return token_of(link)


def role_of(world, user):
    return role_of_in(world.team, user)


def role_of_in(team, user):
    return Membership.objects.get(team=team, user=user).role


# -- asking ---------------------------------------------------------------------------------------


def test_a_mail_has_the_link_and_nobody_else(world, ana, by_mail):
    row, link = ask(world, ana, email=" Nora@Example.com ")

    (message,) = mail.outbox
    assert (link, row.mail, message.to) == ("", "sent", ["nora@example.com"])
    assert message.subject == "Invitation to a team in Signoff"
    assert f"{SITE}join/" in message.body
    assert "Ana invited you to the team Tests" in message.body
    assert open_invitation(mailed_token()) == row


def test_where_no_mail_is_sent_the_link_is_returned_instead(world, ana):
    row, link = ask(world, ana)

    assert (row.mail, mail.outbox) == ("none", [])
    assert open_invitation(token_of(link)) == row


def test_a_link_leads_to_where_people_open_the_site(world, ana, settings):
    settings.PUBLIC_URL = "https://inbox.example.org"

    assert ask(world, ana)[1].startswith("https://inbox.example.org/join/")


def test_a_token_has_256_bits_and_only_its_digest_is_kept(world, ana):
    row, link = ask(world, ana)

    row.refresh_from_db()
    values = [str(getattr(row, field.attname)) for field in Invitation._meta.concrete_fields]
    assert len(token_of(link)) == 43
    assert not [text for text in values if token_of(link) in text]
    assert row.expires_at - row.sent_at == timedelta(days=7)


def test_only_administrators_invite_see_and_withdraw(world, ana, bob, carol):
    row, _ = ask(world, ana)

    for who, refused in ((bob, Forbidden), (carol, NotFound)):
        for attempt in (
            lambda who=who: ask(world, who, email="x@example.com"),
            lambda who=who: again(row, who),
            lambda who=who: withdraw(row, who),
            lambda who=who: invitations_for(who, world.team.pk),
        ):
            with pytest.raises(refused):
                attempt()


def test_a_machine_invites_nobody_to_more_than_it_may_do(world, ana):
    scopes = {Permission.ADMIN, Permission.READ, Permission.RUN}
    _, token = make_key(team_id=world.team.pk, name="k", scopes=scopes, actor=SEED)
    machine = actor_of_key(token)
    row, _ = ask(world, ana)

    with pytest.raises(MoreThanOwn):
        ask(world, machine, email="x@example.com")
    with pytest.raises(MoreThanOwn):
        again(row, machine)
    ask(world, machine, email="x@example.com", role=Role.VIEWER)


@pytest.mark.parametrize(
    "address",
    ["", "nora", "nora@", "a@b.com\nBcc: c@d.com", "a@b.com\r\n", f"{'x' * 250}@example.com"],
)
def test_what_is_no_address_is_said_beside_it(world, ana, by_mail, address):
    if address.endswith("\r\n"):
        address += "Bcc: c@d.com"

    with pytest.raises(InvalidValue) as refused:
        ask(world, ana, email=address)

    assert list(refused.value.detail["problems"]) == ["email"]
    assert mail.outbox == []


def test_no_name_gets_into_the_header_of_a_mail_or_makes_a_paragraph_of_it(world, ana, by_mail):
    Team.objects.filter(pk=world.team.pk).update(name="T\r\nBcc: c@d.com\n\nOpen https://evil.test")

    ask(world, ana)

    message = mail.outbox[0].message()
    assert (message["Bcc"], message["To"]) == (None, "nora@example.com")
    assert "team T Bcc: c@d.com Open https://evil.test in Signoff" in mail.outbox[0].body


def test_an_address_has_one_invitation_at_a_time(world, ana):
    row, _ = ask(world, ana)
    with pytest.raises(InvalidValue):
        ask(world, ana, email="NORA@example.com")

    withdraw(row, ana)

    ask(world, ana)


def test_a_team_has_up_to_fifty_open_invitations(world, ana):
    rows = [
        ask(world, ana, email=f"{number}@example.com")[0] for number in range(MAX_OPEN_INVITATIONS)
    ]
    with pytest.raises(InvalidValue):
        ask(world, ana)

    withdraw(rows[0], ana)

    ask(world, ana)
    assert len(invitations_for(ana, world.team.pk)) == MAX_OPEN_INVITATIONS


def test_whether_an_address_is_somebodys_makes_no_difference(world, ana, by_mail):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)

    existing, unknown = (
        ask(world, ana, email="bob@example.com"),
        ask(world, ana, email="x@example.com"),
    )

    assert [(row.mail, link) for row, link in (existing, unknown)] == [("sent", "")] * 2


# -- mails that fail ------------------------------------------------------------------------------


class Broken(BaseEmailBackend):
    def send_messages(self, messages):
        raise ConnectionRefusedError


@pytest.fixture
def server(settings, by_mail):
    with run_mail_server() as state:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", state.port
        yield state


def test_a_mail_that_cannot_be_sent_now_is_sent_later(world, ana, by_mail, settings, later):
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    row, link = ask(world, ana)
    assert (link, row.mail, len(mail.outbox)) == ("", "sending", 0)

    settings.EMAIL_BACKEND = working
    send_invitations()
    assert not mail.outbox  # not yet due
    later(seconds=10)
    send_invitations()
    send_invitations()

    row.refresh_from_db()
    assert (row.mail, row.link, len(mail.outbox)) == ("sent", "", 1)
    assert open_invitation(mailed_token()) == row


def test_a_refused_address_is_a_failure_until_it_is_sent_again(world, ana, server):
    server.recipient = "550 no such mailbox"
    row, _ = ask(world, ana)
    assert (row.mail, row.link) == ("failed", "")

    server.recipient = "250 ok"
    row, _ = again(row, ana)

    assert row.mail == "sent"


def test_the_result_of_a_mail_is_not_that_of_a_later_one(world, ana, by_mail, later):
    """Somebody sends it again while the first mail is on its way."""
    row, _ = invite(
        team_id=world.team.pk, email="nora@example.com", role=Role.VIEWER, actor=ana, site=SITE
    )
    first = claim_invitation_mail(invitation_id=row.pk)
    row, _ = again(row, ana)

    is_current = record_invitation_mail(mail=first, problem=SendProblem.REFUSED)

    row.refresh_from_db()
    assert (is_current, row.mail) == (False, "sent")


def test_a_mail_of_a_lost_worker_is_sent_again_with_its_id(world, ana, by_mail, later):
    row, _ = invite(
        team_id=world.team.pk, email="nora@example.com", role=Role.VIEWER, actor=ana, site=SITE
    )
    lost = build_invitation(claim_invitation_mail(invitation_id=row.pk))
    send_invitations()
    assert not mail.outbox

    later(seconds=91)
    send_invitations()

    (message,) = mail.outbox
    assert message.extra_headers["Message-ID"] == lost.extra_headers["Message-ID"]
    assert message.body == lost.body


def test_a_withdrawn_invitation_is_not_mailed(world, ana, by_mail):
    row, _ = invite(
        team_id=world.team.pk, email="nora@example.com", role=Role.VIEWER, actor=ana, site=SITE
    )
    withdraw(row, ana)

    send_invitations()

    assert not mail.outbox
    assert Invitation.objects.get().link == ""


# -- asking again and taking back -----------------------------------------------------------------


def test_a_new_link_ends_the_one_before_and_counts_for_its_whole_time(world, ana, later):
    row, first = ask(world, ana)
    later(days=8)
    with pytest.raises(InvitationEnded):
        open_invitation(token_of(first))

    _, second = again(row, ana)

    assert open_invitation(token_of(second)) == row
    with pytest.raises(NotFound):
        open_invitation(token_of(first))
    with pytest.raises(NotFound):
        join_with_new_account(token=token_of(first), **NORA)


def test_what_was_withdrawn_counts_no_more_and_is_not_sent_again(world, ana):
    row, link = ask(world, ana)
    withdraw(row, ana)
    withdraw(row, ana)

    for attempt in (
        lambda: open_invitation(token_of(link)),
        lambda: join_with_new_account(token=token_of(link), **NORA),
        lambda: again(row, ana),
    ):
        with pytest.raises(InvitationEnded):
            attempt()
    assert invitations_for(ana, world.team.pk) == []
    assert len(audited("invitation.withdrawn")) == 1


# -- joining --------------------------------------------------------------------------------------


def test_somebody_new_gets_an_account_the_role_and_a_confirmed_address(world, ana, by_mail):
    ask(world, ana)

    user = join_with_new_account(token=mailed_token(), **NORA)

    address = EmailAddress.objects.get(user=user)
    assert (user.display_name, role_of(world, user)) == ("Nora New", "reviewer")
    assert user.check_password(NORA["password"])
    assert (address.email, address.verified, address.primary) == ("nora@example.com", True, True)


def test_a_link_that_was_shown_proves_no_address(world, ana):
    """Or whoever invites could make the account of anybody, confirmed, and keep it."""
    _, link = ask(world, ana)

    user = join_with_new_account(token=token_of(link), **NORA)

    assert not EmailAddress.objects.get(user=user).verified


def test_whoever_is_signed_in_joins_and_keeps_their_addresses(world, ana, carol):
    _, link = ask(world, ana)

    assert join_team(token=token_of(link), actor=carol) == world.team

    assert role_of(world, world.carol) == "reviewer"
    assert not EmailAddress.objects.filter(user=world.carol).exists()


def test_an_invitation_counts_once(world, ana, carol):
    _, link = ask(world, ana)
    join_team(token=token_of(link), actor=carol)

    with pytest.raises(InvitationEnded):
        join_with_new_account(token=token_of(link), **NORA)
    with pytest.raises(InvitationEnded):
        withdraw(Invitation.objects.get(), ana)


def test_member_who_opens_an_invitation_keeps_role_and_leaves_it_open(world, ana, bob):
    row, link = ask(world, ana, role=Role.ADMIN)

    with pytest.raises(AlreadyMember):
        join_team(token=token_of(link), actor=bob)

    assert role_of(world, world.bob) == "reviewer"
    assert open_invitation(token_of(link)) == row


@pytest.mark.parametrize("name", ["bob", "BOB"])
def test_a_name_belongs_to_one_person(world, ana, name):
    _, link = ask(world, ana)

    with pytest.raises(UsernameTaken):
        join_with_new_account(token=token_of(link), **{**NORA, "username": name})

    assert open_invitation(token_of(link))


def test_an_address_that_is_confirmed_stays_its_owners(world, ana, by_mail):
    EmailAddress.objects.create(user=world.carol, email="nora@example.com", verified=True)
    ask(world, ana)

    with pytest.raises(EmailTaken):
        join_with_new_account(token=mailed_token(), **NORA)

    assert not User.objects.filter(username="nora").exists()


def test_everything_is_written_down_and_no_token(world, ana, by_mail):
    row, _ = ask(world, ana)
    again(row, ana)
    join_with_new_account(token=mailed_token(), **NORA)
    withdraw(ask(world, ana, email="x@example.com")[0], ana)

    about = {"invitation": str(row.pk), "email": "nora@example.com", "role": "reviewer"}
    entries = audited("invitation")
    assert entries[:3] == [
        ("invitation.sent", about),
        ("invitation.resent", about),
        ("invitation.accepted", {**about, "username": "nora"}),
    ]
    assert [action for action, _ in entries[3:]] == ["invitation.sent", "invitation.withdrawn"]
    assert audited("member")[-1] == ("member.added", {"username": "nora", "role": "reviewer"})
    assert mailed_token() not in str(audited(""))


# -- whom an identity provider vouches for --------------------------------------------------------


def come_from_elsewhere(email="nora@example.com", team_slug=""):
    return join_by_provider(
        email=email,
        full_name="Nora New",
        provider_id="corp",
        team_slug=team_slug,
        role=Role.VIEWER,
    )


def test_somebody_invited_comes_into_each_team_that_asked_them(world, ana):
    row, _ = ask(world, ana)
    other = Team.objects.create(slug="ops", name="Ops")
    invite(team_id=other.pk, email=row.email, role=Role.ADMIN, actor=SEED, site=SITE)

    nora = come_from_elsewhere(team_slug="tests")

    assert (role_of(world, nora), role_of_in(other, nora)) == ("reviewer", "admin")
    assert EmailAddress.objects.get(user=nora).verified
    assert not nora.has_usable_password()
    assert [action for action, _ in audited("invitation.accepted")] == ["invitation.accepted"] * 2


def test_an_invitation_counts_for_its_own_address_while_it_is_open(world, ana):
    row, _ = ask(world, ana)
    assert come_from_elsewhere("eve@example.com") is None

    Invitation.objects.update(expires_at=row.sent_at)
    assert come_from_elsewhere() is None
    again(row, ana)
    withdraw(row, ana)
    assert come_from_elsewhere() is None
    assert not User.objects.filter(username__contains="@").exists()
