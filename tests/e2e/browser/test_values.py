"""Values as a page shows them: words and numbers stay on one line, and more come on demand."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser.site import Site, open_site
from tests.support.browser.staged_interrupts import approval

pytestmark = pytest.mark.browser

WIDTHS = (1440, 1024, 390)
LARGE = 9_007_199_254_740_993_123
ROWS = 450
#: Texts that stand on more than one line: words of up to 12 letters, numbers, or all of them.
_BROKEN = """([selector, pattern]) => {
  const broken = [];
  for (const element of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const match of walker.currentNode.data.matchAll(new RegExp(pattern, "gu"))) {
        const range = document.createRange();
        range.setStart(walker.currentNode, match.index);
        range.setEnd(walker.currentNode, match.index + match[0].length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(match[0]);
      }
    }
  }
  return broken;
}"""
_WORD, _NUMBER, _LINE = r"\p{L}{2,12}", r"\d[\d.,\u00a0\u202f]+", ".+"
NESTED = {
    "message": "Publish this note?",
    "tool": "publish",
    "args": {
        "request": {
            "action": {"name": "publish_note", "body": "We open at nine on Monday, as before."},
            "config": {"allow_edit": True, "reviewers": ["Priya Raman", "Marco Oduya"]},
        },
        "people": [
            {"name": "Priya Raman", "role": "Accounts payable", "account": LARGE},
            {"name": "Marco Oduya", "role": "Purchasing department", "account": LARGE + 2},
        ],
        "account": LARGE,
        "wide": [{f"column {n}": "several short words" for n in range(8)}] * 3,
    },
    "schema": approval({}),
}
CHANGE = {
    "message": "Change the opening hours?",
    "tool": "edit_file",
    "args": {
        "file_path": "hours.txt",
        "old_string": "".join(f"line {n}\n" for n in range(1, 130)),
        "new_string": "".join(f"line {n + n % 2}\n" for n in range(1, 130)),
    },
    "schema": approval({}),
}
LONG_TABLE = {
    "message": "Import these rows?",
    "tool": "import_rows",
    "args": {"order": {"rows": [{"sku": f"A{n}", "count": n} for n in range(ROWS)]}},
    "schema": approval({}),
}
MANY_LISTS = {
    "message": "Import these lists?",
    "tool": "import_lists",
    "args": {f"list{n}": [f"item {n}.{k}" for k in range(150)] for n in range(12)},
    "schema": approval({}),
}


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("values"), chromium) as site:
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    with site.open_as("admin") as page:
        yield page


def open_at(site: Site, page: Page, interrupt: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    site.open(page, interrupt)


@pytest.fixture(scope="module")
def nested(site: Site) -> Any:
    return site.play(NESTED)[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("pattern", [_WORD, _NUMBER, "several short words"])
def test_words_and_numbers_of_nested_values_stay_on_one_line(
    site: Site, page: Page, nested: Any, width: int, pattern: str
) -> None:
    open_at(site, page, nested, width)

    expect(page.locator(".value-table").first).to_be_visible()
    assert page.evaluate(_BROKEN, ["#answer .value-read", pattern]) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nested_values_stand_below_their_label(
    site: Site, page: Page, nested: Any, width: int
) -> None:
    open_at(site, page, nested, width)

    rows = page.locator(".value-facts > div:visible")
    assert rows.count() >= 6
    for row in rows.all():
        label, value = (row.locator(f"> {tag}").bounding_box() for tag in ("dt", "dd"))
        assert label
        assert value
        assert value["y"] >= label["y"] + label["height"] - 1
        assert value["width"] >= 160


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("is_split", [False, True])
def test_line_numbers_of_a_diff_stay_on_one_line(
    site: Site, page: Page, width: int, is_split: bool
) -> None:
    open_at(site, page, site.play(CHANGE)[0], width)
    page.locator(".code-diff-split").first.set_checked(is_split)

    numbers = page.locator(".code-number:visible", has_text=re.compile(r"^\d{3}$"))
    assert numbers.count() > 10
    assert page.evaluate(_BROKEN, [".code-number", _LINE]) == []


#: Scrolls to the last row until there are no more. Nothing counts as read before.
_READ_ON = """() => {
  const more = document.querySelector(".value-more");
  if (more && document.querySelector("#answer .value-read [name=opened]").checked) {
    throw new Error("read before its last row was there");
  }
  [...document.querySelectorAll(".value-table tbody tr:not(.value-more)")].at(-1).scrollIntoView();
  return !more;
}"""


def test_rows_of_a_long_table_come_as_they_are_reached(site: Site, page: Page) -> None:
    open_at(site, page, site.play(LONG_TABLE)[0], 1440)
    rows = page.locator(".value-table tbody tr:not(.value-more)")
    expect(rows).to_have_count(10)
    page.get_by_text("Show all", exact=True).click()
    is_read = page.locator("#answer .value-read [name=opened]")

    page.get_by_role("link", name=f"Show {ROWS - 10} more rows").click()
    expect(rows).not_to_have_count(10)
    page.wait_for_function(_READ_ON)

    expect(page.locator(".value-more")).to_have_count(0)
    expect(is_read).to_be_checked()
    assert rows.last.inner_text().split() == [f"A{ROWS - 1}", str(ROWS - 1)]
    expect(page.get_by_role("button", name=re.compile("^Approve "))).to_be_enabled()


def test_opening_one_long_value_counts_no_other_as_read(site: Site, page: Page) -> None:
    first, second = site.play(MANY_LISTS)[0], site.play(MANY_LISTS)[0]
    open_at(site, page, first, 1440)
    page.get_by_text(re.compile(r"^\s*Show all")).first.click()
    expect(page.locator("#answer [name=opened]:checked")).to_have_count(1)
    news = site.play(LONG_TABLE)[0]  # the page reads itself again
    expect(page.locator(f"#row-{news['id']}")).to_have_count(1)

    expect(page.locator("#answer [name=opened]:checked")).to_have_count(1)
    open_at(site, page, second, 1440)
    expect(page.locator("#answer details[open]")).to_have_count(0)


def test_lists_beyond_the_first_values_come_as_they_are_reached(site: Site, page: Page) -> None:
    open_at(site, page, site.play(MANY_LISTS)[0], 1440)
    values = page.locator("#answer .value-read")
    expect(values.get_by_text("item 11.149")).to_have_count(0)

    for number in range(2, 12):
        values.nth(number).get_by_text(re.compile(r"^\s*Show all")).click()
        expect(values.nth(number).get_by_text(f"item {number}.149")).to_be_visible()


def test_field_of_a_later_value_comes_with_edit_and_has_the_focus(site: Site, page: Page) -> None:
    open_at(site, page, site.play(MANY_LISTS)[0], 1440)
    expect(page.locator("[name='args/list11']")).to_have_count(0)

    page.get_by_role("button", name="Edit List11", exact=True).press("Enter")

    field = page.locator("textarea[name='args/list11']")
    expect(field).to_be_focused()
    expect(page.locator("#decision[data-unsent]")).to_have_count(0)
    field.fill('["mine"]')
    expect(page.locator("#approve-label")).to_contain_text("with")
    expect(page.locator("#changes")).to_contain_text("mine")
