"""One's own account in a browser: passwords, codes, passkeys, and where one is signed in."""

import base64
import hashlib
import hmac
import re
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser.site import Site, hold_requests, open_site, wait_for, wait_for_requests

pytestmark = pytest.mark.browser

#: Reads something of the page again, as a wake-up does.
READ_AGAIN = "htmx.ajax('GET', '/', {target: 'body', swap: 'none'})"
NO_CONNECTION = "document.dispatchEvent(new CustomEvent('htmx:sendError', {detail: {}}))"
END_SESSION = "document.querySelector('#main').dataset.ends = Date.now() / 1000 - 1"


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("account"), chromium) as site:
        # Browsers keep passkeys for names only, and this one without TLS.
        site.url = site.url.replace("127.0.0.1", "localhost")
        yield site


def code_of(secret: str, *, steps_ahead: int = 0) -> str:
    """The code of an authenticator app (RFC 6238)."""
    counter = int(time.time()) // 30 + steps_ahead
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", counter), hashlib.sha1).digest()
    place = digest[-1] & 0xF
    number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def sign_in(site: Site, page: Page, username: str) -> None:
    page.goto(f"{site.url}/login/")
    site.sign_in(page, username)


def confirm_password(site: Site, page: Page, username: str) -> None:
    """Prove who it is, before the account is changed."""
    page.fill("#id_password", site.password(username))
    page.get_by_role("button", name="Continue", exact=True).click()


