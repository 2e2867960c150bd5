"""
From one reviewer's click to another one's screen: `python -m bench.click [--number 40]`.

Two browsers and the embedded product share the machine. The first decides a request with a click;
the second has the same request open, and notes when what it shows of it has changed. Both read the
clock of the machine.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect

from bench.figures import spread
from tests.web.site import Site, open_site

_NOTE_CLICK = """() => document.querySelector("button[value=approve]").addEventListener(
  "click", () => sessionStorage.setItem("clicked", Date.now()), { capture: true })"""
_NOTE_CHANGE = """() => new MutationObserver(() => {
  if (document.querySelector("#banner [role=alert]")) window.seen ??= Date.now();
}).observe(document.body, { childList: true, subtree: true })"""


def measure(site: Site, number: int) -> list[float]:
    """Decide `number` requests; return the seconds until the other page said who did."""
    seconds = []
    with site.open_as("marco") as one, site.open_as("priya") as other:
        for _ in range(number):
            asked = site.ask("tool_call")
            for page in (one, other):
                site.open(page, asked)
                # It reads itself again once it listens.
                page.wait_for_load_state("networkidle")
            one.evaluate(_NOTE_CLICK)
            other.evaluate(_NOTE_CHANGE)
            one.click("button[value=approve]")
            expect(other.locator("#banner [role=alert]")).to_be_visible()
            one.wait_for_url("**done=**")
            clicked = one.evaluate("Number(sessionStorage.getItem('clicked'))")
            seconds.append((other.evaluate("window.seen") - clicked) / 1000)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.click", description=__doc__)
    parser.add_argument("--number", type=int, default=40, help="decisions (default 40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, open_site(Path(name)) as site:
        for figure, value in spread("click -> seen", measure(site, options.number)).items():
            print(f"{figure:24} {value:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
