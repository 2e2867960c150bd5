"""Links in mails, in Chromium: a person decides in two taps, and a mail scanner decides nothing."""

import email
import json
from collections.abc import Callable, Iterator
from email.policy import default
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import find_faults
from tests.support.browser.site import PHONE, Site, open_site, wait_for
from tests.support.notifications import decision_links
from tests.support.notifications.mail_server import MailServer, run_mail_server
from tests.support.processes import embedded_environment, manage
from tests.support.races.concurrently import rounds

pytestmark = pytest.mark.browser

#: A scanner presses nothing, but runs the scripts of a page, and follows its links.
_SECONDS_ON_A_PAGE = rounds(short=1, long=10)
_LINKS = rounds(short=6, long=1_000)
_PAGES_AT_ONCE = 50


class MailedSite:
    """The running product, the server that takes its mails, and its database."""

    def __init__(self, site: Site, server: MailServer, environment: dict[str, str]) -> None:
        self.site, self._server, self._environment = site, server, environment

    def run(self, function: Callable[..., None], *arguments: str) -> str:
        """Call a function of `decision_links` in a process of its own; return its last line."""
        module, name = function.__module__, function.__name__
        call = f"from {module} import {name}; {name}(*{arguments!r})"
        return manage(self._environment, "shell", "-c", call).rpartition("\n")[2]

    def tokens(self) -> dict[str, str]:
        """Return tokens of new links to all open requests, by the request's id."""
        tokens: dict[str, str] = json.loads(self.run(decision_links.print_tokens, "marco"))
        return tokens

    def counts(self) -> Any:
        """Return how many links are used, and how many decisions links have made."""
        return json.loads(self.run(decision_links.print_counts))

    def mailed_token(self, interrupt: Any) -> str:
        """Wait for the mail about a request, and return the token of its link."""
        text = wait_for(lambda: self._mail_about(interrupt), seconds=60)
        block = text.partition(interrupt["id"])[2]
        return decision_links.tokens_in(block)[0]

    def _mail_about(self, interrupt: Any) -> str:
        texts = [_text_of(mail) for mail in self._server.mails]
        return next((text for text in texts if interrupt["id"] in text), "")


def _text_of(mail: str) -> str:
    body = email.message_from_string(mail, policy=default).get_body(("plain",))
    return str(body.get_content()) if body else ""


@pytest.fixture(scope="module")
def mailed(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailedSite]:
    data = tmp_path_factory.mktemp("links")
    with run_mail_server() as server:
        mail = {
            "SIGNOFF_EMAIL_URL": f"smtp://127.0.0.1:{server.port}?tls=0",
            "SIGNOFF_PUBLIC_URL": "http://signoff.example.com",
        }
        with open_site(data, chromium, **mail) as site:
            mailed_site = MailedSite(site, server, embedded_environment(data, **mail))
            site.call_everything_off()
            mailed_site.run(decision_links.prepare_demo, "marco")
            yield mailed_site


def test_a_person_decides_in_two_taps_on_a_phone(mailed):
    site = mailed.site
    (interrupt,) = site.play(staged_interrupts.REFUND | {"minutes": 60})
    token = mailed.mailed_token(interrupt)

    with site.browse(**PHONE) as page:
        page.goto(f"{site.url}/decide/{token}/")
        button = page.get_by_role("button", name="Approve")
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 844
        button.tap()
        expect(page.get_by_role("status")).to_have_text("You approved this")

    stored = site.call(f"/api/interrupts/{interrupt['id']}")["decision"]
    assert stored["payload"] == {"approved": True}
    with site.open_as("priya") as page:
        site.open(page, interrupt)
        expect(page.locator("#detail")).to_contain_text("Approved by Marco")
        expect(page.locator("#detail")).to_contain_text("approved by the link of a mail")


def test_a_person_rejects_with_a_reason_on_a_phone(mailed):
    site = mailed.site
    (interrupt,) = site.play(staged_interrupts.REFUND | {"minutes": 60})
    token = mailed.tokens()[interrupt["id"]]

    with site.browse(**PHONE) as page:
        page.goto(f"{site.url}/decide/{token}/")
        page.locator("summary.btn").tap()
        page.get_by_label("Why do you reject it?").fill("Not before Monday.")
        page.get_by_role("button", name="Reject").tap()
        expect(page.get_by_role("status")).to_have_text("You rejected this")
        page.reload()  # the browser sends the form again
        expect(page.get_by_role("heading")).to_have_text("This link does not work any more")

    stored = site.call(f"/api/interrupts/{interrupt['id']}")["decision"]
    assert stored["payload"] == {"approved": False, "reason": "Not before Monday."}


def test_the_pages_of_a_link_have_no_fault(mailed):
    site = mailed.site
    (interrupt,) = site.play(staged_interrupts.MAIL | {"minutes": 60})
    token = mailed.tokens()[interrupt["id"]]

    with site.browse(**PHONE, reduced_motion="reduce") as page:
        page.goto(f"{site.url}/decide/{token}/")
        assert find_faults(page) == []
        page.locator("summary.btn").tap()
        page.get_by_label("Why do you reject it?").fill("   ")
        page.get_by_role("button", name="Reject").tap()
        expect(page.get_by_role("alert")).to_have_text("Give a reason of at most 2000 characters.")
        assert find_faults(page) == []
        page.get_by_label("Why do you reject it?").fill("Not before Monday.")
        page.get_by_role("button", name="Reject").tap()
        expect(page.get_by_role("status")).to_have_text("You rejected this")
        assert find_faults(page) == []
        page.goto(f"{site.url}/decide/{token}/")
        assert find_faults(page) == []


@pytest.mark.timeout(3_600)
def test_a_mail_scanner_that_runs_scripts_decides_nothing(mailed):
    site = mailed.site
    missing = _LINKS
    while missing > 0:
        count = min(missing, 50)
        site.play(*[staged_interrupts.REFUND | {"minutes": 60}] * count)
        missing -= count
    tokens = list(mailed.tokens().values())
    assert len(tokens) >= _LINKS
    before = mailed.counts()

    for start in range(0, len(tokens), _PAGES_AT_ONCE):
        scan(site, tokens[start : start + _PAGES_AT_ONCE])

    assert mailed.counts() == before
    assert len(mailed.tokens()) == len(tokens)


def scan(site, tokens):
    """Ask for each link by every safe method, and stay on its page as a browser with scripts."""
    with httpx.Client(base_url=site.url, timeout=20) as http:
        for token in tokens:
            for method in ("HEAD", "GET", "OPTIONS"):
                http.request(method, f"/decide/{token}/")
    with site.browse() as first:
        pages = [first, *(first.context.new_page() for _ in tokens[1:])]
        for page, token in zip(pages, tokens, strict=True):
            page.goto(f"{site.url}/decide/{token}/")
            follow_links(page)
        pages[-1].wait_for_timeout(_SECONDS_ON_A_PAGE * 1_000)


def follow_links(page):
    """Fetch what the page links to, as scanners do, also what its forms name, with GET."""
    page.evaluate(
        """() => Promise.all(
            [...document.querySelectorAll("a[href], form[action]")]
              .map((item) => item.href || item.action)
              .map((address) => fetch(address).catch(() => null)))"""
    )