def keep_passkeys(page: Page) -> Any:
    """Give the browser a virtual authenticator, as a phone or a laptop is one."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session


def test_an_authenticator_app_is_asked_for_beside_the_password(site):
    with site.browse() as page:
        sign_in(site, page, "dana")
        page.click(".me")
        page.get_by_role("link", name="Your account").click()
        page.get_by_role("link", name="Add an authenticator app").click()
        confirm_password(site, page, "dana")
        secret = page.inner_text("#totp-secret")
        page.fill("#id_code", code_of(secret))
        page.get_by_role("button", name="Add").click()
        codes = page.inner_text("#codes").split()
        assert len(codes) == 10

        page.goto(f"{site.url}/account/")
        page.click(".me")
        page.get_by_role("button", name="Sign out").click()
        sign_in(site, page, "dana")
        expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
        page.goto(f"{site.url}/account/")  # a password alone opens nothing
        expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
        page.fill("#id_code", "000000")
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_text("That code is wrong")).to_be_visible()
        page.fill("#id_code", code_of(secret, steps_ahead=1))
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.locator("#live")).to_be_attached()

        page.goto(f"{site.url}/account/")
        page.click(".me")
        page.get_by_role("button", name="Sign out").click()
        sign_in(site, page, "dana")
        page.fill("#id_code", codes[0])
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.goto(f"{site.url}/account/")
        expect(page.get_by_text("9 are left")).to_be_visible()


def test_a_passkey_signs_in_without_a_password(site):
    with site.browse() as page:
        keep_passkeys(page)
        sign_in(site, page, "priya")
        page.goto(f"{site.url}/account/passkeys/add/")
        confirm_password(site, page, "priya")
        page.fill("#id_name", "My laptop")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        page.goto(f"{site.url}/account/")
        expect(page.get_by_role("link", name="My laptop")).to_be_visible()

        page.click(".me")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.locator(".me-name")).to_have_text("Priya Shah")
        page.goto(f"{site.url}/account/")
        expect(page.get_by_text("Used").first).to_be_visible()

        page.click(".me")
        page.get_by_role("button", name="Sign out").click()
        sign_in(site, page, "priya")
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.locator(".me-name")).to_have_text("Priya Shah")

        page.goto(f"{site.url}/account/")
        page.get_by_role("link", name="My laptop").click()
        page.get_by_role("link", name="Use a passkey").click()
        page.get_by_role("button", name="Use a passkey").click()
        page.get_by_role("link", name="Remove").click()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_text("The passkey was removed.").first).to_be_visible()
        expect(page.get_by_role("link", name="My laptop")).to_have_count(0)


def test_ending_a_session_closes_its_pages(site):
    with site.browse() as laptop, site.browse(user_agent="Mozilla (iPhone) Safari") as phone:
        for page in (laptop, phone):
            sign_in(site, page, "marco")
            site.wait_until_live(page)

        laptop.goto(f"{site.url}/account/")
        expect(laptop.get_by_text("Safari on iPhone")).to_be_visible()
        laptop.get_by_role("button", name="End all other sessions").click()
        expect(laptop.get_by_text("Safari on iPhone")).to_have_count(0)

        expect_hidden_page(phone)
        with phone.context.expect_page() as tab:
            phone.get_by_role("link", name="Sign in").click()
        expect(tab.value.locator("#id_username")).to_be_visible()
        laptop.reload()
        expect(laptop.locator(".me-name")).to_have_text("Marco Ruiz")


def test_a_signed_out_page_waits_for_a_sign_in_in_another_tab(site):
    with site.browse() as laptop, site.browse() as phone:
        for page in (laptop, phone):
            sign_in(site, page, "marco")
            site.wait_until_live(page)
        laptop.goto(f"{site.url}/account/")
        laptop.get_by_role("button", name="End all other sessions").click()
        expect_hidden_page(phone)
        attempts = []
        phone.on("websocket", lambda socket: attempts.append(socket.url))

        other_tab = phone.context.new_page()
        sign_in(site, other_tab, "marco")
        site.wait_until_live(other_tab)
        phone.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        site.wait_until_live(phone)
        expect_page(phone)
        assert len(attempts) == 1


def test_a_hidden_page_keeps_what_was_written_and_has_no_shortcuts(site):
    thread = site.start("rehearse:echo")["thread"]
    with site.browse() as page, site.browse() as laptop:
        sign_in(site, page, "marco")
        page.goto(f"{site.url}/threads/{thread}/")
        site.wait_until_live(page)
        page.fill("#say textarea", "half a sentence")
        sign_in(site, laptop, "marco")
        laptop.goto(f"{site.url}/account/")
        laptop.get_by_role("button", name="End all other sessions").click()
        expect_hidden_page(page)

        page.keyboard.press("?")
        page.keyboard.press("Control+k")
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Sign in").click()
        tab = opened.value
        tab.wait_for_load_state()
        site.sign_in(tab, "marco")
        site.wait_until_live(tab)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        expect_page(page)
        expect(page.locator("#say textarea")).to_have_value("half a sentence")
        expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_page_is_hidden_if_its_session_ends_without_a_connection(site):
    with site.browse() as page:
        sign_in(site, page, "marco")
        site.wait_until_live(page)
        # Each response that arrives shows the page again.
        page.wait_for_load_state("networkidle")
        hold_requests(page, "**")
        page.evaluate(NO_CONNECTION)
        expect_page(page)

        page.evaluate(END_SESSION)
        page.evaluate(NO_CONNECTION)
        expect_hidden_page(page)

        page.unroute_all(behavior="ignoreErrors")
        page.evaluate(READ_AGAIN)
        expect_page(page)


def test_a_page_that_is_shown_again_has_the_title_of_the_response(site):
    with site.browse() as page:
        sign_in(site, page, "marco")
        site.wait_until_live(page)
        page.goto(f"{site.url}/runs/")
        site.wait_until_live(page)
        title = page.title()
        page.wait_for_load_state("networkidle")
        hold_requests(page, "**/runs/")
        page.evaluate("document.title = 'As it was called when it was hidden'")
        page.evaluate(END_SESSION)
        page.evaluate(NO_CONNECTION)
        expect_hidden_page(page)

        page.unroute_all(behavior="ignoreErrors")
        page.evaluate("htmx.ajax('GET', '/runs/', {target: 'body', swap: 'none'})")
        expect_page(page)
        # At once, not only with the next response.
        assert page.title() == title


def test_a_hidden_page_is_not_named_after_a_request_that_opens_late(site):
    with site.browse() as page:
        opened = hold_requests(page, "**/interrupts/*/")
        sign_in(site, page, "marco")
        site.wait_until_live(page)
        wait_for_requests(page, lambda: opened)
        # Each response that arrives shows the page again.
        refreshes = hold_requests(page, "**/")
        reading = page.locator("body.htmx-request")
        wait_for(lambda: refreshes or not reading.count())
        page.evaluate(END_SESSION)
        page.evaluate(NO_CONNECTION)
        expect_hidden_page(page)

        opened.pop().continue_()
        expect(page.locator("#main[data-interrupt]")).to_be_attached()
        expect_hidden_page(page)

        page.unroute_all(behavior="ignoreErrors")
        page.evaluate(READ_AGAIN)
        expect_page(page)
        title = page.locator("#detail-title").inner_text()
        expect(page).to_have_title(re.compile(re.escape(title)))


def test_a_page_of_somebody_who_signed_out_never_shows_for_another_person(site):
    with site.browse() as page:
        sign_in(site, page, "marco")
        site.wait_until_live(page)
        other_tab = page.context.new_page()
        other_tab.goto(site.url)
        site.wait_until_live(other_tab)
        other_tab.evaluate("document.querySelector('form[action=\"/logout/\"]').submit()")
        other_tab.wait_for_url("**/login/")
        expect_hidden_page(page)
        sign_in(site, other_tab, "priya")

        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        expect(page.locator(".me-name")).to_have_text("Priya Shah")


def expect_hidden_page(page: Page) -> None:
    expect(page.get_by_role("alert").get_by_text("This page is hidden")).to_be_visible()
    expect(page.locator("#main")).to_be_hidden()
    expect(page).to_have_title("Signed out · Signoff")


def expect_page(page: Page) -> None:
    expect(page.locator("#main")).to_be_visible()
    expect(page.locator("#signed-out")).to_be_hidden()
    expect(page).not_to_have_title("Signed out · Signoff")


def test_pages_stay_connected_when_another_tab_confirms_the_identity(site):
    with site.browse() as page:
        sign_in(site, page, "marco")
        site.wait_until_live(page)
        (former,) = site_cookies(page)

        other_tab = page.context.new_page()
        other_tab.goto(f"{site.url}/account/confirm/?next=/account/")
        with page.expect_websocket():  # the page connects again
            confirm_password(site, other_tab, "marco")

        site.wait_until_live(page)
        assert site_cookies(page) != [former]


def site_cookies(page: Page) -> list[str]:
    """The keys of the session."""
    cookies = page.context.cookies()
    return [cookie["value"] for cookie in cookies if cookie["name"] == "sessionid"]


def test_changing_the_password_signs_out_everywhere_else(site):
    with site.browse() as laptop, site.browse() as phone:
        for page in (laptop, phone):
            sign_in(site, page, "admin")
            site.wait_until_live(page)

        laptop.goto(f"{site.url}/account/password/")
        laptop.fill("#id_oldpassword", site.password("admin"))
        laptop.fill("#id_password1", "correct horse battery")
        laptop.fill("#id_password2", "correct horse battery")
        laptop.get_by_role("button", name="Change the password").click()
        expect(laptop.get_by_text("Your other sessions were ended.").first).to_be_visible()

        phone.reload()
        phone.fill("#id_username", "admin")
        phone.fill("#id_password", "correct horse battery")
        phone.click("button[type=submit]")
        expect(phone.locator(".me-name")).to_be_visible()
