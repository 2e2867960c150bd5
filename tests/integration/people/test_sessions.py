"""Sessions in the database, of which nobody can make a cookie."""

from dataclasses import replace
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from inbox.models.people.sessions import SessionStore, stored_key
from inbox.queries.people.api_keys import actor_of_user, check_credentials_valid
from inbox.queries.people.live_access import live_access_of
from inbox.realtime.websocket_auth import _is_own_page
from inbox.rules.errors import Unauthenticated

PASSWORD = {"username": "bob", "password": "bob-password"}


@pytest.fixture
def browser(world):
    client = Client()
    assert client.post("/login/", PASSWORD).status_code == 302
    assert client.get("/account/").status_code == 200
    return client


def cookie_of(client):
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def test_no_table_has_the_key_of_a_session(browser):
    stored = {
        *Session.objects.values_list("session_key", flat=True),
        *UserSession.objects.values_list("session_key", flat=True),
    }

    assert stored == {stored_key(cookie_of(browser))}
    assert cookie_of(browser) not in stored


def test_what_is_stored_is_no_cookie(browser):
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stored_key(cookie_of(browser))

    assert thief.get("/account/").status_code == 302


def test_a_session_is_stored_under_its_old_key_no_more(world, browser):
    row = Session.objects.get()
    Session.objects.create(
        session_key="a" * 32, session_data=row.session_data, expire_date=row.expire_date
    )
    old = Client()
    old.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32

    assert old.get("/account/").status_code == 302


def test_signing_in_again_keeps_the_list_of_other_sessions(browser):
    again = Client()
    again.post("/login/", PASSWORD)

    assert UserSession.objects.count() == 2


def test_signing_out_ends_the_session_and_its_digest(browser):
    browser.post("/logout/")

    assert not Session.objects.filter(expire_date__isnull=False).exists()


def browser_of(cookie):
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = cookie
    return client


def confirm(browser):
    answer = browser.post("/account/confirm/", {"password": "bob-password", "next": "/account/"})
    assert answer.status_code == 302


def test_the_cookie_from_before_a_confirmation_opens_nothing(world, browser):
    former = cookie_of(browser)
    actor = replace(actor_of_user(world.bob), session_key=stored_key(former))

    confirm(browser)

    assert cookie_of(browser) != former
    assert browser.get("/account/").status_code == 200
    assert browser_of(former).get("/account/").status_code == 302
    assert browser_of(former).get("/api/teams").status_code == 401
    assert live_access_of([actor]) == [None]


def test_a_confirmation_keeps_the_record_and_the_beginning_of_a_session(browser):
    began_at = timezone.now() - timedelta(days=13)
    UserSession.objects.update(created_at=began_at)
    before = UserSession.objects.get()

    confirm(browser)
    browser.get("/account/")

    after = UserSession.objects.get()
    assert (after.pk, after.created_at) == (before.pk, began_at)
    assert after.session_key == stored_key(cookie_of(browser))
    assert Session.objects.get().expire_date < timezone.now() + timedelta(days=1, minutes=1)


def test_a_wrong_password_keeps_the_session(browser):
    former = cookie_of(browser)

    browser.post("/account/confirm/", {"password": "wrong", "next": "/account/"})

    assert cookie_of(browser) == former


def test_a_late_request_with_the_former_cookie_does_not_delete_the_new_one(browser):
    former = cookie_of(browser)
    confirm(browser)

    late = browser_of(former).get("/", headers={"X-Signoff-Refresh": "1"})

    assert settings.SESSION_COOKIE_NAME not in late.cookies


def test_signing_out_deletes_the_cookie(browser):
    answer = browser.post("/logout/")

    assert answer.cookies[settings.SESSION_COOKIE_NAME].value == ""


def test_sessions_of_async_code_are_the_same(db):
    @async_to_sync
    async def keep_and_end():
        store = SessionStore()
        await store.aset("a", 1)
        await store.asave()
        stored = await SessionStore(store.session_key).aget("a")
        await store.adelete()
        return stored, await store.aexists(store.session_key)

    assert keep_and_end() == (1, False)


def test_a_session_whose_password_was_changed_is_known_no_more(world, browser):
    actor = actor_of_user(world.bob, browser.session)
    check_credentials_valid(actor)

    world.bob.set_password("reset the password")
    world.bob.save()

    with pytest.raises(Unauthenticated):
        check_credentials_valid(actor)


@pytest.mark.parametrize(
    ("origin", "is_https", "is_own"),
    [
        ("http://signoff.example", False, True),
        ("https://signoff.example", False, True),
        ("https://signoff.example", True, True),
        ("http://signoff.example", True, False),
        ("ftp://signoff.example", False, False),
        ("https://evil.example", True, False),
        ("http://[", False, False),
        ("null", False, False),
    ],
)
def test_a_socket_takes_the_session_of_its_own_origin_only(settings, origin, is_https, is_own):
    settings.SESSION_COOKIE_SECURE = is_https
    headers = {b"host": "signoff.example", b"origin": origin}

    assert _is_own_page(headers) is is_own


def idle_soon(browser):
    """A browser whose session has a minute left, and that the server has not seen lately."""
    Session.objects.update(expire_date=timezone.now() + timedelta(seconds=60))
    again = Client()
    again.cookies = browser.cookies
    return again


def seconds_left():
    return (Session.objects.get().expire_date - timezone.now()).total_seconds()


def test_session_lasts_for_the_idle_limit_and_each_use_begins_it_anew(browser, settings):
    settings.SESSION_IDLE_SECONDS = 600
    browser = idle_soon(browser)

    browser.get("/account/")

    assert 540 < seconds_left() <= 600


def test_new_session_has_the_idle_limit(world, settings):
    settings.SESSION_IDLE_SECONDS = 600

    Client().post("/login/", PASSWORD)

    assert 540 < seconds_left() <= 600


def test_use_does_not_prolong_a_session_beyond_two_weeks(browser):
    begun = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE - 120)
    UserSession.objects.update(created_at=begun)
    browser = idle_soon(browser)

    browser.get("/account/")

    assert seconds_left() <= 120


def test_page_that_reads_itself_again_and_live_socket_are_no_use(world, browser):
    browser = idle_soon(browser)
    key = stored_key(cookie_of(browser))

    assert browser.get("/account/", headers={"X-Signoff-Refresh": "1"}).status_code == 200
    (live_access,) = live_access_of([replace(actor_of_user(world.bob), session_key=key)])

    assert live_access is not None
    assert seconds_left() <= 60


def test_only_reading_a_page_again_is_no_use_of_a_session(world, browser):
    browser = idle_soon(browser)

    browser.post("/agents/none/test/", headers={"X-Signoff-Refresh": "1"})

    assert seconds_left() > 60


def test_idle_session_has_ended_for_pages_and_live_sockets(world, browser):
    key = stored_key(cookie_of(browser))
    Session.objects.update(expire_date=timezone.now())

    assert browser.get("/account/").status_code == 302
    assert live_access_of([replace(actor_of_user(world.bob), session_key=key)]) == [None]
