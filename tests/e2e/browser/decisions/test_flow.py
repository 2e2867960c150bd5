"""From one request to the next without a page load: what opens, is read, and has the focus."""

import re
import statistics
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Error, Page, Request, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import (
    Site,
    hold_requests,
    is_open,
    wait_for,
    wait_for_requests,
)

pytestmark = pytest.mark.browser

#: Measures from the key that decides to the frame that shows the next request.
_MEASURE = """() => {
  window.shownAfter = null;
  const detail = document.querySelector("#detail");
  let pressedAt;
  const note = ({ key }) => { if (key === "Enter") pressedAt = performance.now(); };
  addEventListener("keydown", note, { capture: true });
  new MutationObserver((_, observer) => {
    if (detail.isConnected) return;
    observer.disconnect();
    removeEventListener("keydown", note, { capture: true });
    requestAnimationFrame(() => { window.shownAfter = performance.now() - pressedAt; });
  }).observe(document.querySelector("#main"), { childList: true, subtree: true });
}"""

_HAS_READ = """address => performance.getEntriesByType("resource").some(
  ({ name, initiatorType }) => initiatorType === "fetch" && name.endsWith(address))"""


@pytest.fixture
def ids(site: Site) -> list[str]:
    """The ids of three requests that wait, in the order of the list; nothing else waits."""
    site.call_everything_off()
    plays = (staged_interrupts.MAIL, staged_interrupts.REFUND, staged_interrupts.FIXED)
    return [
        site.play(play | {"minutes": 60 + number})[0]["id"] for number, play in enumerate(plays)
    ]


class Requests:
    """The requests that a page sends from now on."""

    def __init__(self, page: Page) -> None:
        self._sent: list[Request] = []

        def note(request: Request) -> None:
            self._sent.append(request)

        page.on("request", note)

    def of(self, method: str, *, type_: str = "") -> list[str]:
        return [
            request.url
            for request in self._sent
            if request.method == method and type_ in ("", request.resource_type)
        ]


def is_current(page: Page, interrupt_id: str) -> None:
    """Wait until a request is on screen, in the address, and current in the list."""
    is_open(page, interrupt_id)
    page.wait_for_url(f"**/interrupts/{interrupt_id}/**")
    expect(page.locator("#rows .row[aria-current]")).to_have_id(f"row-{interrupt_id}")


@contextmanager
def going_back(page: Page, ids: list[str]) -> Iterator[None]:
    """Go back from the second request; go forward again before the first one is shown."""
    is_current(page, ids[0])
    page.keyboard.press("j")
    is_current(page, ids[1])
    held = hold_requests(page, f"**/interrupts/{ids[0]}/")
    page.evaluate("history.back()")
    wait_for_requests(page, lambda: held)
    yield
    page.evaluate("history.forward()")
    page.wait_for_url(f"**/interrupts/{ids[1]}/")
    with suppress(Error):  # the page has given it up
        held.pop(0).continue_()
    page.unroute_all(behavior="ignoreErrors")


def wait_until_prefetched(page: Page, interrupt_id: str) -> None:
    wait_for(lambda: page.evaluate(_HAS_READ, f"/{interrupt_id}/"))


