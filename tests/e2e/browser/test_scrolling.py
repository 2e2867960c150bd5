"""Long pages: their panes scroll, and the page itself never does."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, open_site

pytestmark = pytest.mark.browser

ROWS = 60
HEIGHTS = (480, 700, 1000)
#: The panes that scroll are at their end; what is below the window, and what was scrolled off.
_SCROLL_TO_THE_ENDS = """() => {
  for (const pane of document.querySelectorAll("*")) {
    if (getComputedStyle(pane).overflowY === "auto") pane.scrollTop = pane.scrollHeight;
  }
  document.documentElement.scrollTop = 10_000;
  const { scrollHeight, scrollTop } = document.documentElement;
  return { below: scrollHeight - innerHeight, scrolledOff: scrollTop };
}"""


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As many pending runs, of one or two requests, as decided ones."""
    with open_site(tmp_path_factory.mktemp("scrolling"), chromium) as site:
        for is_decided in (True, False):
            for number in range(ROWS):
                site.play(*[staged_interrupts.FIXED] * (1 + number % 2))
            if is_decided:
                site.call_everything_off()
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    with site.open_as("admin") as page:
        yield page


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/decided/",
        "/runs/",
        "/runs/new/",
        "/threads/{thread}/",
        "/interrupts/{request}/",
        "/review/?{ids}",
        "/audit/",
        "/audit/metrics/",
        "/agents/",
        "/agents/billing/",
        "/teams/",
        "/teams/demo/",
        "/teams/demo/policy/",
        "/teams/demo/grants/",
        "/webhooks/",
        "/account/",
        "/account/notifications/",
        "/help/",
    ],
)
def test_a_page_never_scrolls_off_the_window(site: Site, page: Page, path: str) -> None:
    rows = site.call("/api/interrupts?limit=50")["results"]
    path = path.format(
        request=rows[0]["id"],
        thread=rows[0]["thread"],
        ids="&".join(f"id={row['id']}" for row in rows[:40]),
    )

    response = page.goto(f"{site.url}{path}")

    assert response is not None
    assert response.ok
    for height in HEIGHTS:
        page.set_viewport_size({"width": 1440, "height": height})
        assert page.evaluate(_SCROLL_TO_THE_ENDS) == {"below": 0, "scrolledOff": 0}, height
