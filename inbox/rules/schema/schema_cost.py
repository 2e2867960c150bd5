"""Limits on the work of validation: a schema of a few hundred bytes can take years."""

from collections.abc import Iterator, Mapping
from typing import Any

from inbox.rules.schema.schema_walk import BRANCHES, CONDITIONS, PARTS, subschemas

#: The parts of a schema that a validator may visit for one value, references followed.
MAX_VISITS = 2_000
#: JSON parsers reject deeper values, so a recursive schema ends there.
VALUE_DEPTH = 32

_UNEVALUATED = {"unevaluatedProperties", "unevaluatedItems"}
#: To find unevaluated members, a validator revisits the schemas of the same value, again for each
#: level above (measured: 2.5 times per level).
_UNEVALUATED_VISITS = 3


class SchemaRejected(ValueError):
    """The schema cannot be used; the message says why."""


class Uncheckable(ValueError):
    """The schema is legal, and values cannot be checked against it here; the message says why."""


def check_cost(schema: Any) -> int:
    """
    Return how many parts validating one value may visit; raise Uncheckable above MAX_VISITS.

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
            raise Uncheckable("the schema refers to itself without going deeper into the value")
        if key not in self._known:
            self._open.add(key)
            total = 1
            for child, level in self._children(node, depth):
                total += self.visits(child, level)
                if total > MAX_VISITS:
                    raise Uncheckable(f"one value would mean more than {MAX_VISITS} checks")
            self._open.discard(key)
            self._known[key] = total
        return self._known[key]

    def _children(self, node: Mapping[str, Any], depth: int) -> Iterator[tuple[Any, int]]:
        repeats = _UNEVALUATED_VISITS if _UNEVALUATED & node.keys() else 1
        for child in subschemas(self._root, node, (*BRANCHES, *CONDITIONS)):
            yield from [(child, depth)] * repeats
        for child in subschemas(self._root, node, PARTS):
            yield child, depth - 1
