"""Push messages in Chromium: switched on by a click, delivered by DevTools, shown, and opened."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import PHONE, Site, open_site, wait_for
from tests.support.chromium import launch
from tests.support.notifications.push_server import Browser, PushServer, run_push_server

pytestmark = pytest.mark.browser

PAGE = "/account/notifications/"
#: In place of the push service of Chromium, which is on the internet.
_SUBSCRIBE = """
const stored = () => JSON.parse(localStorage.getItem("subscription"));
const withMethods = (body) => body && ({
  endpoint: body.endpoint,
  options: { applicationServerKey: Uint8Array.from(body.key).buffer },
  toJSON: () => ({ endpoint: body.endpoint, keys: body.keys, expirationTime: null }),
  unsubscribe: async () => (localStorage.removeItem("subscription"), true),
});
PushManager.prototype.subscribe = async (options) => {
  const key = Array.from(options.applicationServerKey);
  localStorage.setItem("subscription", JSON.stringify({ ...BODY, key }));
  return withMethods(stored());
};
PushManager.prototype.getSubscription = async () => withMethods(stored());
"""


@pytest.fixture(scope="module")
def site(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    hosts = {"SIGNOFF_PRIVATE_WEBHOOK_HOSTS": "127.0.0.1"}
    with (
        launch(chromium.browser_type, full=True) as full_chromium,
        open_site(tmp_path_factory.mktemp("push"), full_chromium, **hosts) as site,
    ):
        yield site


@pytest.fixture
def server() -> Iterator[PushServer]:
    with run_push_server() as state:
        yield state


class PushBrowser:
    """A page of Chromium, and the push service that knows the keys of its browser."""

    def __init__(self, page: Page, receiver: Browser, site: Site, server: PushServer) -> None:
        self.page, self.receiver, self._site, self._server = page, receiver, site, server
        page.context.grant_permissions(["notifications"])
        page.add_init_script(_SUBSCRIBE.replace("BODY", json.dumps(receiver.body)))

    def switch_on(self) -> None:
        self.page.goto(f"{self._site.url}{PAGE}")
        self.page.get_by_role("button", name="Switch on in this browser").click()
        expect(self.page.get_by_text("This browser gets push messages")).to_be_visible()

    @property
    def row(self) -> Locator:
        """The item of this browser in the list of the person's browsers."""
        mark = self.page.locator("[data-this-browser]:visible")
        return self.page.locator("#browsers > li").filter(has=mark)

    def next_message(self) -> str:
        """Wait for a message at the push service, and decrypt it as the browser does."""
        *_, body = wait_for(lambda: self._server.messages.pop(0) if self._server.messages else None)
        return self.receiver.decrypt(body).decode()

    def deliver(self, data: str) -> None:
        """Give a message to the service worker, as Chromium does after its push service."""
        session = self.page.context.new_cdp_session(self.page)
        registrations: list[Any] = []
        updated = "ServiceWorker.workerRegistrationUpdated"
        session.on(updated, lambda event: registrations.extend(event["registrations"]))
        session.send("ServiceWorker.enable")
        wait_for(lambda: registrations or self.page.wait_for_timeout(20))
        session.send(
            "ServiceWorker.deliverPushMessage",
            {
                "origin": self._site.url,
                "registrationId": registrations[0]["registrationId"],
                "data": data,
            },
        )

    def notifications(self) -> list[dict[str, Any]]:
        """The notifications that are shown, by the service worker's own account."""
        displayed: list[dict[str, Any]] = self.page.evaluate(
            """async () => {
              const registration = await navigator.serviceWorker.ready;
              const shown = await registration.getNotifications();
              return shown.map(({ title, body, tag, data }) => ({ title, body, tag, data }));
            }"""
        )
        return displayed

    def click_notification(self) -> list[str]:
        """Click the first notification, and return the URLs that the service worker opens."""
        (worker,) = self.page.context.service_workers
        opened: list[str] = worker.evaluate(
            """async () => {
              const opened = [];
              // Chromium opens a window for a click of a person only.
              self.clients.openWindow = async (url) => opened.push(url);
              const [notification] = await self.registration.getNotifications();
              let work;
              const event = new NotificationEvent("notificationclick", { notification });
              event.waitUntil = (promise) => (work = promise);
              self.dispatchEvent(event);
              await work;
              return opened;
            }"""
        )
        return opened


@pytest.fixture
def browser(site: Site, server: PushServer) -> Iterator[PushBrowser]:
    with site.browse(storage_state=site.state_of("marco")) as page:
        yield PushBrowser(page, server.browser(), site, server)


