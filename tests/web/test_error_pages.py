"""Error pages say what happened and what to do next, whatever is broken."""

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory, override_settings

from inbox.api.base.database_down import UnavailableMiddleware
from inbox.web.base.error_pages import server_error
from tests.support.web.pages import words

BROWSER = {"Accept": "text/html,application/xhtml+xml", "Accept-Language": "de"}


def without_database(request):
    raise OperationalError("connection refused")


def test_an_address_of_a_button_says_so_when_it_is_opened(reads_bob):
    page = reads_bob.get("/runs/demo")

    assert page.status_code == 405
    assert page.headers["Content-Length"] == str(len(page.content))
    assert "This address cannot be opened" in words(page)
    assert "Go to the inbox" in words(page)


def test_the_page_of_a_server_error_needs_no_database():  # which this test has not
    page = server_error(RequestFactory().get("/"))

    assert page.status_code == 500
    assert "Check whether your change was made" in words(page)


def test_a_server_error_is_told_although_its_page_fails():
    with override_settings(TEMPLATES=[]):
        page = server_error(RequestFactory().get("/"))

    assert "stylesheet" not in page.content.decode()
    assert "Check whether your change was made" in words(page)


def test_a_browser_gets_a_page_while_the_database_is_away():
    answer = UnavailableMiddleware(without_database)

    page = answer(RequestFactory().get("/runs/?day=1", headers=BROWSER))

    assert (page.status_code, page.headers["Retry-After"]) == (503, "2")
    assert "Gleich wieder da" in words(page)
    assert 'href="/runs/?day=1"' in page.content.decode()


def test_a_form_that_was_sent_is_not_said_to_have_changed_nothing():
    answer = UnavailableMiddleware(without_database)

    page = answer(RequestFactory().post("/review/decide", headers={"Accept": "text/html"}))

    assert "Nothing was changed" not in words(page)
    assert "Check whether your change was made" in words(page)


def test_try_again_stays_on_this_host():
    answer = UnavailableMiddleware(without_database)
    request = RequestFactory().get("/", headers=BROWSER)
    request.path = "//elsewhere.example/"

    page = answer(request)

    assert 'href="//' not in page.content.decode()


@pytest.mark.parametrize(
    ("path", "accept"), [("/api/runs", "text/html"), ("/healthz", "text/html"), ("/", "*/*")]
)
def test_programs_and_live_pages_get_a_problem_while_the_database_is_away(path, accept):
    answer = UnavailableMiddleware(without_database)

    response = answer(RequestFactory().get(path, headers={"Accept": accept}))

    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nothing/", "/login/%00"])
def test_a_page_that_is_not_there_leads_to_the_inbox(path):
    page = Client().get(path)

    assert page.status_code == 404
    assert "Go to the inbox" in words(page)
