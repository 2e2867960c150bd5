"""Signing in and accounts: axe-core finds nothing, none scrolls aside, none is heavy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Page, expect

from tests.e2e.browser.test_account import (
    code_of,
    confirm_password,
    keep_passkeys,
    sign_in,
)
from tests.e2e.browser.test_page_weight import MOST_BYTES, weigh
from tests.support.browser.accessibility_checks import Screens, find_faults
from tests.support.browser.site import Site, open_site
from tests.support.notifications.push_server import Browser

pytestmark = pytest.mark.browser

SCREENS = Screens()
ADD_BROWSER = """
async (body) => {
  const [, token] = document.cookie.match(/csrftoken=([^;]+)/);
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
  await fetch("/api/me/channels", { method: "POST", headers, body: JSON.stringify(body) });
}
"""
screen = SCREENS.add


@pytest.fixture(scope="module")
def site(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("accounts"), chromium) as site:
        site.url = site.url.replace("127.0.0.1", "localhost")
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    """The browser of somebody with a passkey, an authenticator app and an e-mail address."""
    with site.browse(reduced_motion="reduce") as page:
        keep_passkeys(page)
        sign_in(site, page, "dana")
        page.goto(f"{site.url}/account/passkeys/add/")
        confirm_password(site, page, "dana")
        page.get_by_role("button", name="Add").click()
        page.get_by_role("link", name="Back to your account").click()
        page.goto(f"{site.url}/account/email/")
        page.fill("#id_email", "dana@example.com")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("Not confirmed")).to_be_visible()
        yield page


@pytest.fixture(scope="module")
def app(site: Site, page: Page) -> str:
    """The seed of the authenticator app, which is looked at before it is added."""
    page.goto(f"{site.url}/account/app/")
    assert find_faults(page) == []
    seed = page.inner_text("#totp-secret")
    page.fill("#id_code", code_of(seed))
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("The authenticator app was added.").first).to_be_visible()
    return seed


@screen
def an_account(site, page):
    page.goto(f"{site.url}/account/")


@screen
def an_account_that_was_not_renamed(site, page):
    page.goto(f"{site.url}/account/")
    page.fill("#f-name", " ")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#f-name-err")).to_be_visible()


@screen
def addresses(site, page):
    page.goto(f"{site.url}/account/email/")


@screen
def notifications(site, page):
    page.goto(f"{site.url}/account/notifications/")


@screen
def notifications_without_an_address(site, page):
    notifications(site, page)
    page.get_by_role("button", name="Send a test mail").click()
    expect(page.get_by_text("Confirm an e-mail address first.")).to_be_visible()


@screen
def a_chat_link_that_was_used(site, page):
    page.goto(f"{site.url}/account/chats/link/used/")
    expect(page.get_by_text("This link was used or has expired.")).to_be_visible()


def push_messages_in_a_browser(site, page):
    notifications(site, page)
    page.evaluate(ADD_BROWSER, Browser("https://push.example.com/x").body)
    page.reload()
    expect(page.get_by_text("over push.example.com")).to_be_visible()


@screen
def a_choice_of_push_messages_that_was_refused(site, page):
    push_messages_in_a_browser(site, page)
    page.fill("#f-push-minutes", "0")
    page.locator("#push form").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Enter a number from 1 to 1440.")).to_be_visible()


@screen
def a_password_that_was_not_changed(site, page):
    page.goto(f"{site.url}/account/password/")
    for name in ("oldpassword", "password1", "password2"):
        page.fill(f"#id_{name}", "12345")
    page.get_by_role("button", name="Change the password").click()
    expect(page.locator("#id_password1-err")).to_be_visible()


@screen
def a_passkey_to_add(site, page):
    page.goto(f"{site.url}/account/passkeys/add/")


@screen
def a_passkey(site, page):
    page.goto(f"{site.url}/account/")
    page.locator("#passkeys a").first.click()


@screen
def a_passkey_to_remove(site, page):
    a_passkey(site, page)
    page.get_by_role("link", name="Remove").click()


@screen
def recovery_codes(site, page):
    page.goto(f"{site.url}/account/codes/")


@screen
def new_recovery_codes(site, page):
    page.goto(f"{site.url}/account/codes/new/")


@screen
def an_authenticator_app_to_remove(site, page):
    page.goto(f"{site.url}/account/app/remove/")


@screen
def a_proof_by_password(site, page):
    page.goto(f"{site.url}/account/confirm/")


@screen
def a_proof_by_code(site, page):
    page.goto(f"{site.url}/account/confirm/code/")


@screen
def a_proof_by_passkey(site, page):
    page.goto(f"{site.url}/account/confirm/passkey/")


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, app, name):
    page.set_viewport_size({"width": 1440, "height": 900})

    SCREENS[name](site, page)

    assert find_faults(page) == []


@pytest.mark.parametrize(
    "path",
    ["/login/", "/password/", "/password/sent/", "/password/changed/", "/password/1-x/"],
)
def test_a_page_of_signing_in_has_no_fault(site, path):
    with site.browse(reduced_motion="reduce") as page:
        page.goto(f"{site.url}{path}")

        assert find_faults(page) == []


def test_the_page_of_a_second_factor_has_no_fault(site, app):
    with site.browse(reduced_motion="reduce") as page:
        sign_in(site, page, "dana")
        page.fill("#id_code", "000000")
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.locator("#id_code-err")).to_be_visible()

        assert find_faults(page) == []


@pytest.mark.parametrize("path", ["/account/", "/account/email/", "/account/passkeys/add/"])
def test_a_page_weighs_at_most_60_kilobytes(site, page, app, path):
    weights = weigh(page, f"{site.url}{path}")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    assert sum(weights.values()) <= MOST_BYTES