def test_a_request_is_shown_and_a_click_opens_it(site, browser):
    site.call_everything_off()
    browser.switch_on()
    page = browser.page
    page.get_by_role("radio", name="At once").last.check()
    page.locator("#push form").get_by_role("button", name="Save").click()
    expect(page.get_by_role("radio", name="At once").last).to_be_checked()
    (interrupt,) = site.play(staged_interrupts.MAIL)

    browser.deliver(browser.next_message())

    (notification,) = wait_for(browser.notifications)
    # It expires within minutes, and the message says so if that was announced before.
    assert notification["title"].endswith("billing waits for a decision")
    url = f"{site.url}/interrupts/{interrupt['id']}/"
    assert notification["data"] == {"url": url}
    assert browser.click_notification() == [url]
    assert browser.notifications() == []
    page.goto(url)
    expect(page.locator("#detail")).to_be_visible()
    site.decide(interrupt, status="cancelled")


def test_the_permission_is_asked_for_after_the_click_only(site, server):
    ask = """
      window.asked = 0;
      Notification.requestPermission = async () => (window.asked++, "denied");
    """
    with site.browse(storage_state=site.state_of("dana")) as page:
        page.add_init_script(ask)
        page.goto(f"{site.url}{PAGE}")
        button = page.get_by_role("button", name="Switch on in this browser")
        expect(button).to_be_visible()
        assert page.evaluate("window.asked") == 0

        button.focus()
        page.keyboard.press("Enter")

        page.wait_for_function("window.asked === 1")
        assert page.evaluate("navigator.serviceWorker.getRegistrations()") == []


def test_a_test_message_and_removing_the_browser(site, browser):
    browser.switch_on()
    page = browser.page
    browser.row.get_by_role("button", name="Send a test").click()
    message = json.loads(browser.next_message())
    assert message["title"] == "Test of notifications by Signoff"
    assert message["url"] == PAGE

    browser.row.get_by_role("button", name="Remove").click()

    expect(page.get_by_role("button", name="Switch on in this browser")).to_be_visible()
    expect(browser.row).to_have_count(0)
    assert page.evaluate("localStorage.getItem('subscription')") is None


def test_a_browser_that_has_unsubscribed_is_gone_from_the_page(site, browser, server):
    browser.switch_on()
    server.status = 410
    page = browser.page
    expect(browser.row).to_have_count(1)
    browser.row.get_by_role("button", name="Send a test").click()
    browser.next_message()

    def is_gone() -> bool:
        page.reload()
        return "The browser has unsubscribed." in page.inner_text("#push")

    wait_for(is_gone)
    expect(page.get_by_role("button", name="Switch on in this browser")).to_be_visible()
    expect(browser.row).to_have_count(0)


def test_a_refusal_of_the_server_is_shown(site, server):
    receiver = Browser("https://10.0.0.1/push")
    with site.browse(storage_state=site.state_of("marco")) as page:
        PushBrowser(page, receiver, site, server)
        page.goto(f"{site.url}{PAGE}")
        page.get_by_role("button", name="Switch on in this browser").click()

        expect(page.get_by_text("The URL points to a private network.")).to_be_visible()


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("delete window.PushManager;", "This browser has no push messages."),
        (
            """
            delete window.PushManager;
            Object.defineProperty(navigator, "userAgent", { get: () => "iPhone" });
            """,
            "add Signoff to the Home Screen first",
        ),
        (
            "Object.defineProperty(Notification, 'permission', { get: () => 'denied' });",
            "This browser blocks notifications of this site.",
        ),
        (
            "Object.defineProperty(window, 'isSecureContext', { get: () => false });",
            "Push messages need a site with https.",
        ),
    ],
)
def test_the_page_explains_what_is_missing(site, script, text):
    with site.browse(storage_state=site.state_of("marco"), **PHONE) as page:
        page.add_init_script(script)
        page.goto(f"{site.url}{PAGE}")

        expect(page.get_by_text(text)).to_be_visible()
        expect(page.get_by_role("button", name="Switch on in this browser")).to_be_hidden()


def test_without_javascript_the_page_says_that_push_needs_it(site):
    state = site.state_of("marco")
    with site.browse(storage_state=state, java_script_enabled=False) as page:
        page.goto(f"{site.url}{PAGE}")

        expect(page.get_by_text("Push messages need JavaScript")).to_be_visible()
        expect(page.get_by_role("button", name="Switch on in this browser")).to_be_hidden()
