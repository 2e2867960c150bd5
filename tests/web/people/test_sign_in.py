"""Signing in and one's own account, as the pages and the audit trail have it."""

import json
import re
import time
from datetime import datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone

from inbox.models import AuditEntry, User
from inbox.models.people.sessions import stored_key
from inbox.platform.client_ip import client_ip_of
from inbox.queries.people.live_access import live_sessions
from inbox.rules.audit.audit_entry import SYSTEM_CHAIN
from inbox.web.people import allauth_adapters, sign_in_limits
from tests.support.browser.site import wait_for
from tests.support.valkey import ValkeyServer
from tests.support.web.pages import words

PASSWORD = {"username": "bob", "password": "bob-password"}


@pytest.fixture
def bob_browses(world):
    """A browser in which Bob has given his password."""
    return signed_in()


def signed_in(**more):
    client = Client(**more)
    assert client.post("/login/", PASSWORD).status_code == 302
    return client


def confirmed(client):
    """... and has proven a moment ago that it is still him."""
    answer = client.post("/account/confirm/", {"password": "bob-password"})
    assert answer.status_code == 302
    return client


def written_down(world):
    """What stands in the audit trail of Bob's team about accounts, with its details."""
    rows = AuditEntry.objects.filter(team=world.team, thread=None).order_by("pk")
    about = ("person", "factor", "password", "session", "address")
    return [
        (row.action, row.content["detail"]) for row in rows if row.action.partition(".")[0] in about
    ]


def test_signing_in_is_written_down_with_how(world, bob_browses):
    assert written_down(world) == [("person.signed_in", {"method": "password"})]


def test_somebody_without_a_team_is_written_down_where_the_installation_is(world):
    User.objects.create_superuser("root", password="root-password")

    Client().post("/login/", {"username": "root", "password": "root-password"})

    entry = AuditEntry.objects.get(chain=SYSTEM_CHAIN, action="person.signed_in")
    assert (entry.content["actor"], entry.team_id) == ("root", None)


@pytest.mark.parametrize("typed", ["bob@example.com", "BOB@example.com", " Bob "])
def test_a_person_signs_in_by_name_or_by_address(world, typed):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)

    answer = Client().post("/login/", {"username": typed, "password": "bob-password"})

    assert (answer.status_code, answer.url) == (302, "/")


def test_a_name_in_other_letters_is_the_same_name_to_the_lock(world):
    for number in range(10):
        answer = Client().post(
            "/login/", {"username": "bob" if number % 2 else "BoB", "password": "guess"}
        )

    assert answer.status_code == 429


@pytest.mark.parametrize("typed", ["bob", "BOB", " Bob", "boB "])
def test_the_lock_reads_names_as_signing_in_does(rf, typed):
    assert sign_in_limits.name_of(rf.post("/", {"username": typed})) == "bob"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.1, 203.0.113.9", "198.51.100.1"),
        (1, "", "192.0.2.1"),
        (1, "nonsense", "192.0.2.1"),
    ],
)
def test_the_address_is_what_the_last_proxy_of_ours_saw(rf, settings, proxies, forwarded, address):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)

    assert client_ip_of(request) == address


def test_a_request_from_nowhere_is_served(world):
    assert signed_in(REMOTE_ADDR="").get("/account/").status_code == 200


def test_a_lock_is_written_down_once_and_for_people_who_exist(world):
    for name in ("bob", "nobody-at-all"):
        for _ in range(13):
            Client().post("/login/", {"username": name, "password": "guess"})

    details = {"address": "127.0.0.1", "username": "bob"}
    assert written_down(world) == [("person.locked_out", details)]


def test_an_address_of_bobs_is_not_locked_because_his_name_is(world):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)
    for _ in range(10):
        Client().post("/login/", {"username": "bob", "password": "guess"})

    answer = Client().post("/login/", {"username": "bob@example.com", "password": "guess"})

    assert answer.status_code == 422


# -- passwords ------------------------------------------------------------------------------------


def test_a_changed_password_ends_all_other_sessions(world, bob_browses):
    elsewhere = signed_in()
    key = stored_key(elsewhere.session.session_key)

    answer = bob_browses.post(
        "/account/password/",
        {
            "oldpassword": "bob-password",
            "password1": "correct horse battery",
            "password2": "correct horse battery",
        },
    )

    assert (answer.status_code, answer.url) == (302, "/account/")
    assert bob_browses.get("/").status_code == 200
    assert not live_sessions([key])  # which is what ends its streams
    assert elsewhere.get("/").status_code == 302
    assert written_down(world)[-1] == ("password.changed", {"username": "bob"})
    assert words(bob_browses.get("/account/")).count("last seen") == 1


