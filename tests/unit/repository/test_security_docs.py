"""The pages of docs/security: nothing is missing, and everything that they name exists."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "security"
PAGES = sorted(FOLDER.glob("*.md"))
SECTIONS = """
1.1:1-2 1.2:1-9 1.3:1-11 1.4:1-3 1.5:1-2 2.1:1-3 2.2:1-3 2.3:1-4 2.4:1 3.2:1-2 3.3:1-4 3.4:1-6
3.5:1-5 3.7:1-2 4.1:1-3 4.2:1 4.3:1-2 4.4:1-4 5.1:1 5.2:1-3 5.3:1-2 5.4:1-3 6.1:1-3 6.2:1-12
6.3:1-4 6.4:1-4 6.5:1-5 6.6:1-3 6.8:1-4 7.1:1-3 7.2:1-4 7.3:1-2 7.4:1-5 7.5:1-2 7.6:1-2 8.1:1-2
8.2:1-3 8.3:1 8.4:1 9.1:1-3 9.2:1-4 10.1:1-2 10.2:1-2 10.3:1-4 10.4:1-11 10.5:1-5 10.6:1-2
10.7:1-3 11.1:1-2 11.2:1-3 11.3:1-3 11.4:1-4 11.5:1 11.6:1 12.1:1-3 12.2:1-2 12.3:1-4 13.1:1
13.2:1-5 13.3:1-2 13.4:1-5 14.1:1-2 14.2:1-4 14.3:1-3 15.1:1-3 15.2:1-3 15.3:1-7 16.1:1 16.2:1-5
16.3:1-4 16.4:1-3 16.5:1-3 17.1:1 17.2:1-4 17.3:1-2
"""
STATES = ("pass", "not applicable", "open")
THREATS = [str(number) for number in range(1, 61)]
LINK = re.compile(r"\[(`[^`]+`|[^\]`]+)\]\(([^)]+)\)")
#: Words that a text needs to be a reason, or to say what to do.
FEWEST_WORDS_OF_A_REASON, FEWEST_WORDS_OF_AN_ISSUE = 3, 25


def requirements():
    """The ids of levels 1 and 2 of ASVS 5.0.0, by section: `1.2:1-3,5`."""
    for section in SECTIONS.split():
        name, _, parts = section.partition(":")
        for part in parts.split(","):
            first, _, last = part.partition("-")
            yield from (f"{name}.{n}" for n in range(int(first), int(last or first) + 1))


def rows(page):
    """The rows of the tables whose first cell is a number: id, words, state, evidence."""
    lines = (FOLDER / page).read_text().splitlines()
    cells = [[part.strip() for part in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if re.fullmatch(r"\d+(\.\d+){0,2}", row[0].strip("| "))]


def issues():
    """The headings of the open issues, with their texts."""
    _, _, text = (FOLDER / "asvs.md").read_text().partition("\n## Open\n")
    parts = re.split(r"^### (.*)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (" ".join(part.split()) for part in parts[1::2]), strict=True))


def anchor(heading):
    """The anchor of a heading, as on GitHub."""
    words = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return words.replace(" ", "-")


@cache
def defined_names(path):
    """The functions, classes and variables of a module."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@cache
def settings_of_the_environment():
    return {
        node.value
        for path in (ROOT / "inbox" / "config").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def problem_of(label, target, page):
    """Return the problem of a link, "" without one."""
    if target.startswith("https://"):
        return ""
    name, (file, _, fragment) = label.strip("`"), target.partition("#")
    path = (page.parent / file).resolve() if file else page
    if not path.exists():
        return f"no file {file}"
    if fragment:
        headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
        if fragment not in map(anchor, headings):
            return f"no heading {fragment} in {path.name}"
    if not label.startswith("`"):
        return ""
    if path.suffix == ".py":
        exists = name in defined_names(path)
    elif path.suffix == ".md":
        exists = name in settings_of_the_environment() and name in path.read_text()
    else:
        exists = name in path.read_text()
    return "" if exists else f"{path.name} has no {name}"


def test_each_requirement_of_level_2_has_one_row():
    ids = [row[0] for row in rows("asvs.md")]

    assert Counter(ids) == Counter(requirements())
    assert len(ids) == 253


def test_each_threat_has_one_row():
    assert [row[0] for row in rows("threats.md")] == THREATS


@pytest.mark.parametrize("page", ["asvs.md", "threats.md"])
def test_each_row_has_a_state_and_what_it_rests_on(page):
    for number, words, state, evidence in rows(page):
        assert words, number
        assert state in STATES, number
        links = LINK.findall(evidence)
        if state == "pass":
            assert links, number
        if state == "not applicable":
            assert len(evidence.split()) >= FEWEST_WORDS_OF_A_REASON, number
        if state == "open":
            assert links, number
            assert all(number in issues()[label] for label, _ in links), number


def test_each_issue_says_what_to_do_and_is_open():
    numbers = {row[0] for row in rows("asvs.md") if row[2] == "open"}

    for title, text in issues().items():
        ids, _, task = text.partition(". ")
        assert set(ids.split(", ")) <= numbers, title
        assert "Done when" in task, title
        assert len(task.split()) >= FEWEST_WORDS_OF_AN_ISSUE, title


def test_the_summary_counts_the_rows():
    counts = Counter(row[2] for row in rows("asvs.md"))
    text = (FOLDER / "asvs.md").read_text()

    for state in STATES:
        assert f"| {state} | {counts[state]} |" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_everything_that_a_page_names_exists(page):
    problems = [problem_of(*link, page) for link in LINK.findall(page.read_text())]

    assert len(problems) > 50
    assert [problem for problem in problems if problem] == []


@pytest.mark.parametrize(
    ("label", "target"),
    [
        ("`test_that_nobody_wrote`", "../../tests/unit/repository/test_layout.py"),
        ("`test_of_no_file`", "../../tests/unit/repository/test_nothing.py"),
        ("`no_function`", "../../inbox/rules/people/passwords.py"),
        ("`SIGNOFF_NOTHING`", "../operations.md#settings"),
        ("Nothing", "../signin.md#nothing"),
        ("`a text that is not there`", "../../deploy/proxy/Caddyfile"),
    ],
)
def test_a_name_of_nothing_is_noticed(label, target):
    assert problem_of(label, target, FOLDER / "asvs.md")
