"""The documentation in the product."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from inbox.web.base.help_pages import PAGES
from tests.support.web.pages import words


def article(reader, name):
    page = reader.get(f"/help/{name}/")
    assert page.status_code == 200
    return page.content.decode().partition("<article")[2].partition("</article>")[0]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_documentation_is_readable_in_the_product(reads_bob, name):
    html = article(reads_bob, name)

    title = Path(settings.BASE_DIR, "docs", f"{name}.md").read_text().splitlines()[0]
    assert title.removeprefix("# ") in html
    assert "<img" not in html
    assert "picture&gt;" not in html
    assert " style=" not in html
    assert "<script" not in html


@pytest.mark.parametrize("name", PAGES)
def test_links_within_the_help_lead_to_its_pages(reads_bob, name):
    html = article(reads_bob, name)

    ids = set(re.findall(r'id="([^"]+)"', html))
    for href in re.findall(r'href="([^"]+)"', html):
        if href.startswith("#"):
            assert href[1:] in ids, href
        elif href.startswith("/"):
            assert reads_bob.get(href.partition("#")[0]).status_code == 200, href


@pytest.mark.parametrize("name", ["contributors", "nothing", "README", "..", "inbox.md"])
def test_other_files_are_no_help_pages(reads_bob, name):
    assert reads_bob.get(f"/help/{name}/").status_code == 404


def test_help_is_in_the_menu(reads_bob):
    page = reads_bob.get("/")

    assert 'href="/help/"' in page.content.decode()
    assert "Decide a request" in words(reads_bob.get("/help/"))
