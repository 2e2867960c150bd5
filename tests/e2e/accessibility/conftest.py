"""Fixtures that the modules of accessibility tests share."""

from tests.support.browser.fixtures import chromium, site

__all__ = ["chromium", "site"]
