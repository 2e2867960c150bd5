"""The pages of the audit trail in a browser: found in four clicks, readable by all, and light."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser.test_page_weight import MOST_BYTES, weigh
from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import Screens, find_faults
from tests.support.browser.site import Site, edit_value, wait_for

pytestmark = pytest.mark.browser

SCREENS = Screens()
screen = SCREENS.add
_COUNT_CLICKS = """addEventListener(
  "click", () => sessionStorage.clicks = 1 + +(sessionStorage.clicks || 0), true
)"""


@pytest.fixture(scope="module")
def call(site: Site) -> dict[str, str]:
    """The refund whose amount somebody has changed."""
    refund, *_ = site.play(staged_interrupts.REFUND)
    args = {**staged_interrupts.REFUND["args"], "amount": 99.5}
    site.decide(refund, {"approved": True, "editedArgs": args})
    mail, *_ = site.play(staged_interrupts.MAIL)
    site.decide(mail, {"approved": False, "reason": "Not today."})
    site.play(staged_interrupts.REFUND)
    path = f"/api/threads/{refund['thread']}/tool-calls"

    def settled() -> dict[str, str] | None:
        (call_row,) = site.call(path)["results"]
        return call_row if call_row["state"] == "settled" else None

    call_row: dict[str, str] = wait_for(settled)
    login, *_ = site.play(staged_interrupts.LOGIN)
    (masked,) = site.call(f"/api/threads/{login['thread']}/tool-calls")["results"]
    more = {"thread": refund["thread"], "asked": login["id"], "masked": masked["id"]}
    return {**call_row, **more}


@pytest.fixture(scope="module")
def page(site: Site, call: dict[str, str]) -> Iterator[Page]:
    with site.open_as("admin", reduced_motion="reduce") as page:
        yield page


@pytest.mark.parametrize("which", ["tool_call_id", "id"])
def test_who_changed_the_amount_is_found_in_four_clicks(site, call, which):
    with site.open_as("admin") as page:
        page.add_init_script(_COUNT_CLICKS)
        page.reload()
        page.click("#rail >> text=Audit")
        page.click("#search")
        page.keyboard.type(call[which])
        page.keyboard.press("Enter")

        amount = page.locator(".args tr", has_text="amount")
        expect(amount.locator("del")).to_contain_text("148")
        expect(amount.locator("ins").first).to_contain_text("99.5")
        expect(page.locator("#entries")).to_contain_text("approved with changes")
        expect(page.locator(".steps bdi")).not_to_be_empty()
        assert int(page.evaluate("sessionStorage.clicks")) <= 4


@screen
def the_trail(site, page, call):
    page.goto(f"{site.url}/audit/")


@screen
def a_search_with_its_filter_open(site, page, call):
    page.goto(f"{site.url}/audit/?decision=edited&since=nonsense")
    page.click(".narrow > summary")


@screen
def an_export_to_choose(site, page, call):
    page.goto(f"{site.url}/audit/?decision=edited")
    page.click("[popovertarget=export-menu]")


@screen
def a_search_that_finds_nothing(site, page, call):
    page.goto(f"{site.url}/audit/?q=there+is+nothing+like+it")


@screen
def the_metrics(site, page, call):
    page.goto(f"{site.url}/audit/metrics/?days=7")
    page.click("text=As a table >> nth=0")


@screen
def a_call(site, page, call):
    page.goto(f"{site.url}/audit/calls/{call['id']}/")
    page.click("#entries summary >> nth=0")


@screen
def a_history(site, page, call):
    page.goto(f"{site.url}/audit/threads/{call['thread']}/")


@screen
def a_call_with_a_secret_revealed(site, page, call):
    page.goto(f"{site.url}/audit/calls/{call['masked']}/")
    page.click("text=Reveal")
    expect(page.locator("#reveal-proposed pre")).to_contain_text("correct horse")


@screen
def a_request_with_a_secret_revealed(site, page, call):
    page.goto(f"{site.url}/interrupts/{call['asked']}/")
    page.click("text=Reveal")
    expect(page.locator("#reveal-arguments pre")).to_contain_text("correct horse")


def test_a_secret_is_revealed_beside_what_was_typed(site, page, call):
    page.goto(f"{site.url}/interrupts/{call['asked']}/")
    edit_value(page, "#f-args-user").fill("somebody")
    page.click("text=Reveal")

    expect(page.locator("#reveal-arguments pre")).to_contain_text("correct horse")
    expect(page.locator("#f-args-user")).to_have_value("somebody")
    page.reload()
    expect(page.locator("#detail")).not_to_contain_text("correct horse")


def wait_until_intact(site: Site, page: Page) -> None:
    def is_intact() -> bool:
        page.goto(f"{site.url}/audit/")
        return page.locator("#badge").inner_text().startswith("The audit trail is intact.")

    wait_for(is_intact, seconds=60)


def test_an_export_arrives_whole_and_is_in_the_history(site, call):
    with site.open_as("admin") as page:
        wait_until_intact(site, page)  # an export needs a signed checkpoint
        page.goto(f"{site.url}/audit/threads/{call['thread']}/")
        page.click("[popovertarget=export-menu]")
        with page.expect_download() as download:
            page.click("button[value=jsonl]")
        first, *_, last = download.value.path().read_text().splitlines()
        page.reload()

        assert json.loads(first)["scope"] == "part"
        assert "end" in json.loads(last)
        assert download.value.suggested_filename.startswith(f"signoff-audit-{call['thread']}-")
        expect(page.locator("#entries")).to_contain_text("You exported this")


STREAM = """fetch = async () => new Response(
    new ReadableStream({ start(controller) {
        window.send = (text) => controller.enqueue(new TextEncoder().encode(text));
        window.end = () => controller.close();
    } }),
    { headers: {
        "Signoff-Entries": "1200",
        "Content-Disposition": 'attachment; filename="trail.csv"',
    } },
)"""


def test_an_export_says_how_many_entries_have_come(site, call):
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/audit/threads/{call['thread']}/")
        page.evaluate(STREAM)
        page.click("[popovertarget=export-menu]")
        page.click("button[value=csv]")
        received = page.locator("[data-received]")
        expect(received).to_be_visible()

        page.evaluate("send('entry\\n'.repeat(1100))")

        expect(received).to_contain_text("1,100 of 1,200 entries")
        with page.expect_download() as download:
            page.evaluate("end()")
        assert download.value.suggested_filename == "trail.csv"
        assert download.value.path().read_text() == "entry\n" * 1100
        expect(received).to_be_hidden()


def test_an_export_that_is_refused_is_a_page(site, call):
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/audit/threads/{call['thread']}/")
        page.click("[popovertarget=export-menu]")
        page.locator("button[value=csv]").evaluate("button => { button.value = 'pdf' }")

        page.click("button[value=pdf]")

        expect(page.locator("main")).to_contain_text("Choose a format.")


def test_the_badge_says_what_was_found(site, call):
    with site.open_as("admin") as page:
        wait_until_intact(site, page)
        page.click("#badge summary")
        expect(page.locator("#badge")).to_contain_text("The audit trail is intact.")
        expect(page.locator("#badge")).to_contain_text("against the checkpoint of")


def test_a_verification_is_started_and_its_result_arrives_by_itself(site, call):
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/audit/")
        button = page.locator("#verify button")
        expect(button).to_have_text("Verify now")
        button.click()

        expect(page.locator("#badge .verifying")).to_contain_text("Verifying")
        expect(page.locator("#badge summary")).to_contain_text("entries checked at")
        expect(button).to_be_visible()


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, call, name):
    SCREENS[name](site, page, call)

    assert find_faults(page) == []


@pytest.mark.parametrize(
    "path",
    [
        *("/audit/", "/audit/metrics/?days=90", "/audit/calls/{id}/", "/audit/threads/{thread}/"),
    ],
)
def test_a_page_weighs_no_more_than_others(site, call, path):
    with site.browse(storage_state=site.state_of("admin")) as page:
        weights = weigh(page, site.url + path.format(**call))

    assert sum(weights.values()) <= MOST_BYTES
