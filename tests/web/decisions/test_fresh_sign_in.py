"""A policy that requires a sign-in shortly before the approval."""

import pytest
from django.test import Client

from tests.support.policies.published import publish, rule
from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import Reader, words


@pytest.fixture
def interrupt(world):
    publish(world, rule("fresh", "ask", require={"fresh_sign_in_minutes": 5}))
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


@pytest.fixture
def browser(world):
    client = Client()
    signed_in = client.post("/login/", {"username": "bob", "password": "bob-password"})
    assert signed_in.status_code == 302
    return client


def pass_six_minutes(browser):
    session = browser.session
    for step in (steps := session["account_authentication_methods"]):
        step["at"] -= 360
    session["account_authentication_methods"] = steps
    session.save()


def send(browser, interrupt, action):
    return Reader(browser).send(interrupt, action, {"args/to": "me@example.org"})


def test_a_person_who_has_just_signed_in_approves(interrupt, browser):
    assert send(browser, interrupt, "approve").status_code == 303

    assert reread(interrupt).status == "resolved"


def test_after_the_time_the_page_asks_to_confirm_and_keeps_the_edits(interrupt, browser):
    pass_six_minutes(browser)

    answer = send(browser, interrupt, "approve")

    assert answer.status_code == 422
    text = words(answer)
    assert "The team's policy (fresh) requires a sign-in in the last 5 minutes." in text
    assert "Confirm your identity in a new tab" in text
    page = answer.content.decode()
    assert "me@example.org" in page
    assert f'href="/account/confirm/?next=%2Finterrupts%2F{interrupt.pk}%2F"' in page
    assert reread(interrupt).status == "open"


def test_an_approval_counts_after_confirming(interrupt, browser):
    pass_six_minutes(browser)
    confirmed = browser.post("/account/confirm/", {"password": "bob-password"})
    assert confirmed.status_code == 302

    assert send(browser, interrupt, "approve").status_code == 303


def test_a_rejection_needs_no_fresh_sign_in(interrupt, browser):
    pass_six_minutes(browser)

    assert send(browser, interrupt, "reject").status_code == 303
