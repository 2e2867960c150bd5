"""Which language a reader gets, and how it is chosen."""

import pytest
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.utils import translation

from tests.support.steps import open_interrupts, start
from tests.support.web.markup import on_one_line

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}


def language_of(response):
    return response.content.decode().partition('<html lang="')[2][:2]


@pytest.fixture
def browser(world):
    client = Client()
    client.force_login(world.bob)
    return client


def test_a_page_speaks_the_language_of_the_browser(browser):
    assert language_of(browser.get("/")) == "en"
    assert language_of(browser.get("/", headers=GERMAN)) == "de"
    assert language_of(browser.get("/", headers={"Accept-Language": "fr"})) == "en"


def test_who_is_not_signed_in_yet_is_asked_to_in_their_language():
    page = Client().get("/login/", headers=GERMAN).content.decode()

    assert "Passwort vergessen?" in page
    assert 'name="language" value="en"' in page


def test_a_wrong_password_is_told_of_in_the_language_of_the_page(db):
    page = Client().post("/login/", {"username": "x", "password": "y"}, headers=GERMAN)

    assert "Bitte" in page.content.decode()


def test_the_chosen_language_is_remembered_and_wins_over_the_browsers(browser):
    went = browser.post("/language/", {"language": "de", "next": "/decided/"})

    assert (went.status_code, went["Location"]) == (302, "/decided/")
    assert language_of(browser.get("/", headers={"Accept-Language": "en"})) == "de"
    cookie = browser.cookies["django_language"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert cookie["max-age"] >= 300 * 24 * 3600


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_choosing_a_language_leads_to_no_other_site(browser, elsewhere):
    went = browser.post("/language/", {"language": "de", "next": elsewhere})

    assert went["Location"] == "/"


def test_a_language_that_there_is_not_changes_nothing(browser):
    browser.post("/language/", {"language": "xx", "next": "/"})

    assert "django_language" not in browser.cookies


def test_choosing_a_language_needs_the_token_of_a_form(world):
    assert (
        Client(enforce_csrf_checks=True).post("/language/", {"language": "de"}).status_code == 403
    )


def test_language_change_on_a_form_response_redirects_to_a_get_page(browser, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    page = browser.post("/review/decide", {"shown": str(interrupt.pk)}).content.decode()

    assert '<input type="hidden" name="next" value="/">' in page


def test_machines_are_answered_in_english_whatever_they_accept(world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    browser = Client(headers=GERMAN)
    browser.cookies["django_language"] = "de"
    nobody = browser.get("/api/interrupts")
    browser.force_login(world.alice)
    wrong = browser.put("/api/interrupts")

    body = {"status": "resolved", "view_digest": interrupt.shown_digest}
    refused = browser.post(f"/api/interrupts/{interrupt.pk}/decide", body, "application/json")

    assert refused.json()["detail"] == "This requires the decide permission."
    assert "Accept-Language" not in refused.get("Vary", "")
    assert nobody.json()["detail"].endswith("or sign in.")
    assert wrong.json()["detail"] == 'Method "PUT" not allowed.'


@override_settings(LANGUAGES=[("en", "English"), ("ar", "Arabic")])
def test_a_language_that_runs_from_right_to_left_turns_the_page():
    with translation.override("ar"):
        assert '<html lang="ar" dir="rtl">' in on_one_line(render_to_string("404.html"))
    with translation.override("en"):
        assert '<html lang="en" dir="ltr">' in on_one_line(render_to_string("404.html"))
