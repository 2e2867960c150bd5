"""The walk over JSON Schemas, and that no other module has a walk of its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from inbox.rules.schema.schema_walk import (
    BRANCHES,
    CONDITIONS,
    DEFINITIONS,
    PARTS,
    StepBudget,
    TooManySteps,
    item_schemas,
    member_schemas,
    resolve_reference,
    rewrite,
    walk,
)

ROOT = Path(__file__).parents[3]
KEYWORDS = {*BRANCHES, *CONDITIONS, *PARTS, *DEFINITIONS}
#: The walk, and modules that recurse over the parts of a schema for a reason of their own.
WALKS = {
    "inbox/rules/schema/schema_walk.py",
    "inbox/rules/schema/dialects.py",  # older drafts have keywords that no other module knows
    "inbox/forms/planner.py",  # a field for each part of a schema
    "inbox/forms/schema_resolver.py",  # compares a value with a flat schema
}


def test_walk_yields_each_schema_once_in_document_order():
    shared = {"title": "shared"}
    root = {
        "$ref": "#/$defs/a",
        "allOf": [{"title": "first"}, {"$ref": "#/$defs/a"}, True],
        "properties": {"x": {"title": "not about this value"}},
        "$defs": {"a": shared},
    }

    schemas = list(walk(root, root, BRANCHES))

    assert schemas == [root, shared, {"title": "first"}, {"$ref": "#/$defs/a"}, True]


def test_walk_ends_in_a_loop_of_references():
    root = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/a"}]}}}

    assert len(list(walk(root, root, BRANCHES))) == 4


def test_walk_counts_schemas_that_it_has_seen():
    schema = {"allOf": [True] * 100}

    with pytest.raises(TooManySteps):
        list(walk(schema, schema, BRANCHES, budget=StepBudget(50)))


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
@pytest.mark.parametrize("value", [None, 5, "x", [], [5], {}, {"a": 5}, [[{}]], True])
def test_walk_and_rewrite_accept_any_value_of_a_keyword(keyword, value):
    schema = {keyword: value}

    list(walk(schema, schema, KEYWORDS))

    assert rewrite(schema, dict) == schema


def test_rewrite_changes_every_nested_schema():
    schema = {"properties": {"a": {"items": {"x": 1}}}, "oneOf": [{"x": 2}], "not": {"x": 3}}

    rewritten = rewrite(schema, lambda part: {**part, "x": 0})

    assert rewritten == {
        "properties": {"a": {"items": {"x": 0}, "x": 0}},
        "oneOf": [{"x": 0}],
        "not": {"x": 0},
        "x": 0,
    }


def test_schemas_of_members_and_items():
    schema = {
        "properties": {"a": {"title": "a"}},
        "patternProperties": {"b": {"title": "b"}},
        "additionalProperties": False,
        "prefixItems": [{"title": "first"}],
        "items": {"title": "others"},
    }

    assert member_schemas(schema, "a") == [{"title": "a"}]
    assert member_schemas(schema, "b") == [{"title": "b"}, False]
    assert item_schemas(schema, 0) == [{"title": "first"}]
    assert item_schemas(schema, 1) == [{"title": "others"}]


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", {"a/b": [{"~": 1}]}),
        ("#/a~1b/0/~0", 1),
        ("#/a~1b/1", None),
        ("#/nowhere/further", None),
        ("http://127.0.0.1/a~1b", None),
        (5, None),
    ],
)
def test_references_stay_inside_the_document(reference, target):
    assert resolve_reference({"a/b": [{"~": 1}]}, reference) == target


def test_no_other_module_walks_schemas():
    paths = [path for folder in ("inbox", "agents") for path in (ROOT / folder).rglob("*.py")]
    modules = {str(path.relative_to(ROOT)): path.read_text() for path in paths}

    walks = {name for name, text in modules.items() if len(_walked_keywords(text)) > 4}

    assert walks == WALKS


def _walked_keywords(source: str) -> set[str]:
    """Return the keywords in the functions that loop with `while` or lead to themselves."""
    tree = ast.parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    tables = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = {name: set(_names(node)) & functions.keys() for name, node in functions.items()}
    keywords: set[str] = set()
    for name, function in functions.items():
        reachable = _reachable(calls, name)
        is_loop = any(isinstance(node, ast.While) for node in ast.walk(function))
        if is_loop or name in reachable:
            nodes = [functions[other] for other in {name, *reachable}]
            used = [tables[table] for node in nodes for table in _names(node) if table in tables]
            keywords |= {text for node in (*nodes, *used) for text in _strings(node)} & KEYWORDS
    return keywords


def _reachable(calls: dict[str, set[str]], name: str) -> set[str]:
    reachable: set[str] = set()
    waiting = set(calls[name])
    while waiting:
        other = waiting.pop()
        reachable.add(other)
        waiting |= calls[other] - reachable
    return reachable


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _strings(node: ast.AST) -> Iterator[str]:
    """Yield texts, except the keys of literals: these build a schema."""
    keys = {key for part in ast.walk(node) if isinstance(part, ast.Dict) for key in part.keys}
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part not in keys:
            yield part.value
