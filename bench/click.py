"""
Time from a reviewer's click to another reviewer's page: `python -m bench.click [--number 40]`.

Two browsers and the embedded product share the machine. The first decides a request with a click;
the second has the same request open. It notes when it shows the decision and disables its form
(told), and when it has loaded the changed request (read).
"""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect

from bench.figures import spread
from tests.support.browser.site import Site, open_site

_NOTE_CLICK = """() => document.querySelector("button[value=approve]").addEventListener(
  "click", () => sessionStorage.setItem("clicked", Date.now()), { capture: true })"""
_NOTE_CHANGE = """() => new MutationObserver(() => {
  const button = document.querySelector("button[value=approve]");
  const isTold = document.querySelector("#banner .banner")?.textContent.includes("Marco Ruiz");
  if (isTold && !button?.matches(":enabled")) window.told ??= Date.now();
  if (document.querySelector("#banner [role=alert]")) window.read ??= Date.now();
}).observe(document.body, { childList: true, subtree: true })"""


def measure(site: Site, number: int) -> dict[str, list[float]]:
    """Decide `number` requests; return the seconds until the other page was told and up to date."""
    seconds: dict[str, list[float]] = {"told": [], "read": []}
    with site.open_as("marco") as reviewer, site.open_as("priya") as observer:
        for _ in range(number):
            request = site.ask("tool_call")
            for page in (reviewer, observer):
                site.open(page, request)
                # The page reloads its content once its socket is open.
                page.wait_for_load_state("networkidle")
            reviewer.evaluate(_NOTE_CLICK)
            observer.evaluate(_NOTE_CHANGE)
            reviewer.click("button[value=approve]")
            expect(observer.locator("#banner [role=alert]")).to_be_visible()
            reviewer.wait_for_url("**done=**")
            clicked = reviewer.evaluate("Number(sessionStorage.getItem('clicked'))")
            for name, values in seconds.items():
                values.append((observer.evaluate(f"window.{name}") - clicked) / 1000)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.click", description=__doc__)
    parser.add_argument("--number", type=int, default=40, help="decisions (default 40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, open_site(Path(directory)) as site:
        for name, seconds in measure(site, options.number).items():
            for figure, value in spread(f"click -> {name}", seconds).items():
                print(f"{figure:24} {value:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
