"""The pages of webhooks: axe-core finds nothing, no width needs scrolling, and none is heavy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser.test_page_weight import MOST_BYTES, weigh
from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import Screens, find_faults
from tests.support.browser.site import Site, open_site
from tests.support.http.webhook_receiver import Receiver

pytestmark = pytest.mark.browser

SCREENS = Screens()
screen = SCREENS.add


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("webhooks")
    with open_site(data, chromium, SIGNOFF_PRIVATE_WEBHOOK_HOSTS="127.0.0.1") as site:
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    """The browser of an administrator."""
    with site.open_as("admin", reduced_motion="reduce") as page:
        yield page


@pytest.fixture(scope="module")
def refusing() -> Iterator[Receiver]:
    """A receiver that takes nothing."""
    receiver = Receiver()
    receiver.status, receiver.answer = 500, b"no " * 300
    yield receiver
    receiver.stop()


@pytest.fixture(scope="module")
def hook(site: Site, page: Page, refusing: Receiver) -> str:
    """The address of a webhook with a log of messages that were not taken."""
    address = _add(site, page, refusing.url)
    for number in range(3):
        page.goto(f"{site.url}{address}")
        page.click("text=Send a test")
        _wait_for_attempts(page, number + 1)
    return address


def _add(site: Site, page: Page, url: str) -> str:
    page.goto(f"{site.url}/webhooks/new/")
    page.fill("#f-url", url)
    page.fill("#f-description", "Tells the chat what waits.")
    page.click(".decide .btn-primary")
    expect(page.locator("#secret")).to_be_visible()
    row = page.locator('#rows [aria-current="true"] a')
    return row.get_attribute("href") or ""


def _wait_for_attempts(page: Page, count: int, *, tone: str = "warn") -> None:
    """Nothing rings a page when a message was sent: read it again."""
    for _ in range(100):
        if page.locator(f"#sent .tag-{tone}").count() == count:
            return
        page.wait_for_timeout(50)
        page.reload()
    raise AssertionError("no attempt was recorded")


@screen
def a_webhook_to_add(site, page, hook):
    page.goto(f"{site.url}/webhooks/new/")


@screen
def a_webhook_that_was_not_added(site, page, hook):
    page.goto(f"{site.url}/webhooks/new/")
    page.fill("#f-url", "http://hooks.example.com/")
    for box in page.locator("#f-events input").all():
        box.uncheck()
    page.click(".decide .btn-primary")
    expect(page.locator(".errsum")).to_be_visible()


@screen
def webhooks(site, page, hook):
    page.goto(f"{site.url}/webhooks/")


@screen
def a_webhook_that_fails(site, page, hook):
    page.goto(f"{site.url}{hook}")
    for summary in page.locator("#sent summary").all():
        summary.click()
    expect(page.locator("#sent pre").first).to_be_visible()


@screen
def a_webhook_to_change(site, page, hook):
    page.goto(f"{site.url}{hook}change/")
    page.click("summary")
    expect(page.locator("text=Remove the webhook")).to_be_visible()


@screen
def a_new_secret(site, page, hook):
    page.goto(f"{site.url}{hook}")
    page.click("text=New secret")
    expect(page.locator("#secret")).to_be_visible()


@screen
def a_webhook_that_was_switched_off(site, page, hook):
    page.goto(f"{site.url}{hook}change/")
    page.get_by_role("button", name="Disable").click()
    expect(page.locator(".banner-warn")).to_be_visible()
    assert find_faults(page) == []
    page.get_by_role("button", name="Enable").click()


@screen
def a_list_with_a_webhook_that_was_left_alone(site, page, hook):
    gone = Receiver()
    gone.status = 410
    address = _add(site, page, gone.url)
    page.goto(f"{site.url}{address}")
    page.click("text=Send a test")
    _wait_for_attempts(page, 1)
    assert find_faults(page) == []
    gone.stop()
    page.goto(f"{site.url}/")
    expect(page.locator("#trouble .banner-bad")).to_be_visible()


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, hook, name):
    page.set_viewport_size({"width": 1440, "height": 900})

    SCREENS[name](site, page, hook)

    assert find_faults(page) == []


def test_an_open_delivery_stays_open_below_new_ones(site, page):
    receiver = Receiver()
    page.goto(f"{site.url}{_add(site, page, receiver.url)}")
    page.click("text=Send a test")
    _wait_for_attempts(page, 1, tone="ok")  # a delivery with a retry to come would be replaced
    site.wait_until_live(page)
    opened = page.locator(f"#{page.locator('#sent > li').first.get_attribute('id')}")
    opened.locator("summary").click()
    row = opened.element_handle()

    site.ask("confirmation")
    site.ask("confirmation")

    expect(page.locator("#sent > li").first).to_contain_text("interrupt.opened")
    expect(opened.locator("pre").first).to_be_visible()
    expect(opened.locator("summary")).to_be_focused()
    assert row.evaluate("row => row.isConnected")
    receiver.stop()


@pytest.mark.parametrize("path", ["/", "/webhooks/", "/webhooks/new/", "{hook}", "{hook}change/"])
def test_a_page_weighs_at_most_60_kilobytes(site, hook, path):
    with site.browse(storage_state=site.state_of("admin")) as page:
        weights = weigh(page, f"{site.url}{path.format(hook=hook)}")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    assert sum(weights.values()) <= MOST_BYTES


def test_a_request_weighs_no_more_for_administrators(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.browse(storage_state=site.state_of("admin")) as page:
        weights = weigh(page, f"{site.url}/interrupts/{interrupt['id']}/")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    assert sum(weights.values()) <= MOST_BYTES
