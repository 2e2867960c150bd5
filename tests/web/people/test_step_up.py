"""Sensitive actions need a fresh sign-in, and go on afterwards as they were sent."""

import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from inbox.actions.people.api_keys import make_key
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import ApiKey, Invitation, Membership, Team, User, WebhookEndpoint
from inbox.rules.people.access import SEED, Permission
from tests.support.audit.entries import make_admin
from tests.support.http.rest_client import key_with
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import words

__all__ = ["key_with"]
KEY = {"name": "ci", "scopes": ["read", "run"], "agent": "", "days": "90"}
HOOK = {"team": "tests", "url": "https://hooks.example.com/", "events": ["run.finished"]}
CONFIRM = {"password": "ana-password"}
FORM_PAGE = "http://testserver/teams/tests/keys/new/"


@pytest.fixture
def ana(world):
    return User.objects.get(pk=make_admin(world).user_id)


@pytest.fixture
def browser(ana):
    """Ana's browser, in which she signed in 11 minutes ago."""
    client = Client()
    sign_in(client, ana, seconds_ago=11 * 60)
    return client


def post(browser, path, body=None, **headers):
    return browser.post(path, body or {}, headers={"Referer": FORM_PAGE, **headers})


def confirmation_of(answer):
    assert answer.status_code == 303, answer.content
    url = urlsplit(answer.url)
    assert url.path == "/account/confirm/"
    return parse_qs(url.query)["next"][0]


def test_the_form_of_a_key_goes_on_after_the_confirmation(browser):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))
    assert (back, ApiKey.objects.filter(name="ci").exists()) == ("/teams/tests/keys/new/", False)

    page = browser.post("/account/confirm/", {**CONFIRM, "next": back})

    assert page.status_code == 200
    assert 'id="token"' in page.content.decode()
    assert ApiKey.objects.get(name="ci").scopes == ["read", "run"]


def test_a_wrong_password_sends_nothing(browser):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))

    page = browser.post("/account/confirm/", {"password": "wrong", "next": back})

    assert (page.status_code, ApiKey.objects.filter(name="ci").exists()) == (422, False)


def test_the_form_is_checked_again_by_whoever_sends_it_then(browser, ana):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))
    Membership.objects.filter(user=ana).update(role="viewer")

    page = browser.post("/account/confirm/", {**CONFIRM, "next": back})

    assert (page.status_code, ApiKey.objects.filter(name="ci").exists()) == (403, False)


def test_a_form_that_was_given_up_is_not_sent_by_a_later_confirmation(browser):
    post(browser, "/teams/tests/keys/add", KEY)

    page = browser.post("/account/confirm/", {**CONFIRM, "next": "/account/email/"})

    assert (page.status_code, page.url) == (302, "/account/email/")
    assert not ApiKey.objects.filter(name="ci").exists()


def test_an_export_that_is_confirmed_sends_no_form_given_up_before(browser):
    post(browser, "/teams/tests/keys/add", KEY)
    back = confirmation_of(post(browser, "/audit/export", {"team": "tests", "format": "csv"}))

    browser.post("/account/confirm/", {**CONFIRM, "next": back})

    assert not ApiKey.objects.filter(name="ci").exists()


def test_a_form_waits_for_a_quarter_of_an_hour(browser, monkeypatch):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))
    moment = timezone.now() + timedelta(minutes=16)
    monkeypatch.setattr("inbox.web.base.step_up.clock.now", lambda: moment)

    browser.post("/account/confirm/", {**CONFIRM, "next": back})

    assert not ApiKey.objects.filter(name="ci").exists()


def test_the_stored_form_is_encrypted_and_has_no_cookies(browser):
    post(browser, "/teams/tests/keys/add", {**KEY, "name": "very-secret"})

    state = str(browser.session[STATE_SESSION_KEY])
    assert "very-secret" not in state
    assert browser.cookies["sessionid"].value not in str(Session.objects.values())


def test_a_fragment_of_a_page_leads_the_whole_page_to_the_confirmation(browser):
    answer = post(browser, "/teams/tests/keys/add", KEY, **{"HX-Request": "true"})

    assert answer.headers["HX-Redirect"].startswith("/account/confirm/?next=")
    assert STATE_SESSION_KEY not in browser.session


