"""
Fixtures of packages with browser tests: Chromium and the demo, each started once in a process.

They belong to the package whose conftest imports them. They end before other tests run, because
Playwright leaves an event loop running in the thread of the tests.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support.browser.site import Site, open_site
from tests.support.chromium import open_chromium


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with open_chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo; modules that need settings or data of their own start another product."""
    with open_site(tmp_path_factory.mktemp("demo"), chromium) as site:
        yield site


@pytest.fixture
def mine(site: Site) -> Any:
    """Let an agent ask; nothing else waits then."""
    site.call_everything_off()
    return site.play