def test_a_password_is_not_changed_by_who_does_not_know_it(world, bob_browses):
    answer = bob_browses.post(
        "/account/password/",
        {
            "oldpassword": "guess",
            "password1": "correct horse battery",
            "password2": "correct horse battery",
        },
    )

    assert answer.status_code == 422
    assert "That password is wrong" in words(answer)
    world.bob.refresh_from_db()
    assert world.bob.check_password("bob-password")


@pytest.fixture
def forget(django_capture_on_commit_callbacks):
    """Ask for a mail to choose another password; returns the answer."""

    def ask(address):
        with django_capture_on_commit_callbacks(execute=True):
            return Client().post("/password/", {"email": address})

    return ask


def test_a_mail_lets_its_reader_choose_another_password(world, forget, bob_browses):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)

    forget("bob@example.com")

    (message,) = wait_for(lambda: mail.outbox)
    assert message.to == ["bob@example.com"]
    link = re.search(r"http://testserver(/password/\S+)", message.body)[1]
    reader = Client()
    form = reader.get(link)
    chosen = {"password1": "correct horse battery", "password2": "correct horse battery"}
    assert reader.post(form.url, chosen).url == "/password/changed/"
    assert bob_browses.get("/").status_code == 302
    assert Client().post("/login/", PASSWORD).status_code == 422
    again = {"username": "bob", "password": "correct horse battery"}
    assert Client().post("/login/", again).status_code == 302
    assert "has expired" in words(Client().get(link))
    assert ("password.changed", {"username": "bob"}) in written_down(world)


def test_a_link_to_a_new_password_ends_after_an_hour(world, forget, monkeypatch):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)
    forget("bob@example.com")
    (message,) = wait_for(lambda: mail.outbox)
    link = re.search(r"http://testserver(/password/\S+)", message.body)[1]
    later = datetime.now() + timedelta(minutes=61)  # noqa: DTZ005 - as Django counts it

    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda _self: later)

    assert "has expired" in words(Client().get(link))


def test_a_new_password_by_mail_leaves_the_second_factor(world, forget):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)
    TOTP.activate(world.bob, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    forget("bob@example.com")
    (message,) = wait_for(lambda: mail.outbox)
    link = re.search(r"http://testserver(/password/\S+)", message.body)[1]
    reader = Client()
    form = reader.get(link)
    chosen = {"password1": "correct horse battery", "password2": "correct horse battery"}
    reader.post(form.url, chosen)

    assert reader.get("/").status_code == 302
    again = reader.post("/login/", {"username": "bob", "password": "correct horse battery"})
    assert again.url == "/login/code/"
    assert reader.get("/").status_code == 302


@pytest.mark.parametrize(
    "password", ["  Spaces and CASE  ", "ÄÖÜ ünïcödé 🐎 passphrase", "w0rd " * 40]
)
def test_a_password_keeps_its_spaces_and_letters(world, bob_browses, password):
    old = PASSWORD["password"]
    chosen = {"oldpassword": old, "password1": password, "password2": password}
    assert bob_browses.post("/account/password/", chosen).status_code == 302

    def signs_in(typed):
        return Client().post("/login/", {"username": "bob", "password": typed}).status_code == 302

    assert signs_in(password)
    assert not any(map(signs_in, {password.strip(), password.lower(), password[:64]} - {password}))


def test_asking_for_a_mail_does_not_tell_who_has_an_account(world, forget):
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)
    EmailAddress.objects.create(user=world.alice, email="alice@example.com", verified=False)
    world.carol.set_unusable_password()
    world.carol.save()
    EmailAddress.objects.create(user=world.carol, email="carol@example.com", verified=True)

    names = ("bob", "alice", "carol", "nobody")
    answers = [forget(f"{name}@example.com") for name in names]

    assert {(answer.status_code, answer.url) for answer in answers} == {(302, "/password/sent/")}
    wait_for(lambda: mail.outbox)
    assert [message.to for message in mail.outbox] == [["bob@example.com"]]


def test_links_in_mails_lead_to_where_people_open_the_site(world, forget, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)

    forget("bob@example.com")

    (message,) = wait_for(lambda: mail.outbox)
    assert "https://signoff.example.com/password/" in message.body
    assert "testserver" not in message.body


# -- factors --------------------------------------------------------------------------------------


