"""Check pages with axe-core and for horizontal scrolling."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.browser.site import Site
from tests.support.environment import IS_FULL

Show = Callable[[Site, Page], None]

WIDTHS = (320, 390, 1024, 1440)
#: `make test-release` runs axe-core at every width and in both themes; `make test-all` runs every
#: rule on the narrowest light page, and the colour rules on the widest dark one.
QUICK = ((WIDTHS[0], "light"), (WIDTHS[-1], "dark"))
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
#: The rules whose verdict depends on colours: all that a theme can change.
COLOUR_RULES = ("color-contrast", "link-in-text-block")
_AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
# Evaluated and not added as a script: the page's policy stays on.
_RUN = """async (only) => {
  const found = await axe.run({ runOnly: only, resultTypes: ["violations"], preload: false });
  const describe = ({ html, any }) => `${html.slice(0, 200)} ${any[0]?.message}`;
  // A control that is half under a sticky bar can be scrolled to, and is no small one.
  const isCovered = ({ any }) => any[0]?.message.includes("because it is partially obscured");
  return found.violations
    .map(({ id, nodes }) => [id, nodes.filter((node) => id !== "target-size" || !isCovered(node))])
    .filter(([, nodes]) => nodes.length)
    .map(([id, nodes]) => [id, ...nodes.slice(0, 3).map(describe)]);
}"""
#: Sticky bars cover what happens to be below them, and axe takes half a control for a small one.
_SCROLL_TO_TOP = """() => {
  for (const one of document.querySelectorAll("*"))
    if (one.scrollTop) one.scrollTo({ top: 0, behavior: "instant" });
}"""
_SIDEWAYS = "document.scrollingElement.scrollWidth - innerWidth"


class Screens(dict[str, Show]):
    """Ways to bring a page into a state, by what the state is called."""

    def add(self, show: Show) -> Show:
        self[show.__name__.replace("_", " ")] = show
        return show


def find_violations(page: Page, kind: str, values: tuple[str, ...]) -> list[Any]:
    """What axe-core says of a page as it is shown just now; the kind is "tag" or "rule"."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(_AXE)
    # For a moment after a decision the buttons are pale, and take no pointer.
    expect(page.locator("html[data-guarded]")).to_have_count(0)
    violations: list[Any] = page.evaluate(_RUN, {"type": kind, "values": values})
    return violations


def find_faults(page: Page) -> list[Any]:
    """Return what is wrong with a page as it is."""
    faults: list[Any] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            if not IS_FULL and (width, theme) not in QUICK:
                continue
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour in between
            page.evaluate(_SCROLL_TO_TOP)
            # The second theme differs in its colours only.
            only = TAGS if theme == "light" else COLOUR_RULES
            kind = "tag" if theme == "light" else "rule"
            faults += [
                (width, theme, *violation) for violation in find_violations(page, kind, only)
            ]
        if (sideways := page.evaluate(_SIDEWAYS)) > 0:
            faults.append((width, "scrolls sideways by", sideways))
    return faults
