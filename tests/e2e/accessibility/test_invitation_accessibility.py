"""Invitations in a browser: from the link to the team, without a fault, and not heavy."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser.test_page_weight import MOST_BYTES, weigh
from tests.support.browser.accessibility_checks import find_faults
from tests.support.browser.site import Site

pytestmark = pytest.mark.browser


def invite(site: Site, page: Page, email: str) -> str:
    """Invite somebody on the page, and return the link that is shown."""
    page.goto(f"{site.url}/teams/demo/")
    page.get_by_role("link", name="Invitations").click()
    page.fill("#f-email", email)
    page.get_by_role("button", name="Invite").click()
    expect(page.locator("#token")).to_be_visible()
    return page.inner_text("#token")


def test_somebody_is_invited_makes_an_account_and_is_in_the_team(site):
    with site.open_as("admin", reduced_motion="reduce") as page:
        link = invite(site, page, "a-rather-long-name-of-somebody@subdomain.example.com")
        assert find_faults(page) == []
    with site.browse(reduced_motion="reduce") as page:
        page.goto(link)
        assert find_faults(page) == []
        page.fill("#id_username", "n@ra")
        page.fill("#id_name", "Nora New")
        page.fill("#id_password", "12345")
        page.get_by_role("button", name="Create the account").click()
        expect(page.locator("#id_username-err")).to_be_visible()
        assert find_faults(page) == []

        page.fill("#id_username", "nora")
        page.fill("#id_password", "a long pass phrase")
        page.get_by_role("button", name="Create the account").click()
        expect(page.locator(".me-name")).to_have_text("Nora New")
        page.goto(f"{site.url}/teams/demo/")
        expect(page.locator("main table")).to_contain_text("Nora New")
    with site.browse(reduced_motion="reduce") as page:
        page.goto(link)
        expect(page.get_by_text("This invitation has already been used.")).to_be_visible()
        assert find_faults(page) == []


def test_whoever_is_in_the_team_is_told_so(site):
    with site.open_as("admin", reduced_motion="reduce") as page:
        page.goto(invite(site, page, "x@example.com"))
        page.get_by_role("button", name="Join as").click()
        expect(page.get_by_text("You are already a member of this team.")).to_be_visible()
        assert find_faults(page) == []


def test_the_pages_weigh_at_most_60_kilobytes(site):
    with site.open_as("admin") as page:
        link = invite(site, page, "y@example.com")
    for path, who in (
        (link, None),
        (f"{site.url}/teams/demo/invitations/", site.state_of("admin")),
    ):
        with site.browse(storage_state=who) as page:
            weights = weigh(page, path)
        print(f"\n{sum(weights.values())} bytes: {weights}")
        assert sum(weights.values()) <= MOST_BYTES
