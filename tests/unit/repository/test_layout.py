"""Limits on folders, file names and the names of tests."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
MODULES = sorted(
    path for name in ("agents", "clients", "inbox", "tests") for path in (ROOT / name).rglob("*.py")
)

MOST_FILES = 15
#: Folders with more files than that, and how many they may have. Lower a number; never raise one.
LARGE_FOLDERS = {
    "agents/sdk": 18,
    "inbox/api/base": 19,
    "inbox/management/commands": 25,  # Django looks for commands in this folder only
    "inbox/platform": 17,
    "inbox/web/base": 18,
    "inbox/web/decisions": 17,
}
#: Names that Django, Python and pytest prescribe.
PRESCRIBED_NAMES = {"__init__.py", "__main__.py", "base.py", "conftest.py"}
LONGEST_TEST_NAME = 70


def test_no_folder_has_more_than_15_files():
    modules = [path for path in MODULES if path.name != "__init__.py"]
    counts = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules)
    del counts["inbox/migrations"]

    too_large = {
        folder: number
        for folder, number in counts.items()
        if number > LARGE_FOLDERS.get(folder, MOST_FILES)
    }

    assert too_large == {}


def test_no_file_name_occurs_twice_within_a_layer():
    layers = Counter(
        ("/".join(path.relative_to(ROOT).parts[:2]), path.name)
        for path in MODULES
        if path.name not in PRESCRIBED_NAMES
    )

    assert [name for name, number in layers.items() if number > 1] == []


def test_names_of_tests_have_at_most_70_characters():
    too_long = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in MODULES
        if path.name.startswith("test_")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > LONGEST_TEST_NAME
    ]

    assert too_long == []
