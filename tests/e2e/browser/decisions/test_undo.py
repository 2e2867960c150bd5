"""Some seconds to undo what was decided on a page, by the toast and by `u`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, is_open, open_site, wait_for
from tests.support.browser.staged import GRACE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("undo"), chromium, **{GRACE: "6"}) as site:
        yield site


def ask(site: Site, count: int = 3) -> list[str]:
    site.call_everything_off()
    plays = (staged_interrupts.MAIL, staged_interrupts.REFUND, staged_interrupts.FIXED)
    return [
        site.play(play | {"minutes": 60 + number})[0]["id"]
        for number, play in enumerate(plays[:count])
    ]


def approve(page: Page, interrupt_id: str) -> None:
    is_open(page, interrupt_id)
    page.keyboard.press("a")
    page.keyboard.press("Enter")


def decision(site: Site, interrupt_id: str) -> object:
    return site.call(f"/api/interrupts/{interrupt_id}")["decision"]


def test_the_toast_counts_down_and_its_button_undoes(site: Site) -> None:
    first, second, _ = ask(site)
    with site.open_as("marco") as page:
        approve(page, first)
        is_open(page, second)
        expect(page.locator("#toast .toast-left")).to_contain_text("s")

        page.click("#toast form button")

        is_open(page, first)
        expect(page.locator("button[value=approve]")).to_be_enabled()
        expect(page.locator("#detail-title")).to_be_focused()
        assert decision(site, first) is None


@pytest.mark.parametrize("by_key", [True, False])
def test_a_cancellation_on_the_page_is_undone(site: Site, by_key: bool) -> None:
    first, second, _ = ask(site)
    with site.open_as("marco") as page:
        page.goto(f"{site.url}/interrupts/{first}/")
        site.wait_until_live(page)
        page.click("#cancel > button")
        page.get_by_role("button", name="Cancel this request").click()
        is_open(page, second)
        cancelled = site.call(f"/api/interrupts/{first}")["decision"]
        expect(page.locator("#toast .toast-left")).to_contain_text("s")

        if by_key:
            page.keyboard.press("u")
        else:
            page.click("#toast form button")

        is_open(page, first)
        expect(page.locator("#cancel > button")).to_be_enabled()
        assert cancelled["status"] == "cancelled"
        assert decision(site, first) is None


def test_u_undoes_several_decisions_the_newest_first(site: Site) -> None:
    first, second, third = ask(site)
    with site.open_as("marco") as page:
        approve(page, first)
        approve(page, second)
        is_open(page, third)

        page.keyboard.press("u")
        is_open(page, second)
        assert decision(site, first) is not None
        expect(page.locator("#toast")).to_contain_text(staged_interrupts.MAIL["message"])
        page.keyboard.press("u")

        is_open(page, first)
        assert decision(site, first) is decision(site, second) is None


def test_u_undoes_on_other_pages_too(site: Site) -> None:
    first, second, _ = ask(site)
    with site.open_as("marco") as page:
        approve(page, first)
        is_open(page, second)
        page.goto(f"{site.url}/audit/")
        expect(page.locator("#toast .toast-left")).to_contain_text("s")

        page.keyboard.press("u")

        page.wait_for_url(f"**/interrupts/{first}/**")
        expect(page.locator("button[value=approve]")).to_be_enabled()


def test_after_its_time_an_undo_says_that_it_is_too_late(site: Site) -> None:
    first, second, _ = ask(site)
    with site.open_as("marco") as page:
        approve(page, first)
        is_open(page, second)
        expect(page.locator("#toast form")).to_have_count(0)

        page.keyboard.press("u")

        expect(page.locator("#toast")).to_contain_text("Too late to undo")
        is_open(page, second)


def test_a_bulk_decision_is_undone_by_u_from_the_list(site: Site) -> None:
    ids = ask(site)
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        page.goto(f"{site.url}/review/?" + "&".join(f"id={key}" for key in ids[:2]))
        for box in page.locator("input[name=item]").all():
            box.check()
        page.click("button[value=reject]")
        expect(page.locator("#results")).to_have_attribute("data-undo", "/review/withdraw")
        page.goto(f"{site.url}/")
        is_open(page, ids[2])

        page.keyboard.press("u")

        expect(page.locator("#review-title")).to_contain_text("2 of 2")
        assert decision(site, ids[0]) is decision(site, ids[1]) is None


def test_an_undone_decision_resumes_nothing_and_the_next_one_once(site: Site) -> None:
    (first,) = ask(site, 1)
    with site.open_as("marco") as page:
        approve(page, first)
        page.wait_for_url("**done=**")
        page.keyboard.press("u")
        page.wait_for_url(f"**/interrupts/{first}/**")
        approve(page, first)
        page.wait_for_url("**done=**")

        run = site.call(f"/api/interrupts/{first}")["run"]
        wait_for(lambda: _resumes(site, run))
        assert len(_resumes(site, run)) == 1


def _resumes(site: Site, run: str) -> list[str]:
    return [row["id"] for row in site.call("/api/runs")["results"] if row["resumes"] == run]


def test_a_note_to_reject_waits_again_after_an_undo(site: Site) -> None:
    (interrupt_id,) = ask(site, 1)
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        is_open(priya, interrupt_id)
        priya.keyboard.press("r")
        priya.fill("#f-reason", "Not the right day")
        approve(marco, interrupt_id)
        expect(priya.locator("#bar")).to_have_attribute("data-mode", "closed")
        expect(priya.locator("#f-reason")).not_to_be_editable()
        expect(priya.locator("#f-reason")).to_have_value("Not the right day")

        marco.wait_for_url("**done=**")
        marco.keyboard.press("u")

        expect(priya.locator("#bar")).to_have_attribute("data-mode", "open")
        expect(priya.locator("#f-reason")).to_have_value("")
        priya.locator("#f-reason").blur()
        priya.keyboard.press("r")
        expect(priya.locator("#f-reason")).to_have_value("Not the right day")
