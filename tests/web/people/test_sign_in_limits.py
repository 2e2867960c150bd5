"""How often anybody may try to sign in, from where and as whom; and what the log says of it."""

import logging
import threading
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client
from django.utils import timezone
from limits import parse

from inbox.actions.people.accounts import delete_stale_rows
from inbox.config import asgi
from inbox.web.people import sign_in_limits

PASSWORD = {"username": "bob", "password": "bob-password"}


def attempt(username, address, password="guess"):
    return Client(REMOTE_ADDR=address).post("/login/", {"username": username, "password": password})


@pytest.fixture
def low(monkeypatch):
    """Limits that a test reaches without hashing for a minute."""
    monkeypatch.setattr(sign_in_limits, "_FROM_ADDRESS", parse("6/15 minutes"))
    monkeypatch.setattr(sign_in_limits, "_OF_NAME", parse("4/15 minutes"))


def test_an_address_that_tries_many_names_gets_no_further_attempt(world, low):
    answers = [attempt(f"person-{number}", "192.0.2.1") for number in range(7)]

    assert [answer.status_code for answer in answers] == [422] * 6 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert "Too many sign-in attempts" in answers[-1].content.decode()
    assert attempt("person-8", "192.0.2.2").status_code == 422


def test_limits_of_signing_in_hold_while_redis_is_away(world, low, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"

    from_one = [attempt(f"person-{number}", "192.0.2.1") for number in range(7)]
    of_bob = [attempt("bob", f"192.0.3.{number}") for number in range(1, 7)]

    assert [answer.status_code for answer in from_one] == [422] * 6 + [429]
    assert of_bob[-1].status_code == 429
    right = {"username": "alice", "password": "alice-password", "address": "192.0.2.9"}
    assert attempt(**right).status_code == 302


def test_addresses_of_one_ipv6_household_count_together(world, low):
    answers = [attempt(f"person-{number}", f"2001:db8::{number:x}") for number in range(7)]

    assert answers[-1].status_code == 429


def test_a_name_tried_from_many_addresses_is_slowed_down_there(world, low):
    answers = [attempt("bob", f"192.0.2.{number}") for number in range(1, 7)]

    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    assert int(answers[-1].headers["Retry-After"]) <= 20


def test_ten_failures_lock_a_name_at_one_address_and_nothing_else(world):
    for _ in range(10):
        attempt("bob", "192.0.2.1")

    assert attempt(**PASSWORD, address="192.0.2.1").status_code == 429
    assert attempt(**PASSWORD, address="192.0.2.2").status_code == 302
    right = {"username": "alice", "password": "alice-password"}
    assert attempt(**right, address="192.0.2.1").status_code == 302


def test_who_has_signed_in_from_an_address_before_is_not_slowed_down_there(world, low):
    assert attempt(**PASSWORD, address="192.0.2.77").status_code == 302
    for number in range(1, 9):
        attempt("bob", f"192.0.2.{number}")

    assert attempt(**PASSWORD, address="192.0.2.77").status_code == 302


@pytest.fixture
def browser(world):
    """A browser at which Bob has signed in, and out again."""
    client = Client(REMOTE_ADDR="192.0.2.1")
    assert client.post("/login/", PASSWORD).status_code == 302
    client.post("/logout/")
    return client


def sign_in(client, **changes):
    return client.post("/login/", {**PASSWORD, **changes})


def test_a_browser_of_a_person_signs_in_where_an_address_may_not(world, low, browser):
    answers = [attempt(f"person-{number}", "192.0.2.1") for number in range(7)]
    assert answers[-1].status_code == 429
    assert attempt(**PASSWORD, address="192.0.2.1").status_code == 429

    assert sign_in(browser).status_code == 302


def test_a_browser_of_a_person_signs_in_where_the_name_is_locked(world, browser):
    for _ in range(10):
        attempt("bob", "192.0.2.1")
    assert attempt(**PASSWORD, address="192.0.2.1").status_code == 429

    assert sign_in(browser).status_code == 302


def test_a_browser_is_one_of_a_person_in_each_spelling(world, low, browser):
    for number in range(7):
        attempt(f"person-{number}", "192.0.2.1")

    assert sign_in(browser, username="BOB ").status_code == 302


def test_the_attempts_of_a_browser_end_too(world, low, browser, monkeypatch):
    monkeypatch.setattr(sign_in_limits, "_OF_BROWSER", parse("2/15 minutes"))
    answers = [sign_in(browser, password="guess").status_code for _ in range(9)]

    assert answers == [422] * 8 + [429]
    assert sign_in(browser).status_code == 429


def test_the_failures_of_a_browser_count_for_nobody_else(world, low, browser):
    for _ in range(8):
        sign_in(browser, password="guess")

    assert not AccessAttempt.objects.exists()
    assert attempt(**PASSWORD, address="192.0.2.1").status_code == 302


def test_a_browser_of_one_person_is_none_of_another(world, low, browser):
    for number in range(7):
        attempt(f"person-{number}", "192.0.2.1")

    assert sign_in(browser, username="alice", password="alice-password").status_code == 429


@pytest.mark.parametrize("change", ["forged", "cut", "old", "empty"])
def test_a_cookie_that_is_not_valid_is_none(world, low, browser, change, settings):
    cookie = browser.cookies["browser"]
    changed = {
        "forged": signing.dumps([world.bob.pk, "x"], salt="browser of a person", key="other"),
        "cut": cookie.value[:-3],
        "old": cookie.value,
        "empty": "",
    }
    browser.cookies["browser"] = changed[change]
    if change == "old":
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another key", []
    for number in range(7):
        attempt(f"person-{number}", "192.0.2.1")

    assert sign_in(browser).status_code == 429


def test_each_failure_is_one_line_that_names_the_address(world, caplog):
    with caplog.at_level(logging.WARNING):
        attempt("bob", "192.0.2.1")

    (line,) = [record.msg for record in caplog.records if "sign-in" in str(record.msg)]
    assert (line["event"], line["address"]) == ("sign-in failed", "192.0.2.1")
    assert "bob" not in str(line)
    assert not [record for record in caplog.records if record.name.startswith("axes")]


@pytest.mark.parametrize(
    ("method", "path", "pool"),
    [
        ("post", "/login/", "hashing"),
        ("post", "/account/confirm/", "hashing"),
        ("post", "/account/password/", "hashing"),
        ("post", "/join/account", "hashing"),
        ("get", "/login/", "db"),
        ("post", "/account/name", "db"),
        ("get", "/healthz", "db"),
    ],
)
async def test_passwords_are_hashed_in_threads_of_their_own(rf, monkeypatch, method, path, pool):
    monkeypatch.setattr(
        asgi._pages, "get_response", lambda _request: threading.current_thread().name
    )

    name = await asgi._pages.get_response_async(getattr(rf, method)(path))

    assert name.startswith(f"{pool}_")


def test_rows_that_nothing_reads_any_more_are_deleted(world):
    attempt("bob", "192.0.2.1")
    attempt(**PASSWORD, address="192.0.2.2")
    assert delete_stale_rows() == 0

    long_ago = timezone.now() - timedelta(days=100)
    AccessAttempt.objects.update(attempt_time=long_ago)
    AccessLog.objects.update(attempt_time=long_ago)
    Session.objects.update(expire_date=long_ago)

    assert delete_stale_rows() == 4
    for rows in (AccessAttempt, AccessLog, Session, UserSession):
        assert not rows.objects.exists()
