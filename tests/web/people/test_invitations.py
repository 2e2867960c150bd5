"""Invitations on the pages: sent by administrators, and accepted behind the link."""

import re
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from inbox.actions.people.invitations import invite, withdraw_invitation
from inbox.models import AuditEntry, Invitation, Membership, User
from inbox.rules.people.access import SEED, Role
from tests.support.notifications.invitation_mails import send_invitations
from tests.support.web.pages import err, words

TAB = "/teams/tests/invitations/"
FORM = {"email": "nora@example.com", "role": "reviewer"}
NORA = {"username": "nora", "name": "Nora New", "password": "a long pass phrase"}


@pytest.fixture
def by_mail(settings):
    settings.SENDS_MAIL = True


@pytest.fixture
def link(world):
    """The path of a link to the team of the world, as a reviewer."""
    return invited(world)


def invited(world, email="nora@example.com"):
    _, link = invite(
        team_id=world.team.pk, email=email, role=Role.REVIEWER, actor=SEED, site="http://x/"
    )
    return urlsplit(link).path


def token_of(path):
    return path.split("/")[2]


def accept(client, path, **typed):
    return client.post("/join/account", {**NORA, "token": token_of(path), **typed})


# -- the tab of administrators --------------------------------------------------------------------


def test_only_administrators_have_the_tab(reads_ana, reads_bob, reads_carol):
    assert TAB in reads_ana.get("/teams/tests/").content.decode()
    assert TAB not in reads_bob.get("/teams/tests/").content.decode()
    assert [reader.get(TAB).status_code for reader in (reads_ana, reads_bob, reads_carol)] == [
        *(200, 403, 404)
    ]


def test_an_invitation_is_mailed_in_the_language_of_the_page_and_listed(reads_ana, by_mail):
    sent = reads_ana.client.post(f"{TAB}add", FORM, headers={"Accept-Language": "de"})

    send_invitations()

    assert (sent.status_code, sent.url) == (303, TAB)
    assert mail.outbox[0].subject == "Einladung in ein Team in Signoff"
    assert "http://testserver/join/" in mail.outbox[0].body
    assert "nora@example.com Sent" in words(reads_ana.get(TAB))


def test_where_no_mail_is_sent_the_link_is_shown_once(reads_ana):
    response = reads_ana.client.post(f"{TAB}add", FORM)

    (link,) = re.findall(r'id="token">([^<]*)<', response.content.decode())
    assert "no-store" in response.headers["Cache-Control"]
    assert Client().get(urlsplit(link).path).status_code == 200
    assert token_of(urlsplit(link).path) not in reads_ana.get(TAB).content.decode()


def test_a_mail_that_could_not_be_sent_is_shown_and_sent_again(reads_ana, by_mail, settings, later):
    working, settings.EMAIL_BACKEND = (
        settings.EMAIL_BACKEND,
        "tests.integration.people.test_invitations.Broken",
    )
    reads_ana.client.post(f"{TAB}add", FORM)
    assert "Being sent" in words(reads_ana.get(TAB))
    for seconds in (0, 10):
        later(seconds=seconds)
        send_invitations()
    assert "Not sent yet, will be tried again" in words(reads_ana.get(TAB))

    settings.EMAIL_BACKEND = working
    path = f"/invitations/{Invitation.objects.get().pk}/resend"
    assert reads_ana.client.post(path).status_code == 303
    send_invitations()

    assert "will be tried again" not in words(reads_ana.get(TAB))
    assert len(mail.outbox) == 1


def test_an_invitation_is_withdrawn(reads_ana, link):
    row = Invitation.objects.get()

    withdrawn = reads_ana.client.post(f"/invitations/{row.pk}/withdraw")
    again = reads_ana.client.post(f"/invitations/{row.pk}/resend")

    assert (withdrawn.status_code, again.status_code) == (303, 409)
    assert "This invitation was withdrawn." in words(again)
    assert "No open invitations." in words(reads_ana.get(TAB))


@pytest.mark.parametrize("email", ["", "nora", "nora@example.com", "a@b.com\nBcc: c@d.com"])
def test_what_cannot_be_invited_is_said_beside_the_field(reads_ana, link, email):
    refused = reads_ana.client.post(f"{TAB}add", {**FORM, "email": email})

    assert refused.status_code == 422
    assert err(refused, "f-email")


def test_a_role_that_is_none_is_not_found(reads_ana):
    assert reads_ana.client.post(f"{TAB}add", {**FORM, "role": "king"}).status_code == 404


# -- behind the link ------------------------------------------------------------------------------


def test_opening_a_link_changes_nothing_however_often(world, link):
    before = list(Invitation.objects.values())
    for _ in range(3):
        page = Client().get(link)
        Client().head(link)

    assert page.status_code == 200
    assert "system:seed invited you to join this team as Reviewer." in words(page)
    assert "no-store" in page.headers["Cache-Control"]
    assert list(Invitation.objects.values()) == before
    assert not User.objects.filter(username="nora").exists()


