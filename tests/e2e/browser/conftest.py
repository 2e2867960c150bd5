"""Requests for browser tests; each module starts its own `site`."""

from typing import Any

import pytest

from tests.support.browser.site import Site


@pytest.fixture
def mine(site: Site) -> Any:
    """Let an agent ask; nothing else waits then."""
    site.call_everything_off()
    return site.play
