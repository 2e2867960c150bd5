"""Fixtures that the modules of accessibility tests share."""

from tests.support.browser.shared_site import chromium, site

__all__ = ["chromium", "site"]
