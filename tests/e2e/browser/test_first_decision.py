"""The guide of somebody who has decided nothing yet, and the first request of a team."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import find_faults
from tests.support.browser.site import Site, is_open, open_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("first"), chromium) as site:
        site.call_everything_off()
        yield site


def test_the_guide_leads_through_the_first_decision(site):
    interrupt = site.play(staged_interrupts.REFUND)[0]

    with site.open_as("admin") as page:
        guide = page.locator("#first-steps")
        expect(guide).to_contain_text("0 of 3")
        assert find_faults(page) == []
        page.set_viewport_size({"width": 1440, "height": 900})

        guide.get_by_role("link", name="Open a decided one").click()
        expect(guide).to_contain_text("1 of 3")

        guide.get_by_role("link", name="Open one that you may decide").click()
        is_open(page, interrupt["id"])
        page.get_by_role("button", name="Approve").click()
        expect(guide).to_contain_text("2 of 3")

        guide.get_by_role("link", name="Open the trail").click()
        expect(page.get_by_role("heading", name="Audit trail")).to_be_visible()
        page.goto(f"{site.url}/")
        expect(guide).to_contain_text("3 of 3")

        guide.get_by_role("button", name="Close the guide").click()
        expect(page.locator("#list")).to_be_visible()
        expect(guide).to_have_count(0)
