"""Fixtures that the modules of browser tests share."""

from tests.support.browser.shared_site import chromium, mine, site

__all__ = ["chromium", "mine", "site"]
