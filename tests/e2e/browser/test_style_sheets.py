"""What is served means what was written: the style sheets lose their spaces, and nothing else."""

from pathlib import Path

import pytest
from rcssmin import cssmin

from tests.support.chromium import open_chromium

pytestmark = pytest.mark.browser
SHEETS = sorted((Path(__file__).resolve().parents[3] / "static" / "css").glob("*.css"))
#: The rules as the browser has understood them; it keeps the spaces in values of properties.
_RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return Array.from(sheet.cssRules, (rule) => rule.cssText.replace(/\\s+/g, ""));
}"""
_SELECTORS = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  const walk = (rules) => [...rules].flatMap((rule) =>
    [rule.selectorText ?? rule.conditionText ?? rule.name ?? "", ...walk(rule.cssRules ?? [])]);
  return walk(sheet.cssRules);
}"""


def test_a_browser_reads_the_same_rules_from_what_is_served():
    assert SHEETS
    with open_chromium() as browser:
        page = browser.new_page()
        for sheet in SHEETS:
            written = sheet.read_text()
            served = cssmin(written)
            for read in (_SELECTORS, _RULES):
                assert page.evaluate(read, served) == page.evaluate(read, written), sheet.name