def test_the_first_request_opens_by_itself(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_an_empty_list_stays_as_it_is(site):
    site.call_everything_off()
    with site.open_as("marco") as page:
        expect(page.locator("#rows-empty h2")).to_be_visible()
        assert page.url == f"{site.url}/"


def test_j_and_k_open_requests_without_a_page_load(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        requests = Requests(page)

        page.keyboard.press("j")
        is_current(page, ids[1])
        expect(page.locator("#detail-title")).to_be_focused()
        page.keyboard.press("j")
        is_current(page, ids[2])
        page.keyboard.press("k")
        is_current(page, ids[1])

        assert requests.of("GET", type_="document") == []
        assert page.locator("#detail .detail-scroll").evaluate("pane => pane.scrollTop") == 0


def test_back_and_forward_show_the_requests_again(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        page.keyboard.press("j")
        is_current(page, ids[1])

        page.go_back()
        is_current(page, ids[0])
        page.go_forward()

        is_current(page, ids[1])


def test_back_opens_the_request_before_also_after_a_reload(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        page.keyboard.press("j")
        is_current(page, ids[1])
        page.reload()
        site.wait_until_live(page)

        page.go_back()

        is_current(page, ids[0])
        expect(page).to_have_url(re.compile(ids[0]))


def test_after_a_decision_the_next_one_is_there_at_once(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        wait_until_prefetched(page, ids[1])
        requests = Requests(page)
        reads: list[str] = []
        page.evaluate("window.isSamePage = true")
        # The next request is shown although the server answers nothing else any more.
        page.route(f"**/interrupts/{ids[1]}/", lambda route: reads.append(route.request.url))

        page.keyboard.press("a")
        page.keyboard.press("Enter")

        is_current(page, ids[1])
        expect(page.locator("#detail-title")).to_be_focused()
        expect(page.locator("#toast")).to_contain_text("Approved")
        assert page.evaluate("window.isSamePage")
        assert [url for url in requests.of("POST") if url.endswith("/decide")] == [
            f"{site.url}/interrupts/{ids[0]}/decide"
        ]
        page.unroute_all(behavior="ignoreErrors")


def test_a_prefetched_request_is_neither_viewed_nor_claimed(site, ids):
    with site.open_as("marco") as page:
        requests = Requests(page)
        is_current(page, ids[0])
        wait_until_prefetched(page, ids[1])

        def viewed() -> list[str]:
            return [url for url in requests.of("POST") if "/viewed" in url]

        assert set(viewed()) <= {f"{site.url}/interrupts/{ids[0]}/viewed"}
        expect(page.locator(f"#row-{ids[1]}")).not_to_contain_text("Claimed")


def test_a_prefetched_request_that_changed_is_read_again(site, ids):
    with site.open_as("marco") as page, site.open_as("priya") as priya:
        is_current(page, ids[0])
        wait_until_prefetched(page, ids[1])
        site.open(priya, {"id": ids[1]})
        priya.keyboard.press("c")
        expect(page.locator(f"#row-{ids[1]}")).to_contain_text("Claimed by Priya")

        page.keyboard.press("j")

        is_current(page, ids[1])
        expect(page.locator("#bar")).to_contain_text("is reviewing this")


def test_a_page_that_is_up_to_date_is_not_read_again(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        wait_until_prefetched(page, ids[1])
        requests = Requests(page)

        site.open(page, {"id": ids[1]})
        wait_until_prefetched(page, ids[2])

        pages = [url for url in requests.of("GET") if url.endswith(f"/interrupts/{ids[1]}/")]
        assert len(pages) == 1


def test_back_and_forward_before_the_other_request_is_shown_keep_this_one(site, ids):
    with site.open_as("marco") as page:
        with going_back(page, ids):
            pass
        page.keyboard.press("j")

        is_current(page, ids[2])
        page.keyboard.press("k")
        is_current(page, ids[1])


def test_a_key_for_a_request_that_is_not_opened_does_nothing(site, ids):
    with site.open_as("marco") as page:
        requests = Requests(page)

        def claims() -> list[str]:
            return [url for url in requests.of("POST") if "/claim" in url]

        with going_back(page, ids):
            page.keyboard.press("c")
        page.keyboard.press("j")

        is_current(page, ids[2])
        assert claims() == []
        page.keyboard.press("c")
        wait_for_requests(page, claims)
        assert f"/{ids[2]}/" in claims()[0]


def test_keys_wait_for_the_request_that_is_being_opened(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        held = hold_requests(page, f"**/interrupts/{ids[2]}/")

        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        wait_for_requests(page, lambda: held)

        assert site.call(f"/api/interrupts/{ids[0]}")["decision"] is None
        assert site.call(f"/api/interrupts/{ids[1]}")["decision"] is None
        held.pop(0).continue_()
        is_current(page, ids[2])
        expect(page.locator("button[value=approve]")).to_be_focused()
        page.unroute_all(behavior="ignoreErrors")


def test_a_late_key_decides_nothing_before_the_next_request_opens(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        held = hold_requests(page, f"**/interrupts/{ids[1]}/")
        page.reload()
        is_current(page, ids[0])
        requests = Requests(page)

        # A refresh would take the buttons away before the late key.
        hold_requests(page, f"**/interrupts/{ids[0]}/")
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        expect(page.locator("#detail[inert]")).to_have_count(1)
        page.locator("button[value=reject]").evaluate("button => button.click()")

        def is_next_shown():
            while held:  # read ahead, and once more if that may be out of date
                held.pop().continue_()
            return page.locator(f"#decision[action*='{ids[1]}']").count()

        wait_for(is_next_shown)
        assert [url for url in requests.of("POST") if url.endswith("/decide")] == [
            f"{site.url}/interrupts/{ids[0]}/decide"
        ]
        page.unroute_all(behavior="ignoreErrors")


def test_leaving_a_request_while_it_is_claimed_shows_the_claim(site, ids):
    with site.open_as("marco") as page:
        is_current(page, ids[0])
        held = hold_requests(page, f"**/{ids[0]}/claim*")
        page.keyboard.press("c")
        wait_for_requests(page, lambda: held)
        page.keyboard.press("j")
        is_current(page, ids[1])
        page.keyboard.press("k")
        is_current(page, ids[0])
        held.pop(0).continue_()

        expect(page.locator(f"#row-{ids[0]}")).to_contain_text("Claimed by you")
        expect(page.locator("#release-form")).to_have_count(1)
        page.unroute_all(behavior="ignoreErrors")


def test_more_rows_load_at_the_end_of_the_list(site):
    site.call_everything_off()
    for _ in range(53):  # the requests of one run would be one row
        site.play(staged_interrupts.FIXED)
    with site.open_as("marco") as page:
        expect(page.locator("#rows > .row")).to_have_count(50)
        last = page.locator("#rows > .row").nth(49).locator(".row-title")
        last.click()
        expect(page.locator("#rows > .row").nth(49)).to_have_attribute("aria-current", "true")

        page.keyboard.press("j")

        expect(page.locator("#rows > .row")).to_have_count(53)
        expect(page.locator("#rows > .row").nth(50)).to_have_attribute("aria-current", "true")


def test_time_from_a_decision_to_the_next_request(site):
    """Reports the time; a slow machine is no failure."""
    site.call_everything_off()
    for number in range(12):
        site.play(staged_interrupts.MAIL | {"minutes": 60 + number})
    times = []
    with site.open_as("marco") as page:
        requests = Requests(page)
        for _ in range(11):
            expect(page.locator("#rows .row[aria-current] + .row")).to_be_visible()
            title = page.locator("#rows .row[aria-current] + .row")
            next_id = str(title.get_attribute("id")).removeprefix("row-")
            wait_until_prefetched(page, next_id)
            page.wait_for_load_state("networkidle")
            page.evaluate(_MEASURE)
            page.keyboard.press("a")
            page.keyboard.press("Enter")
            is_current(page, next_id)
            wait_for(lambda: page.evaluate("window.shownAfter") is not None)
            times.append(page.evaluate("window.shownAfter"))

        assert len([url for url in requests.of("POST") if url.endswith("/decide")]) == 11
        assert requests.of("GET", type_="document") == []
    print(f"\nfrom decision to next request: p50 {statistics.median(times):.0f} ms of {times}")
