"""The section about push messages on a person's page, the service worker and the manifest."""

import pytest
from django.test import Client

from inbox.actions.notifications.push_channels import add_browser
from inbox.models import AuditEntry, Channel, Notification, Subscription
from inbox.platform import encryption
from tests.support.notifications.push_server import Browser
from tests.support.web.pages import words

PAGE = "/account/notifications/"
CHOICE = {"events": ["opened", "reminded"], "mode": "at_once", "minutes": "7"}


@pytest.fixture
def page(world):
    client = Client()
    client.force_login(world.bob)
    return client


@pytest.fixture
def browser(bob):
    return add_browser(
        subscription=Browser("https://push.example.com/very-secret").subscription,
        label="Firefox on Linux",
        language="en",
        actor=bob,
    )


def text_of(response):
    return response.content.decode()


def test_the_page_offers_push_and_says_that_it_needs_javascript(page):
    text = text_of(page.get(PAGE))

    assert f'data-key="{encryption.push_public_key()}"' in text
    assert '<p data-push="script">Push messages need JavaScript' in text
    assert "Your browsers" not in text


def test_an_installation_without_a_key_says_nothing_of_push(page, settings):
    settings.VAPID_KEY = ""

    response = page.get(PAGE)
    assert "push" not in words(response).lower()
    assert "push.js" not in text_of(response)


def test_browsers_are_listed_tested_and_removed_without_javascript(page, browser):
    text = text_of(page.get(PAGE))
    assert '<strong dir="auto">Firefox on Linux</strong>' in text
    assert "over push.example.com" in text
    assert "very-secret" not in text

    tested = page.post(f"/account/notifications/browsers/{browser.pk}/test")
    assert tested.status_code == 303
    assert Notification.objects.get().status == "pending"
    removed = page.post(f"/account/notifications/browsers/{browser.pk}/remove")

    assert removed.status_code == 303
    text = text_of(page.get(PAGE))
    assert "Your browsers" not in text
    assert "Firefox on Linux</bdi>: The chat or browser was removed." in text


def test_a_browser_that_has_unsubscribed_is_in_the_log(page, browser):
    page.post(f"/account/notifications/browsers/{browser.pk}/test")
    Notification.objects.update(status="failed", why="gone")
    Channel.objects.update(removed_at=browser.created_at)

    assert "Firefox on Linux</bdi>: The browser has unsubscribed." in text_of(page.get(PAGE))


def test_what_browsers_get_is_stored_and_audited_once(page, browser):
    for _ in range(2):
        assert page.post(f"{PAGE}pushes", CHOICE).status_code == 303

    row = Subscription.objects.get()
    assert (row.events, row.mode, row.minutes) == (["opened", "reminded"], "at_once", 7)
    assert AuditEntry.objects.filter(action="subscription.changed").count() == 1
    assert 'value="7" type="number"' in text_of(page.get(PAGE))


@pytest.mark.parametrize(
    "change",
    [{"events": []}, {"mode": "digest"}, {"mode": ""}, {"minutes": "0"}, {"minutes": "\u0661"}],
)
def test_an_invalid_choice_is_refused_and_stays_in_the_form(page, browser, change):
    refused = page.post(f"{PAGE}pushes", {**CHOICE, "minutes": "7", **change})

    assert refused.status_code == 422
    assert f'value="{change.get("minutes", 7)}" type="number"' in text_of(refused)
    assert Subscription.objects.get().mode == "if_waiting"


def test_nobody_removes_the_browser_of_another_person(browser, world):
    carol = Client()
    carol.force_login(world.carol)

    for action in ("test", "remove"):
        path = f"/account/notifications/browsers/{browser.pk}/{action}"
        assert carol.post(path).status_code == 404
    assert Channel.objects.get().removed_at is None


def test_a_name_of_a_browser_is_no_html(page, bob):
    add_browser(
        subscription=Browser("https://push.example.com/x").subscription,
        label="<b>\u202eevil",
        language="en",
        actor=bob,
    )

    text = text_of(page.get(PAGE))

    assert "<b>" not in text
    assert "\u202e" not in text


def test_the_service_worker_has_the_whole_site_as_its_scope(client):
    response = client.get("/push-worker.js")

    assert response.status_code == 200
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Cache-Control"] == "no-cache"
    text = text_of(response)
    assert "showNotification" in text
    assert 'addEventListener("fetch"' not in text
    assert "caches." not in text


def test_the_manifest_lets_the_site_stand_on_a_home_screen(client):
    response = client.get("/manifest.webmanifest")

    assert response["Content-Type"] == "application/manifest+json"
    content = response.json()
    assert (content["display"], content["start_url"], content["scope"]) == ("standalone", "/", "/")
    assert client.get("/login/").content.decode().count('rel="manifest"') == 1


def test_pages_allow_a_worker_and_a_manifest_of_this_site_only(client):
    policy = client.get("/login/").headers["Content-Security-Policy"]

    assert "worker-src 'self'" in policy
    assert "manifest-src 'self'" in policy
