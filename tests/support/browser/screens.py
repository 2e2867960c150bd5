"""
Make the pictures of README.md and the documentation: `make screens`.

They show the demo of the running product at a fixed time, in light and in dark.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageChops
from playwright.sync_api import Page, expect

from tests.support.browser.fixed_time import SHOWN, STOPPED
from tests.support.browser.site import PHONE, Site, wait_for
from tests.support.chromium import open_chromium
from tests.support.processes import REPOSITORY, embedded_environment, start_embedded

PICTURES: Final = REPOSITORY / "docs" / "pictures"
READER, ADMINISTRATOR = "marco", "admin"
_DESK: Final = {"viewport": {"width": 1440, "height": 860}, "device_scale_factor": 1}
_COMMAND: Final = ("-m", "tests.support.browser.fixed_time", "serve", "--demo", "--no-reload")
_START_SECONDS: Final = 120
_COLOUR_STEP: Final = 4
#: Two runs differ by less, except where a page has whole ids, or times in milliseconds.
_LEAST_DIFFERENCE: Final = 0.0002
_REFUND: Final = "order #88121"
#: The last refund of a new demo that is paid after a decision.
_LAST_REFUND: Final = "86931"

SCREENS: dict[str, tuple[str, Callable[[Site, Page], None]]] = {}


def screen(username: str = READER) -> Any:
    """Make a picture of what this function opens, as this person sees it."""

    def register(show: Callable[[Site, Page], None]) -> None:
        SCREENS[show.__name__] = (username, show)

    return register


@screen()
def inbox(site: Site, page: Page) -> None:
    _open_request(site, page, _REFUND)


@screen()
def phone(site: Site, page: Page) -> None:
    _open_request(site, page, _REFUND)


@screen()
def request(site: Site, page: Page) -> None:
    _open_request(site, page, "Delete 12,430")


@screen()
def form(site: Site, page: Page) -> None:
    _open_request(site, page, "Who joins us?")
    page.locator("#decide-buttons button").first.click()
    expect(page.locator(".errsum")).to_be_visible()


@screen()
def review(site: Site, page: Page) -> None:
    _open_request(site, page, _REFUND)
    page.goto(page.url.replace("/interrupts/", "/similar/") + "?tick=all")


@screen(ADMINISTRATOR)
def policy(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/teams/demo/policy/")


@screen(ADMINISTRATOR)
def rule(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/teams/demo/policy/")
    page.locator(".rule a", has_text="above").first.click()


@screen()
def audit(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/audit/")


@screen()
def call(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/audit/?q=85512")
    page.locator("main a[href*='/audit/calls/']", has_text="Refund").first.click()


@screen()
def runs(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/runs/")


@screen()
def run(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/runs/?q=9.1.0")
    page.locator("main a[href*='/threads/']").first.click()


@screen()
def oversight(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/audit/metrics/")


@screen(ADMINISTRATOR)
def settings(site: Site, page: Page) -> None:
    page.goto(f"{site.url}/teams/demo/")


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with open_demo() as site:
        for name, (username, show) in SCREENS.items():
            with site.browse(
                storage_state=site.state_of(username),
                reduced_motion="reduce",
                timezone_id="UTC",
                **(PHONE if name == "phone" else _DESK),
            ) as page:
                page.clock.set_fixed_time(SHOWN)
                show(site, page)
                page.wait_for_load_state("networkidle")
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    print(_write(PICTURES / f"{name}-{theme}.webp", take(page)))


@contextmanager
def open_demo() -> Iterator[Site]:
    """Start the demo with its history, and stop its clock once nothing happens by itself."""
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory)
        environment = embedded_environment(data)
        with (
            start_embedded(environment, log=data / "log.txt", command=_COMMAND) as product,
            open_chromium() as chromium,
        ):
            site = Site(product, data, chromium)
            with site.open_as(READER) as page:
                wait_for(lambda: _is_quiet(site, page), seconds=_START_SECONDS)
            (data / STOPPED).touch()
            yield site


def take(page: Page) -> Image.Image:
    """Return what is seen, in fewer shades: a third smaller, and no eye sees it."""
    shot = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
    shades = [min(255, round(value / _COLOUR_STEP) * _COLOUR_STEP) for value in range(256)]
    return shot.convert("RGB").point(shades * 3)


def _open_request(site: Site, page: Page, words: str) -> None:
    page.goto(f"{site.url}/")
    link = page.locator("#list .row", has_text=words).locator("a").first
    page.goto(f"{site.url}{link.get_attribute('href')}")
    site.wait_until_live(page)


def _is_quiet(site: Site, page: Page) -> bool:
    """Tell whether agents have asked and resumed runs have ended, and the trail is verified."""
    page.goto(f"{site.url}/audit/?q={_LAST_REFUND}")
    is_paid = page.get_by_text(f"issued for order #{_LAST_REFUND}").first.is_visible()
    is_verified = page.locator("#badge .c-ok").is_visible()
    statuses = {run["status"] for run in site.call("/api/runs")["results"]}
    return is_paid and is_verified and not statuses & {"queued", "running"}


def _write(path: Path, picture: Image.Image) -> str:
    """Write a picture unless it is like the one that is there, and say so."""
    if path.exists() and _difference(picture, Image.open(path).convert("RGB")) < _LEAST_DIFFERENCE:
        return f"{path.name}: as before"
    picture.save(path, "webp", lossless=True, quality=100)
    return f"{path.name}: {path.stat().st_size / 1000:.0f} kB"


def _difference(picture: Image.Image, before: Image.Image) -> float:
    """Return the share of pixels that differ."""
    if picture.size != before.size:
        return 1
    counts = ImageChops.difference(picture, before).convert("L").histogram()
    return 1 - sum(counts[:_COLOUR_STEP]) / sum(counts)


if __name__ == "__main__":
    main()
