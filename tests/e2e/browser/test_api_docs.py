"""The page of the API, in a real browser: readable, without other hosts, and good for trying."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser.site import PHONE, Site

pytestmark = pytest.mark.browser


def read(site: Site, page: Page, operation: str = "agents/listAgents") -> str:
    """Open an operation by its address, as the viewer draws what is on screen; return its id."""
    page.goto(f"{site.url}/api/docs/#/{operation}")
    name = f"#operations-{operation.replace('/', '-')}"
    expect(page.locator(f"{name} .responses-wrapper")).to_be_visible()
    return name


def operations_on(page: Page) -> set[str]:
    """Return the ids of all operations, from the top of the page to its end."""
    ids: set[str] = set()
    page.evaluate("scrollTo(0, 0)")
    while True:
        page.wait_for_function("document.querySelectorAll('.opblock').length")
        ids |= set(page.evaluate("[...document.querySelectorAll('.opblock')].map((e) => e.id)"))
        if page.evaluate("scrollY + innerHeight >= document.body.scrollHeight - 1"):
            return ids
        # The viewer draws in the frame after the one that tells it of the scrolling.
        page.evaluate(
            "new Promise((done) => { scrollBy(0, innerHeight / 2);"
            " requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))); })"
        )


def answered(page: Page, name: str) -> str:
    """The status of what an operation has answered."""
    status = page.locator(f"{name} .live-responses-table .response-col_status").nth(1)
    expect(status).to_be_visible()
    return status.inner_text().split()[0]


def test_api_docs_list_all_operations_without_sign_in_or_other_hosts(
    site,
):
    with site.browse() as page:  # which fails on reports of the policy and on other hosts
        read(site, page, "interrupts/decideInterrupt")

        described = page.evaluate(
            "fetch('/api/schema').then((answer) => answer.json()).then("
            "({ paths, webhooks }) => Object.values({ ...paths, ...webhooks })"
            ".flatMap((one) => Object.values(one).map((it) => it.operationId)))"
        )
        assert {name.rpartition("-")[2] for name in operations_on(page)} == set(described)


def test_api_docs_list_operations_before_the_viewer_has_loaded(site):
    with site.browse(java_script_enabled=False) as page:
        page.goto(f"{site.url}/api/docs/")

        expect(page.get_by_text("POST /api/runs", exact=True)).to_be_visible()


def test_who_is_signed_in_tries_a_call_that_changes_something(site):
    with site.browse(storage_state=site.state_of("marco")) as page:
        name = read(site, page, "runs/startRun")
        page.locator(f"{name} .try-out__btn").click()
        page.locator(f"{name} textarea").fill('{"agent": "rehearsal", "message": "rehearse:echo"}')
        page.locator(f"{name} .execute").click()

        assert answered(page, name) == "202"


def test_others_give_a_key(site):
    with site.browse() as page:
        name = read(site, page)
        page.locator(".auth-wrapper > .authorize").click()
        page.locator("#auth-bearer-value").fill(site.key)
        page.locator(".auth-btn-wrapper .authorize").first.click()
        page.locator(".auth-btn-wrapper .btn-done").first.click()

        page.locator(f"{name} .try-out__btn").click()
        page.locator(f"{name} .execute").click()

        assert answered(page, name) == "200"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_either_theme(site, scheme):
    with site.browse(**PHONE, color_scheme=scheme) as page:
        read(site, page, "runs/startRun")

        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["viewport"]["width"]
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = page.evaluate(
            "(color) => { const c = document.createElement('canvas').getContext('2d');"
            " c.fillStyle = color; c.fillRect(0, 0, 1, 1);"
            " return c.getImageData(0, 0, 1, 1).data[0] > 127; }",
            background,
        )
        assert light is (scheme == "light")
