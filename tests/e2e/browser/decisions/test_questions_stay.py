"""A question to the agent that is not sent yet stays: as a draft, and when somebody else acts."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import (
    Site,
    edit_value,
    hold_reading,
    hold_requests,
    wait_for_requests,
)

pytestmark = pytest.mark.browser

_REFUND = staged_interrupts.REFUND | {
    "minutes": 60,
    "schema": staged_interrupts.approval(
        staged_interrupts.REFUND["schema"]["properties"]["editedArgs"]["properties"],
        feedback=staged_interrupts.TEXT,
    ),
}


def write(page: Page, question: str) -> None:
    page.keyboard.press("b")
    expect(page.locator("#f-feedback")).to_be_focused()
    page.keyboard.type(question)


def press_claim(site: Site, page: Page, interrupt: dict[str, Any]) -> None:
    site.open(page, interrupt)
    page.keyboard.press("c")


def test_question_and_edited_value_are_restored_after_a_reload(site):
    site.call_everything_off()
    (interrupt,) = site.play(_REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        edit_value(page, "#f-args-payment").fill("pay_8822")
        page.keyboard.press("Escape")
        write(page, "Which one?")

        page.reload()

        expect(page.locator("#draft")).to_be_visible()
        expect(page.locator("#f-args-payment")).to_have_value("pay_8822")
        expect(page.locator("#f-args-payment")).to_be_visible()
        expect(
            page.locator("#f-args-payment")
            .locator("xpath=ancestor::*[@data-value]")
            .locator("[name=editing]")
        ).to_be_enabled()
        expect(page.locator("#f-feedback")).to_have_value("Which one?")
        expect(page.locator("#f-feedback")).to_be_visible()


def test_question_stays_with_its_focus_when_somebody_claims(site):
    site.call_everything_off()
    (interrupt,) = site.play(_REFUND)
    with site.open_as("marco") as page, site.open_as("priya") as priya:
        site.open(page, interrupt)
        write(page, "Which one?")
        press_claim(site, priya, interrupt)
        expect(page.locator("#bar")).to_contain_text("is reviewing this")
        expect(page.locator("#f-feedback")).to_be_focused()
        expect(page.locator("#ask-back button")).to_be_hidden()

        priya.keyboard.press("c")

        expect(page.locator("#bar")).to_have_attribute("data-mode", "open")
        expect(page.locator("#f-feedback")).to_be_focused()
        expect(page.locator("#f-feedback")).to_have_value("Which one?")
        expect(page.locator("#ask-back button")).to_be_visible()


def test_restored_question_can_be_read_after_somebody_decided(site):
    site.call_everything_off()
    (interrupt,) = site.play(_REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        write(page, " Which one?")
        page.reload()
        expect(page.locator("#f-feedback")).to_have_value(" Which one?")
        site.wait_until_live(page)

        site.decide(interrupt, {"approved": True})

        expect(page.locator("#bar")).to_have_attribute("data-mode", "closed")
        expect(page.locator("#f-feedback")).to_have_value(" Which one?")
        expect(page.locator("#f-feedback")).to_be_visible()


def test_texts_of_a_draft_wait_until_a_claim_ends(site):
    site.call_everything_off()
    (interrupt,) = site.play(_REFUND)
    with site.open_as("marco") as page, site.open_as("priya") as priya:
        site.open(page, interrupt)
        page.fill("#f-reason", "A note")
        page.keyboard.press("Escape")
        write(page, "Which one?")
        page.goto(f"{site.url}/decided/")
        press_claim(site, priya, interrupt)
        expect(priya.locator("#claim")).to_be_visible()
        site.open(page, interrupt)
        expect(page.locator("#draft")).to_be_visible()
        page.reload()
        expect(page.locator("#draft")).to_be_visible()
        expect(page.locator("#f-feedback")).to_have_count(0)

        priya.keyboard.press("c")

        expect(page.locator("#f-feedback")).to_have_value("Which one?")
        expect(page.locator("#f-feedback")).to_be_visible()
        expect(page.locator("#f-reason")).to_have_value("A note")


def test_question_is_restored_while_somebody_claims(site):
    site.call_everything_off()
    (interrupt,) = site.play(_REFUND)
    with site.open_as("marco") as page, site.open_as("priya") as priya:
        site.open(page, interrupt)
        write(page, "Which one?")
        page.goto(f"{site.url}/decided/")
        let_it_read = hold_reading(page)
        restoring = hold_requests(page, "**/decide*")
        site.open(page, interrupt)
        wait_for_requests(page, lambda: restoring)
        press_claim(site, priya, interrupt)
        expect(priya.locator("#claim")).to_be_visible()

        restoring.pop().continue_()

        expect(page.locator("#draft")).to_be_visible()
        expect(page.locator("#f-feedback")).to_have_value("Which one?")
        expect(page.locator("#f-feedback")).to_be_visible()
        let_it_read()
        expect(page.locator("#bar")).to_contain_text("is reviewing this")
        page.unroute("**/decide*")
        page.reload()
        priya.keyboard.press("c")
        expect(page.locator("#f-feedback")).to_have_value("Which one?")


def test_draft_is_restored_after_a_decision_that_was_withdrawn_meanwhile(site):
    site.call_everything_off()
    interrupt, _ = site.play(_REFUND, staged_interrupts.FIXED)  # one stays open: nothing resumes
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        edit_value(page, "#f-args-payment").fill("pay_8822")
        page.keyboard.press("Escape")
        write(page, "Which one?")
        page.goto(f"{site.url}/decided/")
        let_it_read = hold_reading(page)
        restoring = hold_requests(page, "**/decide*")
        site.open(page, interrupt)
        wait_for_requests(page, lambda: restoring)
        site.decide(interrupt, {"approved": True})

        with page.expect_response("**/decide*"):
            restoring.pop().continue_()
        page.unroute("**/decide*")
        site.call(f"/api/interrupts/{interrupt['id']}/withdraw", {})
        let_it_read()

        expect(page.locator("#f-args-payment")).to_have_value("pay_8822")
        expect(page.locator("#f-feedback")).to_have_value("Which one?")
        expect(page.locator("#answer")).to_have_attribute("data-mode", "open")
