"""The walk over JSON Schemas: the keywords that hold sub-schemas, and references."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

#: Keywords about the same value as the schema that has them.
BRANCHES = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas")
CONDITIONS = ("if", "not")
#: Keywords about the members, keys and items of the value.
PARTS = (
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
)
DEFINITIONS = ("$defs", "definitions")
#: All keywords that hold sub-schemas themselves, references left out.
NESTED = (*BRANCHES[2:], *CONDITIONS, *PARTS, *DEFINITIONS)

_REFERENCES = {"$ref", "$dynamicRef"}
_IDS = ("$id", "id")
_MAX_ANCHOR_SEARCH = 2_000
_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_MAPS = {"properties", "patternProperties", "dependentSchemas", *DEFINITIONS}


class TooManySteps(Exception):
    """The schemas have too many parts."""


class StepBudget:
    """The steps that remain for a walk, or for several."""

    def __init__(self, steps: int, error: type[Exception] = TooManySteps) -> None:
        self.left = steps
        self._error = error

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise self._error


def subschemas(root: Any, schema: Mapping[str, Any], keywords: Iterable[str]) -> list[Any]:
    """
    Return the schemas of these keywords in a schema of the document `root`.

    Schemas may be booleans, and anything else in a document that was not checked.
    """
    return [
        part
        for keyword in keywords
        if keyword in schema
        for part in _parts(root, keyword, schema[keyword])
    ]


def _parts(root: Any, keyword: str, value: Any) -> Iterable[Any]:
    if keyword in _LISTS:
        return value if isinstance(value, list) else ()
    if keyword in _MAPS:
        return value.values() if isinstance(value, Mapping) else ()
    return (resolve_reference(root, value) if keyword in _REFERENCES else value,)


def walk(
    root: Any,
    schema: Any,
    keywords: Collection[str],
    *,
    budget: StepBudget | None = None,
    seen: set[int] | None = None,
) -> Iterator[Any]:
    """
    Yield a schema and all that these keywords lead to, each once, depth first.

    `seen` has the ids of schemas to leave out; those that are yielded are added.

    Raises:
        TooManySteps: the walk needs more steps than the budget has.
    """
    seen = set() if seen is None else seen
    waiting, keyword_set = [schema], frozenset(keywords)
    while waiting:
        node = waiting.pop()
        if budget is not None:
            budget.spend()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, Mapping) and not keyword_set.isdisjoint(node):
            waiting += reversed(subschemas(root, node, keywords))


def rewrite(schema: Any, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
    """Return a copy of a schema; `change` returns the copy of one schema, the outermost first."""
    if not isinstance(schema, Mapping):
        return schema
    copy = change(schema)
    for keyword in copy.keys() & set(NESTED):
        value = copy[keyword]
        if keyword in _LISTS and isinstance(value, list):
            copy[keyword] = [rewrite(part, change) for part in value]
        elif keyword in _MAPS and isinstance(value, Mapping):
            copy[keyword] = {key: rewrite(part, change) for key, part in value.items()}
        else:
            copy[keyword] = rewrite(value, change)
    return copy


def with_references(schema: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a schema whose references (`#/...`) are changed."""

    def changed(part: Mapping[str, Any]) -> dict[str, Any]:
        copy = dict(part)
        if isinstance(copy.get("$ref"), str):
            copy["$ref"] = change(copy["$ref"])
        return copy

    return rewrite(schema, changed)


def member_schemas(schema: Mapping[str, Any], name: str) -> list[Any]:
    """Return the schemas that may apply to a member; patterns are not matched."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return [properties[name]]
    keywords = ("patternProperties", "additionalProperties", "unevaluatedProperties")
    return subschemas(None, schema, keywords)


def item_schemas(schema: Mapping[str, Any], position: int) -> list[Any]:
    """Return the schemas that may apply to an item; `items` may be a list, as in older drafts."""
    items = schema.get("items")
    first = schema.get("prefixItems", items if isinstance(items, list) else None)
    if isinstance(first, list) and position < len(first):
        return [first[position]]
    keywords = ("items", "contains", "additionalItems", "unevaluatedItems")
    return subschemas(None, schema, keywords)


def resolve_reference(root: Any, reference: Any) -> Any:
    """Return the target of a reference inside the document (`#/...`, `#anchor`), or None."""
    if not isinstance(reference, str):
        return None
    ids = [root.get(key) for key in _IDS] if isinstance(root, Mapping) else []
    own = next((name for name in ids if isinstance(name, str)), "")
    document, _, fragment = reference.partition("#")
    if document and document != own.rstrip("#"):
        return None
    if fragment and not fragment.startswith("/"):
        return _anchored(root, unquote(fragment))
    node = root
    for raw in unquote(fragment).split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(part)
        elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def _anchored(root: Any, name: str) -> Any:
    """Return the first part of a document with this anchor, in the spelling of any draft."""
    for _, node in islice(json_nodes(root), _MAX_ANCHOR_SEARCH):
        if isinstance(node, Mapping) and any(
            node.get(keyword) == value for keyword, value in _anchor_members(name)
        ):
            return node
    return None


def _anchor_members(name: str) -> Iterable[tuple[str, str]]:
    return (("$anchor", name), ("$dynamicAnchor", name), ("$id", f"#{name}"), ("id", f"#{name}"))


def json_nodes(value: Any) -> Iterator[tuple[int, Any]]:
    """Yield every value inside a JSON value with its depth, without recursion."""
    waiting = [(0, value)]
    while waiting:
        depth, node = waiting.pop()
        yield depth, node
        if isinstance(node, Mapping):
            waiting += [(depth + 1, child) for child in node.values()]
        elif isinstance(node, list):
            waiting += [(depth + 1, child) for child in node]
