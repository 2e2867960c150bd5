"""What a page weighs on its way to a browser that has nothing of it yet."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Response

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, open_site

pytestmark = pytest.mark.browser

#: Gzipped; the budget of a first page is 75 kB.
MOST_BYTES = 70_000
_PARTS = ("document", "stylesheet", "script")


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("weight"), chromium) as site:
        site.call_everything_off()
        many = [
            staged_interrupts.REFUND,
            staged_interrupts.MAIL,
            staged_interrupts.SHORT_FORM,
            staged_interrupts.FIXED,
            staged_interrupts.BESIDE,
        ]
        for _ in range(3):  # and five that are listed as decided
            site.play(*many)
        yield site


def weigh(page: Page, address: str) -> dict[str, int]:
    """The length of each answer that makes up a page, as it is sent."""
    parts: list[Response] = []

    def note(part: Response) -> None:
        parts.append(part)

    page.on("response", note)
    page.goto(address)
    # The browser loads the icon on its own and tells no page about it.
    icon = page.request.get(page.evaluate("document.querySelector('link[rel=icon]').href"))
    return {
        # What a live page reads again and again is another matter.
        part.url: int(part.headers["content-length"])
        for part in (
            *(response for response in parts if response.request.resource_type in _PARTS),
            icon,
        )
    }


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/interrupts/{refund}/",
        "/interrupts/{form}/",
        "/decided/",
        "/review/?{all}",
        "/runs/",
        "/runs/new/?agent=rehearsal",
        "/agents/",
        "/agents/rehearsal/",
        "/threads/{thread}/",
    ],
)
def test_a_page_weighs_no_more_than_its_budget(site, path):
    rows = site.call("/api/interrupts?sort=new&agent=billing")["results"]
    by_title = {row["title"]: row for row in rows}
    path = path.format(
        refund=by_title[staged_interrupts.REFUND["message"]]["id"],
        form=by_title[staged_interrupts.SHORT_FORM["message"]]["id"],
        thread=rows[0]["thread"],
        all="&".join(f"id={row['id']}" for row in rows),
    )
    with site.browse(storage_state=site.state_of("marco")) as page:
        weights = weigh(page, f"{site.url}{path}")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    # htmx, the icon, the page, and at most two style sheets; the rest are our modules.
    scripts = [url for url in weights if "/static/js/" in url]
    assert len(weights) - len(scripts) <= 5
    assert sum(weights.values()) <= MOST_BYTES


@pytest.mark.parametrize("path", ["/new-agent/", "/agents/elsewhere/change/", "/agents/elsewhere/"])
def test_a_page_of_administrators_weighs_no_more(site, path):
    with site.browse(storage_state=site.state_of("admin")) as page:
        page.goto(f"{site.url}/new-agent/")
        page.fill("#f-name", "elsewhere")
        page.fill("#f-url", "https://127.0.0.1:1/agui")
        page.fill("#f-header-0", "Authorization")
        page.fill("#f-value-0", "a secret")
        page.click(".decide .btn-primary")  # which does nothing once it is there
        weights = weigh(page, f"{site.url}{path}")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    assert sum(weights.values()) <= MOST_BYTES
