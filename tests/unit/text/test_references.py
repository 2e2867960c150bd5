"""The references in docs/reference are those of the code."""

import ast
import re

import pytest
from django.core.management import get_commands

from agents.adapters.remote.remote_agent import FAILURES
from tools.write_references import FOLDER, ROOT, references

PAGES = references()
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "security").glob("*.md")])


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_is_as_the_code_is_now(name):
    assert (FOLDER / name).read_text() == PAGES[name], "run `make references`"


def test_all_codes_that_the_code_sends_are_in_the_reference():
    pattern = re.compile(r"[A-Z]+(_[A-Z]+)+")
    codes = {
        keyword.value.value
        for folder in ("agents/adapters", "inbox/engine", "inbox/actions")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "code"
        and isinstance(keyword.value, ast.Constant)
        and pattern.fullmatch(str(keyword.value.value))
    }

    assert codes
    page = PAGES["reference/errors.md"]
    assert {code for code in codes | {*FAILURES} if f"`{code}`" not in page} == set()


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#: ]+\.md)(?:#[^)]*)?\)", path.read_text())

    assert [link for link in links if not (path.parent / link).resolve().exists()] == []


def test_commands_that_pages_name_exist():
    texts = [*DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    named = {
        (path.name, name)
        for path in texts
        for name in re.findall(r"manage\.py ([a-z_]+)", path.read_text())
    }

    assert len(named) > 50
    assert {(page, name) for page, name in named if name not in get_commands()} == set()


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()

    missing = [path.name for path in DOCS if path.name != "README.md" and path.name not in index]
    assert missing == []
    assert all(name in index for name in PAGES)
