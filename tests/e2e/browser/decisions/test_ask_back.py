"""Asking an agent back in a browser: the keys, the edits that go along, and the next request."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser.accessibility_checks import find_faults
from tests.support.browser.site import PHONE

pytestmark = pytest.mark.browser

#: A folder for pictures of the pages, for people who look at them.
PICTURES = os.environ.get("SIGNOFF_PICTURES")


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


def test_a_question_with_edits_comes_back_as_the_next_request(site):
    site.call_everything_off()
    refund = site.start_and_wait("refund-desk")
    with site.open_as("marco", reduced_motion="reduce") as page:
        page.goto(f"{site.url}/interrupts/{refund['id']}/")
        site.wait_until_live(page)
        page.click("button[value='edit:amount']")
        page.fill("[name='args/amount']", "100")
        page.keyboard.press("Escape")
        page.keyboard.press("b")
        expect(page.locator("#f-feedback")).to_be_focused()
        page.keyboard.type("Is the parcel lost?")
        assert find_faults(page) == []
        picture(page, "ask-back")
        page.keyboard.press("Escape")
        expect(page.locator("#f-feedback")).to_be_hidden()
        page.keyboard.press("b")
        page.keyboard.press("Control+Enter")
        page.wait_for_url(f"{site.url}/?done=**")
        site.wait_until_live(page)

        page.goto(f"{site.url}/interrupts/{refund['id']}/")
        again = page.locator("#sent-back a", has_text="Refund $100.00")
        expect(again).to_be_visible()
        picture(page, "sent-back")
        again.click()
        page.wait_for_url(lambda url: refund["id"] not in url)
        expect(page.locator("#sent-back")).to_contain_text("Is the parcel lost?")
        site.wait_until_live(page)
        assert find_faults(page) == []
        picture(page, "asked-again")

    payload = site.call(f"/api/interrupts/{refund['id']}")["decision"]["payload"]
    assert (payload["approved"], payload["feedback"]) == (False, "Is the parcel lost?")
    assert payload["editedArgs"]["amount"] == 100


def test_a_question_is_sent_on_a_phone_without_scripts(site):
    site.call_everything_off()
    refund = site.start_and_wait("refund-desk")
    with site.browse(
        storage_state=site.state_of("marco"), java_script_enabled=False, **PHONE
    ) as page:
        page.goto(f"{site.url}/interrupts/{refund['id']}/")
        page.locator("#ask-back summary").click()
        page.fill("#f-feedback", "Which parcel?")
        picture(page, "ask-back-phone")
        page.click("button[value=ask_back]")
        page.goto(f"{site.url}/interrupts/{refund['id']}/")
        expect(page.locator("#sent-back")).to_contain_text("Which parcel?")
