"""The number of keys for each task of a reviewer; none may grow."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, is_open, open_site
from tests.support.browser.staged import GRACE

pytestmark = pytest.mark.browser

_CHOICE = {
    "message": "The parcel is late. What should I do?",
    "schema": {"type": "string", "enum": ["Refund it", "Wait a day", "Send it again"]},
}


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("tasks"), chromium, **{GRACE: "10"}) as site:
        yield site


class Keys:
    """A keyboard that counts: a typed text counts by itself."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.count = 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.count += 1
            self._page.keyboard.press(key)

    def type(self, text: str) -> None:
        self._page.keyboard.type(text)


def open_one(site: Site, page: Page, *plays: dict[str, object]) -> tuple[list[str], Keys]:
    """Return the ids of requests, of which the first is open, and a keyboard."""
    site.call_everything_off()
    ids = [site.play(play | {"minutes": 60 + number})[0]["id"] for number, play in enumerate(plays)]
    page.goto(f"{site.url}/")
    site.wait_until_live(page)
    is_open(page, ids[0])
    expect(page.locator("#detail")).not_to_have_attribute("aria-busy", "true")
    return ids, Keys(page)


def payload(site: Site, interrupt_id: str) -> object:
    decision = site.call(f"/api/interrupts/{interrupt_id}")["decision"]
    return decision and decision["payload"]


def wait_until_decided(page: Page) -> None:
    expect(page.locator("#toast strong")).to_be_visible()


def test_approving_takes_two_keys_and_the_next_opens(site: Site) -> None:
    with site.open_as("marco") as page:
        (first, second), keys = open_one(
            site, page, staged_interrupts.REFUND, staged_interrupts.MAIL
        )

        keys.press("a", "Enter")

        is_open(page, second)
        assert (keys.count, payload(site, first)) == (2, {"approved": True})


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False)])
def test_a_confirmation_takes_two_keys(site: Site, key: str, answer: bool) -> None:
    with site.open_as("marco") as page:
        (only,), keys = open_one(site, page, staged_interrupts.YES_NO)

        keys.press(key, "Enter")

        wait_until_decided(page)
        assert (keys.count, payload(site, only)) == (2, answer)


def test_editing_an_amount_takes_three_keys_and_the_digits(site: Site) -> None:
    with site.open_as("marco") as page:
        (only,), keys = open_one(site, page, staged_interrupts.REFUND)

        keys.press("e")
        keys.type("31")
        keys.press("Control+Enter", "Enter")

        wait_until_decided(page)
        edited = payload(site, only)["editedArgs"]  # type: ignore[index]
        assert (keys.count, edited["amount"]) == (3, 31)


def test_rejecting_with_a_note_takes_two_keys_and_the_text(site: Site) -> None:
    with site.open_as("marco") as page:
        (only,), keys = open_one(site, page, staged_interrupts.REFUND)

        keys.press("r")
        keys.type("Ask Ana")
        keys.press("Enter")

        wait_until_decided(page)
        assert (keys.count, payload(site, only)) == (2, {"approved": False, "reason": "Ask Ana"})


def test_rejecting_for_a_reason_of_the_team_takes_four_keys(site: Site) -> None:
    with site.open_as("marco") as page:
        (only,), keys = open_one(site, page, staged_interrupts.REFUND)

        keys.press("r", "Tab", "Enter")
        expect(page.locator("#f-reason")).to_have_value("Wrong amount")
        expect(page.locator("#f-reason")).to_be_focused()
        keys.press("Enter")

        wait_until_decided(page)
        assert payload(site, only) == {"approved": False, "reason": "Wrong amount"}
        assert keys.count == 4


def test_three_requests_in_bulk_take_five_keys(site: Site) -> None:
    with site.open_as("marco") as page:
        ids, keys = open_one(
            site,
            page,
            staged_interrupts.REFUND,
            staged_interrupts.REFUND,
            staged_interrupts.REFUND,
            staged_interrupts.MAIL,
        )

        keys.press("Shift+J", "Shift+J", "v")
        page.wait_for_url("**/review/selected")
        expect(page.locator(".tick:checked")).to_have_count(3)
        keys.press("a", "Enter")

        expect(page.locator("#results")).to_be_visible()
        decided = [payload(site, interrupt) for interrupt in ids]
        assert (keys.count, decided) == (5, [{"approved": True}] * 3 + [None])


def test_an_option_takes_two_keys(site: Site) -> None:
    with site.open_as("marco") as page:
        (only,), keys = open_one(site, page, _CHOICE)

        keys.press("2")
        expect(page.locator("[data-option='2']")).to_be_focused()
        keys.press("Enter")

        wait_until_decided(page)
        assert (keys.count, payload(site, only)) == (2, "Wait a day")


def test_opening_the_next_request_takes_one_key(site: Site) -> None:
    with site.open_as("marco") as page:
        (_, second), keys = open_one(site, page, staged_interrupts.REFUND, staged_interrupts.MAIL)

        keys.press("j")

        is_open(page, second)
        assert keys.count == 1


def test_undo_takes_one_key(site: Site) -> None:
    with site.open_as("marco") as page:
        (first, second), keys = open_one(
            site, page, staged_interrupts.REFUND, staged_interrupts.MAIL
        )
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        is_open(page, second)

        keys.press("u")

        is_open(page, first)
        assert (keys.count, payload(site, first)) == (1, None)


def test_fifty_similar_requests_take_three_clicks(site: Site) -> None:
    with site.open_as("marco") as page:
        site.call_everything_off()
        site.ask("parallel:51")
        page.goto(f"{site.url}/")
        expect(page.locator("#detail-title")).to_be_visible()
        clicks = 0
        for target in (
            page.locator("#detail .meta a[href*=similar], #detail a[href*='/similar/']").first,
            page.locator("a[href*='tick=all']"),
            page.locator("button[value=approve]"),
        ):
            target.click()
            clicks += 1

        expect(page.locator("#review-title")).to_contain_text("50 of 50")
        assert clicks == 3
