"""The style sheets: no rule for what no page has, and no colour beside the tokens."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SHEETS = sorted((ROOT / "static/css").glob("*.css"))
#: The viewer of the API's description has classes of its own.
OF_OTHERS = {"api-docs.css"}
#: White and black: of a code to scan, of a mask, and of shadows.
ALLOWED_COLOURS = {"white", "#000"}


def rules_of(sheet):
    return re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)


@pytest.fixture(scope="module")
def words():
    """Every word of the templates, scripts and views."""
    sources = [
        path
        for folder, pattern in (("templates", "*.html"), ("static/js", "*.js"), ("inbox", "*.py"))
        for path in (ROOT / folder).rglob(pattern)
    ]
    return "\n".join(path.read_text() for path in sources)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_no_class_is_styled_that_no_page_has(sheet, words):
    if sheet.name in OF_OTHERS:
        return
    selectors = re.sub(r"\{[^{}]*\}", "{}", rules_of(sheet))
    classes = set(re.findall(r"\.(-?[a-zA-Z_][\w-]*)", selectors))
    # A class may be put together: "tag-{{ tone }}", f"row-{state}", "av-{}".
    begins = set(re.findall(r"([\w-]+-)\{", words))
    begins |= set(re.findall(r'([\w-]+-)"\|add', words))
    named = set(re.findall(r"[\w-]+", words))

    assert not sorted(
        name for name in classes if name not in named and not name.startswith(tuple(begins))
    )


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_colours_are_tokens(sheet):
    if sheet.name in OF_OTHERS:
        return
    rules = re.sub(r"@layer tokens \{.*?\n\}\n", "", rules_of(sheet), flags=re.DOTALL)

    colours = re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\([^)]*\)|\bwhite\b|\bblack\b", rules)

    assert not sorted(set(colours) - ALLOWED_COLOURS)
