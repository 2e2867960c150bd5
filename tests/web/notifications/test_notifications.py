"""The page of a person's notifications, and the link that ends them."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from inbox.actions.notifications.subscriptions import send_test
from inbox.models import AuditEntry, SavedView, Subscription
from inbox.platform.clock import database_now
from inbox.queries.notifications.notifications import unsubscribe_token
from tests.support.notifications.subscribed import confirm_address, send_all, subscribe_person

CHOICE = {"events": ["opened", "reminded"], "mode": "if_waiting", "minutes": "7"}


@pytest.fixture
def page(world):
    client = Client()
    client.force_login(world.bob)
    return client


def test_notifications_are_off_and_need_a_confirmed_address(page):
    text = page.get("/account/notifications/").content.decode()
    response = page.post("/account/notifications/save", CHOICE)

    assert "You get no mails about requests." in text
    assert response.status_code == 422
    assert "Confirm an e-mail address first." in response.content.decode()
    assert not Subscription.objects.exists()


def test_a_choice_is_stored_and_audited_once(page, bob):
    confirm_address(bob)

    for _ in range(2):
        assert page.post("/account/notifications/save", CHOICE).status_code == 303

    row = Subscription.objects.get()
    assert (row.events, row.mode, row.minutes) == (["opened", "reminded"], "if_waiting", 7)
    assert AuditEntry.objects.filter(action="subscription.changed").count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"events": []},
        {"events": ["test"]},
        {"mode": "never"},
        {"minutes": "0"},
        {"minutes": "1441"},
        {"minutes": "\u0661"},
        {"minutes": "1e3"},
    ],
)
def test_an_invalid_choice_is_refused_and_kept_on_the_page(page, bob, change):
    confirm_address(bob)

    response = page.post("/account/notifications/save", {**CHOICE, **change})

    assert response.status_code == 422
    assert not Subscription.objects.exists()


def test_switching_off_ends_the_subscription(page, bob):
    subscribe_person(bob)

    page.post("/account/notifications/save", {**CHOICE, "off": "1"})

    assert not Subscription.objects.exists()
    assert (
        "You get no mails about requests." in page.get("/account/notifications/").content.decode()
    )


def test_a_test_mail_needs_no_subscription_and_is_in_the_log(page, bob):
    confirm_address(bob)

    page.post("/account/notifications/test")
    page.post("/account/notifications/test")
    send_all()

    assert [message.subject for message in mail.outbox] == ["Test of notifications by Signoff"]
    assert re.search(
        r"<strong>Test</strong>.*Sent", page.get("/account/notifications/").content.decode(), re.S
    )


def test_the_link_of_a_mail_unsubscribes_by_post_only(bob):
    channel = subscribe_person(bob)
    nobody = Client(enforce_csrf_checks=True)
    path = f"/unsubscribe/{unsubscribe_token(channel.pk)}/"

    for method in (nobody.get, nobody.head, nobody.options):
        method(path)
    assert Subscription.objects.exists()
    response = nobody.post(path, {"List-Unsubscribe": "One-Click"})

    assert response.status_code == 200
    assert response["Referrer-Policy"] == "no-referrer"
    assert not Subscription.objects.exists()


def test_a_changed_link_ends_nothing(bob, dora):
    tokens = [unsubscribe_token(subscribe_person(actor).pk) for actor in (bob, dora)]
    (first, _), (_, second) = (token.split(":") for token in tokens)

    response = Client().post(f"/unsubscribe/{first}:{second}/")

    assert response.status_code == 404
    assert Subscription.objects.count() == 2


def test_quiet_hours_are_stored_and_shown(page, bob):
    confirm_address(bob)
    times = {
        "quiet_from": "22:00",
        "quiet_to": "06:30",
        "zone": "Europe/Berlin",
        "digest_at": "09:15",
    }
    choice = {"events": ["opened"], "mode": "digest", "minutes": "5"}

    assert page.post("/account/notifications/save", {**choice, **times}).status_code == 303

    text = page.get("/account/notifications/").content.decode()
    for value in times.values():
        assert f'value="{value}"' in text
    off = {**choice, **times, "quiet_from": "", "quiet_to": ""}
    page.post("/account/notifications/save", off)
    assert 'value="22:00"' not in page.get("/account/notifications/").content.decode()


@pytest.mark.parametrize(
    "times",
    [
        {"quiet_from": "22:00", "quiet_to": ""},
        {"quiet_from": "7", "quiet_to": "08:00"},
        {"quiet_from": "25:00", "quiet_to": "08:00"},
        {"quiet_from": "08:00", "quiet_to": "08:00"},
        {"zone": "Berlin"},
        {"zone": "../etc/passwd"},
        {"digest_at": ""},
    ],
)
def test_wrong_times_are_refused_and_stay_in_the_form(page, bob, times):
    confirm_address(bob)
    choice = {"events": ["opened"], "mode": "digest", "minutes": "5"}

    refused = page.post("/account/notifications/save", {**choice, **times})

    assert refused.status_code == 422
    assert "You get no mails about requests." in refused.content.decode()


def test_without_a_mail_server_people_see_their_printed_mails(page, bob, dora, settings):
    settings.SENDS_MAIL = False
    confirm_address(bob, "bob@example.com")
    confirm_address(dora, "dora@example.com")
    assert "No mails yet." in page.get("/account/notifications/").content.decode()
    for actor in (bob, dora):
        send_test(language="en", actor=actor)
        send_all()

    text = page.get("/account/notifications/").content.decode()

    assert text.count("<pre") == 1
    assert "Mails about requests will arrive at this address." in text
    settings.SENDS_MAIL = True
    assert "Mails on this machine" not in page.get("/account/notifications/").content.decode()


def test_lists_say_that_the_address_was_switched_off(page, bob):
    channel = subscribe_person(bob)
    assert "the server refused your address" not in page.get("/").content.decode()

    type(channel).objects.update(disabled_at=database_now(), disabled_reason="refused")

    assert "the server refused your address" in page.get("/").content.decode()


def test_a_saved_view_can_be_chosen(page, world, bob):
    confirm_address(bob)
    view = "agent=rehearsal&sort=new"
    SavedView.objects.create(user=world.bob, name="Mine", query=view, created_at=database_now())
    form = page.get("/account/notifications/").content.decode()
    assert '<option value="agent=rehearsal">Mine</option>' in form

    page.post("/account/notifications/save", {**CHOICE, "only": "agent=rehearsal"})

    assert Subscription.objects.get().filter == "agent=rehearsal"
    form = page.get("/account/notifications/").content.decode()
    assert '<option value="agent=rehearsal" selected>Mine</option>' in form


def test_a_person_is_away_and_back(page, bob, dora):
    day = (database_now() + timedelta(days=3)).date().isoformat()

    away = page.post(
        "/account/notifications/away", {"away_until": day, "deputy": str(dora.user_id)}
    )

    assert away.status_code == 303
    text = page.get("/account/notifications/").content.decode()
    assert "Dora is told of requests instead of you" in text
    assert f'value="{day}"' in text
    page.post("/account/notifications/away", {"back": "1"})
    assert "You are away" not in page.get("/account/notifications/").content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"away_until": "", "deputy": ""},
        {"away_until": "2020-01-01", "deputy": ""},
        {"away_until": "9999-12-31", "deputy": ""},
        {"away_until": "x" * 1000, "deputy": "9" * 40},
    ],
)
def test_a_wrong_absence_is_refused(page, fields):
    response = page.post("/account/notifications/away", fields)

    assert response.status_code == 422
    assert "Enter a day from today, within a year." in response.content.decode()
