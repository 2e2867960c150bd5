"""Limits on the work of validation: a schema of a few hundred bytes can take years."""

from collections.abc import Iterator, Mapping
from typing import Any

#: The parts of a schema that a validator may visit for one value, references followed.
MAX_VISITS = 2_000
#: JSON parsers reject deeper values, so a recursive schema ends there.
VALUE_DEPTH = 32

_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_CHILD_VALUE = (
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


_UNEVALUATED = {"unevaluatedProperties", "unevaluatedItems"}
#: To find unevaluated members, a validator revisits the schemas of the same value, again for each
#: level above (measured: 2.5 times per level).
_UNEVALUATED_VISITS = 3


class SchemaRejected(ValueError):
    """The schema cannot be used; the message says why."""


def check_cost(schema: Any) -> int:
    """
    Return how many parts validating one value may visit; raise SchemaRejected above MAX_VISITS.

    Doubling (`allOf` of two references to the same) and branching recursion are counted by their
    expansion, each (part, depth) once; a bare loop of references costs nothing.
    """
    return _Counter(schema).visits(schema, VALUE_DEPTH)


class _Counter:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}
        self._open: set[tuple[int, int]] = set()

    def visits(self, node: Any, depth: int) -> int:
        """Return the number of parts visited for a value with `depth` levels left."""
        if not isinstance(node, Mapping) or depth < 0:
            return 1
        key = (id(node), depth)
        if key in self._open:
            # The same part for the same value again: harmless only as a bare loop of references.
            if set(node) <= {"$ref", "$defs"}:
                return 1
            raise SchemaRejected("the schema refers to itself without going deeper into the value")
        if key not in self._known:
            self._open.add(key)
            total = 1
            for child, level in self._children(node, depth):
                total += self.visits(child, level)
                if total > MAX_VISITS:
                    raise SchemaRejected(f"one value would mean more than {MAX_VISITS} checks")
            self._open.discard(key)
            self._known[key] = total
        return self._known[key]

    def _children(self, node: Mapping[str, Any], depth: int) -> Iterator[tuple[Any, int]]:
        for _ in range(_UNEVALUATED_VISITS if _UNEVALUATED & node.keys() else 1):
            for keyword in ("$ref", "$dynamicRef"):
                if isinstance(node.get(keyword), str):
                    yield resolve_reference(self._root, node[keyword]), depth
            for keyword in _SAME_VALUE:
                for child in _schemas_of(node.get(keyword)):
                    yield child, depth
        for keyword in _CHILD_VALUE:
            for child in _schemas_of(node.get(keyword)):
                yield child, depth - 1


def resolve_reference(root: Any, reference: str) -> Any:
    """Return the target of a reference inside the document (`#/...`), or None."""
    node = root
    for raw in reference.removeprefix("#").split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(part)
        elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def _schemas_of(value: Any) -> Iterator[Any]:
    """Yield the schemas of a keyword's value: one, a list, or a map."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, Mapping):
        yield value
        yield from value.values()