def code_for(secret):
    return format_hotp_value(hotp_value(secret, int(timezone.now().timestamp()) // 30))


@pytest.mark.parametrize(
    "path",
    [
        *("/account/app/", "/account/passkeys/add/", "/account/codes/new/"),
        *("/account/passkeys/1/", "/account/passkeys/1/remove/"),
    ],
)
def test_factors_are_changed_only_by_who_proves_again_who_it_is(bob_browses, path):
    for answer in (bob_browses.get(path), bob_browses.post(path)):
        assert answer.status_code == 302
        assert answer.url.startswith("/account/confirm/")


def test_factors_that_come_and_go_are_written_down(world, bob_browses):
    client = confirmed(bob_browses)
    form = client.get("/account/app/")
    secret = form.context["form"].secret

    client.post("/account/app/", {"code": code_for(secret)})
    client.post("/account/app/remove/")

    changes = [entry for entry in written_down(world) if entry[0].startswith("factor")]
    added = [("factor.added", {"factor": kind}) for kind in ("totp", "recovery_codes")]
    removed = [("factor.removed", {"factor": kind}) for kind in ("totp", "recovery_codes")]
    assert changes == added + removed


def test_a_code_counts_once(world):
    TOTP.activate(world.bob, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    code = code_for("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    first, second = signed_in(), signed_in()

    assert first.post("/login/code/", {"code": code}).status_code == 302
    assert second.post("/login/code/", {"code": code}).status_code == 422
    assert written_down(world) == [("person.signed_in", {"method": "password+totp"})]


def test_codes_are_not_guessed_for_ever(world):
    TOTP.activate(world.bob, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    client = signed_in()
    for _ in range(11):
        answer = client.post("/login/code/", {"code": "000000"})

    assert "Too many" in words(answer)
    right = client.post("/login/code/", {"code": code_for("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")})
    assert right.status_code == 422


def test_a_seed_is_not_readable_in_the_database(world):
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    totp = TOTP.activate(world.bob, secret)

    assert secret not in json.dumps(totp.instance.data)


def test_a_seed_of_another_installation_lets_nobody_in(world, settings):
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    TOTP.activate(world.bob, secret)
    settings.ENCRYPTION_KEYS = ["another one"]
    client = signed_in()

    for guess in (code_for(secret), code_for("")):
        assert client.post("/login/code/", {"code": guess}).status_code == 422


@pytest.mark.parametrize(
    "credential",
    [
        *("", "{", "null", "[]", "1", "{}", '{"response": 5}', '{"response": {}}', '"\\u0000"'),
        '{"id": "x", "rawId": "x", "type": "public-key", "response": {"userHandle": "MQ"}}',
        '{"response": {"userHandle": 5}}',
        '{"response": {"userHandle": "////"}}',
        '{"response": null}',
        "[" * 100_000,
    ],
)
def test_a_passkey_that_makes_no_sense_is_refused(world, bob_browses, credential):
    posts = [
        (Client(), "/login/passkey/"),
        (confirmed(bob_browses), "/account/passkeys/add/"),
    ]
    for client, path in posts:
        client.get(path, headers={"Accept": "application/json"})
        answer = client.post(path, {"credential": credential, "name": "x"})
        assert answer.status_code in (302, 422)
        assert client.get("/account/").status_code == (302 if client is posts[0][0] else 200)
    assert not world.bob.authenticator_set.exists()


# -- sessions -------------------------------------------------------------------------------------


def test_a_session_is_ended_by_whom_it_belongs_to(world, bob_browses):
    elsewhere = signed_in(headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    page = words(bob_browses.get("/account/"))
    assert "Firefox on Linux" in page
    other = UserSession.objects.get(session_key=stored_key(elsewhere.session.session_key))

    alice = Client()
    alice.force_login(world.alice)
    assert alice.post(f"/account/sessions/{other.pk}/end").status_code == 404
    assert elsewhere.get("/").status_code == 200

    assert bob_browses.post(f"/account/sessions/{other.pk}/end").status_code == 303
    assert elsewhere.get("/").status_code == 302
    assert bob_browses.get("/").status_code == 200
    assert written_down(world)[-1] == ("session.ended", {"address": "127.0.0.1", "count": 1})


def test_a_page_knows_when_its_session_ends(world, bob_browses):
    """The request for the page extends the session before the page is rendered."""
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.update(expire_date=soon)

    page = bob_browses.get("/")

    ends = int(Session.objects.get().expire_date.timestamp())
    assert ends > soon.timestamp()
    assert page.headers["X-Signoff-Session-Ends"] == str(ends)
    assert f'data-ends="{ends}"' in page.content.decode()


def test_a_session_that_ended_by_itself_is_not_listed(world, bob_browses):
    elsewhere = signed_in(headers={"User-Agent": "Firefox on Linux"})
    elsewhere.post("/logout/")

    assert "Firefox" not in words(bob_browses.get("/account/"))


@pytest.mark.parametrize(
    ("typed", "status", "name"),
    [
        (" Bob   B. Builder ", 303, "Bob B. Builder"),
        ("", 422, "Bob"),
        ("  ", 422, "Bob"),
        ("x" * 151, 422, "Bob"),
        ("x" * 150, 303, "x" * 150),
    ],
)
def test_a_name_is_changed_to_one_of_a_bearable_length(world, bob_browses, typed, status, name):
    answer = bob_browses.post("/account/name", {"name": typed})

    world.bob.refresh_from_db()
    assert (answer.status_code, world.bob.get_full_name()) == (status, name)


# -- addresses ------------------------------------------------------------------------------------


def test_an_address_counts_once_it_is_confirmed(
    world, bob_browses, django_capture_on_commit_callbacks
):
    client = confirmed(bob_browses)
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/account/email/", {"email": "bob@example.com", "action_add": ""})

    (message,) = wait_for(lambda: mail.outbox)
    assert "Not confirmed" in words(client.get("/account/"))
    link = re.search(r"http://testserver(/account/email/\S+)", message.body)[1]
    assert client.post(link).url == "/account/email/"
    assert "Not confirmed" not in words(client.get("/account/"))


def test_an_address_gets_five_mails_about_its_confirmation_a_day(
    bob_browses, monkeypatch, django_capture_on_commit_callbacks
):
    client, sent = confirmed(bob_browses), []
    monkeypatch.setattr(allauth_adapters, "send_in_background", sent.append)
    start = time.time()
    for number in range(12):
        monkeypatch.setattr(ratelimit.time, "time", lambda n=number: start + n * 600)
        action = "action_send" if number else "action_add"
        with django_capture_on_commit_callbacks(execute=True):
            client.post("/account/email/", {"email": "bob@example.com", action: ""})

    assert len(sent) == 5


def test_what_becomes_of_an_address_is_written_down(
    world, bob_browses, django_capture_on_commit_callbacks
):
    EmailAddress.objects.create(
        user=world.bob, email="bob@old.example", verified=True, primary=True
    )
    client = confirmed(bob_browses)
    new, old = {"email": "bob@example.com"}, {"email": "bob@old.example"}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/account/email/", {**new, "action_add": ""})
    (message,) = wait_for(lambda: mail.outbox)
    # Whoever reads the mail may be signed in nowhere.
    Client().post(re.search(r"http://testserver(/account/email/\S+)", message.body)[1])
    client.post("/account/email/", {**new, "action_primary": ""})
    client.post("/account/email/", {**old, "action_remove": ""})

    assert written_down(world)[-4:] == [
        ("address.added", new),
        ("address.confirmed", new),
        ("address.first", new),
        ("address.removed", old),
    ]


def test_a_mail_that_cannot_be_sent_fails_no_page(
    world, bob_browses, settings, caplog, django_capture_on_commit_callbacks
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    client = confirmed(bob_browses)

    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/account/email/", {"email": "bob@example.com", "action_add": ""})

    assert answer.status_code == 302
    wait_for(lambda: "mail not sent" in caplog.text)
    assert "bob@example.com" not in caplog.text


# -- more than one process -----------------------------------------------------------------------


def shared_cache(url):
    options = {"serializer": "inbox.platform.shared_cache.JsonSerializer"}
    backend = "inbox.platform.shared_cache.SharedCache"
    return {"default": {"BACKEND": backend, "LOCATION": url, "OPTIONS": options}}


@pytest.mark.services
def test_what_was_tried_at_one_process_counts_at_all(world, settings):
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    TOTP.activate(world.bob, secret)
    with ValkeyServer() as valkey:
        settings.CACHES = shared_cache(valkey.url)
        code, (first, second) = code_for(secret), (signed_in(), signed_in())

        assert first.post("/login/code/", {"code": code}).status_code == 302
        assert second.post("/login/code/", {"code": code}).status_code == 422
        for _ in range(10):
            answer = second.post("/login/code/", {"code": "000000"})
        assert "Too many" in words(answer)


def test_no_code_is_taken_while_nobody_can_say_which_were_used(world, settings):
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    TOTP.activate(world.bob, secret)
    client = signed_in()
    settings.CACHES = shared_cache("redis://127.0.0.1:1/0")

    answer = client.post("/login/code/", {"code": code_for(secret)})

    assert answer.status_code == 503
    assert client.get("/").status_code == 302