@pytest.fixture
def actions(world, ana):
    """All sensitive forms: path, body, and whether they have taken effect."""
    key, _ = make_key(team_id=world.team.pk, name="old", scopes={Permission.READ}, actor=SEED)
    hook, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/old",
        event_types=["run.finished"],
        actor=SEED,
    )
    bob = f"/teams/tests/members/{world.bob.pk}"
    other = UserSession.objects.create(user=ana, ip="192.0.2.1", session_key="another-session")

    def has_ended():
        return not UserSession.objects.filter(pk=other.pk).exists()

    return {
        "key": ("/teams/tests/keys/add", KEY, ApiKey.objects.filter(name="ci").exists),
        "rotate": (
            f"/keys/{key.pk}/rotate",
            {"overlap": "1"},
            ApiKey.objects.filter(pk=key.pk, rotated_at__isnull=False).exists,
        ),
        "webhook": ("/webhooks/add", HOOK, WebhookEndpoint.objects.exclude(pk=hook.pk).exists),
        "secret": (
            f"/webhooks/{hook.pk}/rotate",
            {},
            WebhookEndpoint.objects.filter(pk=hook.pk, former_until__isnull=False).exists,
        ),
        "role": (
            f"{bob}/role",
            {"role": "viewer"},
            Membership.objects.filter(user=world.bob, role="viewer").exists,
        ),
        "sign-in": (
            "/teams/tests/save",
            {"name": "Tests", "grace_seconds": "0", "session_hours": "8"},
            Team.objects.filter(slug="tests", session_hours=8).exists,
        ),
        "invitation": (
            "/teams/tests/invitations/add",
            {"email": "nora@example.com", "role": "viewer"},
            Invitation.objects.exists,
        ),
        "session": (f"/account/sessions/{other.pk}/end", {}, has_ended),
        "other sessions": ("/account/sessions/end", {}, has_ended),
    }


@pytest.mark.parametrize(
    "name",
    [
        *("key", "rotate", "webhook", "secret", "role", "sign-in", "invitation", "session"),
        "other sessions",
    ],
)
def test_each_sensitive_form_needs_a_fresh_sign_in(browser, ana, actions, name):
    path, body, is_done = actions[name]

    confirmation_of(post(browser, path, body))
    assert not is_done()

    sign_in(browser, ana)
    assert post(browser, path, body).status_code in (200, 303)
    assert is_done()


def test_an_export_of_the_audit_trail_comes_back_to_its_page(browser):
    answer = post(browser, "/audit/export", {"team": "tests", "format": "csv"})

    assert confirmation_of(answer) == "/teams/tests/keys/new/"
    assert STATE_SESSION_KEY not in browser.session


def test_rest_by_session_gets_403_with_a_code_and_a_key_does_not(browser, ana, key_with):
    body = {"name": "ci", "scopes": ["read"]}
    refused = browser.post("/api/teams/tests/keys", body, content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (403, "REAUTHENTICATION_REQUIRED")
    assert key_with("read", "admin").post("/api/teams/tests/keys", body).status_code == 201


def test_outsiders_do_not_learn_what_exists(world, carol):
    client = Client()
    sign_in(client, world.carol, seconds_ago=3_600)

    assert post(client, "/teams/tests/keys/add", KEY).status_code == 404


def test_the_time_is_a_setting(browser, settings):
    settings.REAUTHENTICATION_MINUTES = 12

    assert post(browser, "/teams/tests/keys/add", KEY).status_code == 200


def test_the_confirmation_shows_what_it_is_for(browser):
    page = browser.get("/account/confirm/?next=/teams/tests/keys/new/")

    assert "Confirm it is you" in words(page)


def test_without_a_password_people_sign_in_at_their_provider_again(browser, ana):
    ana.set_unusable_password()
    ana.save()
    client = Client()
    sign_in(client, ana, seconds_ago=3_600)
    session = client.session
    steps = [{"method": "socialaccount", "provider": "corp", "at": time.time() - 3_600}]
    session["account_authentication_methods"] = steps
    session.save()

    answer = post(client, "/teams/tests/keys/add", KEY)

    assert answer.status_code == 303
    assert answer.url.startswith(("/login/corp/?", "/login/?"))
    form_page = urlsplit(parse_qs(urlsplit(answer.url).query)["next"][0])
    assert form_page.path == "/account/confirm/form/"
    assert parse_qs(form_page.query)["next"] == ["/teams/tests/keys/new/"]


def test_a_form_is_sent_after_a_sign_in_elsewhere_by_one_click(browser, ana):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))
    sign_in(browser, ana)  # the same session, as after the redirect of a provider

    page = browser.get("/account/confirm/form/", {"next": back})
    assert "Send the form" in words(page)
    assert not ApiKey.objects.filter(name="ci").exists()

    assert browser.post("/account/confirm/form/", {"next": back}).status_code == 200
    assert ApiKey.objects.get(name="ci").scopes == ["read", "run"]
    # Sent once.
    assert browser.post("/account/confirm/form/", {"next": back}).url == back


def test_a_form_is_not_sent_without_the_confirmation(browser):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))

    sent = browser.post("/account/confirm/form/", {"next": back})

    assert confirmation_of(sent)
    assert not ApiKey.objects.filter(name="ci").exists()


def test_somebody_else_who_signs_in_gets_no_form(browser, world):
    back = confirmation_of(post(browser, "/teams/tests/keys/add", KEY))
    browser.force_login(world.bob)

    assert browser.get("/account/confirm/form/", {"next": back}).url == back
    browser.post("/account/confirm/form/", {"next": back})
    assert not ApiKey.objects.filter(name="ci").exists()
