"""The focus and the rows keep their places while the page changes, and `e` finds a field."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, press, rectangle

pytestmark = pytest.mark.browser

TWO_GAPS = {
    "message": "Who travels?",
    "schema": {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "title": "Age"},
            "name": {"type": "string", "title": "Name"},
            "sure": {"type": "boolean", "title": "Sure"},
        },
        "required": ["name", "sure"],
    },
}


def claim(site: Site, interrupt: Any) -> None:
    with site.open_as("priya") as priya:
        site.open(priya, interrupt)
        press(priya, "c")
        expect(priya.locator("#claim .tag-me")).to_be_visible()


def focused_id(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


@pytest.mark.parametrize("selector", ["#detail-title", ".bar-place", "[data-action=snooze]"])
def test_a_live_update_does_not_take_the_focus(site, mine, selector):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        element = page.locator(f"{selector}:visible").first
        element.focus()

        claim(site, interrupt)

        expect(page.locator("#head")).to_contain_text("Claimed by Priya")
        expect(element).to_be_focused()


def test_the_checkbox_of_a_row_keeps_the_focus(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.locator(f"#row-{interrupt['id']} .row-check").focus()

        claim(site, interrupt)

        expect(page.locator(f"#row-{interrupt['id']}")).to_contain_text("Claimed by Priya")
        expect(page.locator(f"#row-{interrupt['id']} .row-check")).to_be_focused()


@pytest.mark.parametrize("tabs", [0, 1])
def test_the_focus_moves_to_no_other_button_of_the_bar(site, mine, tabs):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        press(page, "a", *["Tab"] * tabs)

        claim(site, interrupt)

        expect(page.locator("#bar [name=take_over]")).to_be_visible()
        expect(page.locator(".detail-scroll")).to_be_focused()


@pytest.mark.parametrize("leave", ["key", "mouse"])
def test_rows_keep_their_places_under_the_mouse(site, mine, leave):
    # The new one stands under a heading of its own, "Due today", which is no new request.
    (first,) = mine(staged_interrupts.FIXED | {"minutes": 3 * 24 * 60})
    (second,) = mine(staged_interrupts.FIXED | {"minutes": 3 * 24 * 60 + 1})
    with site.open_as("marco") as page:
        site.open(page, first)
        row = f"#row-{second['id']}"
        page.hover(row)
        place = rectangle(page, row)

        (sooner,) = site.play(staged_interrupts.FIXED | {"minutes": 20})

        expect(page.locator("#rows-new")).to_have_text("1 new")
        assert rectangle(page, row) == place
        expect(page.locator(f"#row-{sooner['id']}")).to_have_count(0)
        if leave == "key":
            press(page, "Escape")
        else:
            page.locator("#detail-title").hover()
        expect(page.locator(f"#row-{sooner['id']}")).to_be_visible()
        expect(page.locator("#rows-new")).to_be_hidden()


def test_a_decided_row_stays_under_the_mouse(site, mine):
    (first,) = mine(staged_interrupts.FIXED | {"minutes": 60})
    (second,) = mine(staged_interrupts.FIXED | {"minutes": 61})
    with site.open_as("marco") as page:
        site.open(page, second)
        row = f"#row-{second['id']}"
        page.hover(row)
        place = rectangle(page, row)

        site.decide(first, {"approved": False, "reason": "no"})

        expect(page.locator(f"#row-{first['id']}")).to_have_class(re.compile("is-done"))
        assert rectangle(page, row) == place
        page.locator("#detail-title").hover()
        expect(page.locator(f"#rows #row-{first['id']}")).to_have_count(0)


def test_the_second_skip_link_leads_to_the_request(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "Tab", "Tab")
        expect(page.locator(".skip-request")).to_be_focused()
        press(page, "Enter")

        expect(page.locator("#detail-title")).to_be_focused()


def test_e_goes_to_the_first_gap_then_to_the_error(site, mine):
    (interrupt,) = mine(TWO_GAPS)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "e")
        expect(page.locator("#f-answer-name")).to_be_focused()
        page.keyboard.type("Ada")
        press(page, "Escape", "e")
        assert focused_id(page) == "f-answer-name"  # the only one that was changed
        page.locator("#f-answer-age").fill("old")
        press(page, "Escape", "e")
        assert focused_id(page).startswith("f-answer-sure")  # two were changed: the next gap

        press(page, "Escape", "a", "Enter")
        expect(page.locator("#banner [role=alert]")).to_be_focused()
        expect(page.locator(".htmx-added, .htmx-settling")).to_have_count(0)
        press(page, "e")
        expect(page.locator("#f-answer-age")).to_be_focused()


def test_e_goes_to_the_value_that_was_edited(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        press(page, "e")
        expect(page.locator("#f-args-amount")).to_be_focused()
        press(page, "Escape")
        page.locator(".slot", has=page.locator("#f-args-note")).locator("[data-edit]").click()
        page.keyboard.type("Late.")
        press(page, "Escape")

        press(page, "e")

        expect(page.locator("#f-args-note")).to_be_focused()