def test_whoever_makes_an_account_is_signed_in_to_it_and_in_the_team(world, link):
    client = Client()

    response = accept(client, link)

    assert (response.status_code, response.url) == (302, "/")
    assert Membership.objects.get(user__username="nora").role == "reviewer"
    assert "Nora New" in words(client.get("/teams/tests/"))
    signed_in = AuditEntry.objects.filter(action="person.signed_in").last()
    assert signed_in.content["detail"] == {"method": "password"}


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"username": ""}, "id_username"),
        ({"username": "bob"}, "id_username"),
        ({"username": "Bob"}, "id_username"),
        ({"username": "bob@example.com"}, "id_username"),
        ({"username": "no\0ra"}, "id_username"),
        ({"username": "nora\u202eqwe"}, "id_username"),
        ({"name": " "}, "id_name"),
        ({"name": "key nightly"}, "id_name"),
        ({"name": "B\u043eb"}, "id_name"),
        ({"name": "Bob"}, "id_name"),
        ({"username": "b0b"}, "id_username"),
        ({"password": "short"}, "id_password"),
        ({"password": "elevenchars"}, "id_password"),
        ({"password": "Nora-Nora-2026"}, "id_password"),
        ({"password": "nora@example.com"}, "id_password"),
        ({"password": "Tests-team-nora"}, "id_password"),
        ({"password": "Signoff-signoff-1"}, "id_password"),
        ({"password": "password123"}, "id_password"),
        ({"password": "31415926535"}, "id_password"),
    ],
)
def test_what_makes_no_account_is_said_beside_its_field(world, link, typed, field):
    refused = accept(Client(), link, **typed)

    assert refused.status_code == 422
    assert err(refused, field)
    assert NORA["password"] not in refused.content.decode()
    assert Client().get(link).status_code == 200


def test_whoever_is_signed_in_joins_with_one_click(reads_carol, link):
    page = reads_carol.get(link)
    joined = reads_carol.client.post("/join/team", {"token": token_of(link)})

    assert "Join as Carol" in words(page)
    assert 'name="password"' not in page.content.decode()
    assert (joined.status_code, joined.url) == (303, "/teams/tests/")
    assert reads_carol.get("/teams/tests/").status_code == 200


def test_whoever_is_signed_in_makes_no_second_account_by_an_old_page(reads_carol, link):
    refused = accept(reads_carol.client, link)

    assert refused.status_code == 422
    assert not User.objects.filter(username="nora").exists()


def test_who_has_an_account_signs_in_and_comes_back(world, link):
    page = Client().get(link).content.decode()
    (sign_in_link,) = re.findall(r'href="(/login/\?[^"]*)"', page)

    signed_in = Client().post(sign_in_link, {"username": "carol", "password": "carol-password"})

    assert (signed_in.status_code, signed_in.url) == (302, link)


def test_who_is_in_the_team_already_is_told_so(reads_bob, link):
    refused = reads_bob.client.post("/join/team", {"token": token_of(link)})

    assert refused.status_code == 409
    assert "You are already a member of this team." in words(refused)


def test_invitation_to_a_confirmed_email_requires_its_owner_to_sign_in(world, by_mail):
    EmailAddress.objects.create(user=world.carol, email="nora@example.com", verified=True)
    invited(world)
    send_invitations()
    path = re.findall(r"/join/\S+", mail.outbox[0].body)[0]

    refused = accept(Client(), path)

    assert refused.status_code == 422
    assert "You already have an account with this address. Sign in to it." in words(refused)


def ended(world, how, later):
    path = invited(world)
    row = Invitation.objects.get()
    if how == "expired":
        later(days=7)
    elif how == "used":
        accept(Client(), path)
    else:
        withdraw_invitation(invitation_id=row.pk, actor=SEED)
    return path


@pytest.mark.parametrize("how", ["expired", "used", "withdrawn"])
def test_what_has_ended_says_how_and_not_whom_it_was_for(world, reads_carol, how, later):
    path = ended(world, how, later)
    answers = [
        Client().get(path),
        accept(Client(), path, username="norah"),
        reads_carol.client.post("/join/team", {"token": token_of(path)}),
    ]

    for answer in answers:
        assert answer.status_code == 410
        assert how in words(answer)
        for text in ("nora", "Tests", "system:seed", "Reviewer"):
            assert text not in words(answer)


def test_a_link_that_never_was_is_not_found(world, reads_carol):
    nowhere = "/join/nothing/"
    answers = [
        Client().get(nowhere),
        accept(Client(), nowhere),
        reads_carol.client.post("/join/team", {"token": "nothing"}),
        Client().post("/join/account", {}),
    ]

    assert [response.status_code for response in answers] == [404] * 4


def test_a_token_that_counts_never_gets_into_a_log(world, link, caplog):
    """Django writes down the address of whatever it refuses."""
    Client().get(link)
    for typed in ({}, {"username": ""}, {"username": "bob"}):
        accept(Client(enforce_csrf_checks=not typed), link, **typed)

    assert caplog.messages
    assert token_of(link) not in caplog.text
