"""A button says that its form is under way, and stops saying so however that ends."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, hold_requests, wait_for_requests

pytestmark = pytest.mark.browser


def width_of(button: Locator) -> float:
    box = button.bounding_box()
    assert box
    return box["width"]


def start_a_run(site: Site, page: Page) -> Locator:
    """Press a button whose page never comes, and return it."""
    page.goto(f"{site.url}/runs/new/?agent=rehearsal")
    page.fill("#main textarea", "Go on.")
    # After the product's own listeners: Playwright reads nothing of a page that is on its way.
    page.evaluate("addEventListener('submit', (event) => event.preventDefault())")
    button = page.locator("#decide-buttons button")
    button.click()
    expect(button).to_have_attribute("aria-busy", "true")
    return button


def test_a_decision_that_fails_leaves_no_busy_button(site, mine):
    (interrupt,) = mine(staged_interrupts.MAIL)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        routes = hold_requests(page, "**/decide*")
        approve = page.locator("#decide-buttons button[value=approve]")
        width = width_of(approve)

        approve.click()

        wait_for_requests(page, lambda: routes)
        expect(approve).to_have_attribute("aria-busy", "true")
        assert width_of(approve) == width
        routes[0].fulfill(status=401)
        expect(approve).not_to_have_attribute("aria-busy", "true")


def test_a_page_that_is_shown_again_has_no_busy_button(site):
    with site.open_as("marco") as page:
        button = start_a_run(site, page)

        # As a browser does with a page that it has kept in memory.
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")

        expect(button).not_to_have_attribute("aria-busy", "true")


def test_a_page_that_is_not_left_has_no_busy_button_after_a_while(site):
    with site.open_as("marco") as page:
        page.clock.install()
        button = start_a_run(site, page)

        page.clock.run_for(11_000)

        expect(button).not_to_have_attribute("aria-busy", "true")


def test_a_form_that_downloads_has_no_busy_button(site):
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/audit/")
        page.evaluate("addEventListener('submit', (event) => event.preventDefault())")
        page.click("[popovertarget=export-menu]")
        button = page.locator("[data-download] button[value=csv]")

        button.click()

        expect(button).not_to_have_attribute("aria-busy", "true")
