"""Secret marks in JSON Schemas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inbox.rules.schema.schema_cost import resolve_reference

#: Keywords that mark a value as secret.
_MARKS = (("writeOnly", True), ("x-sensitive", True), ("format", "password"))

#: The parts of schemas that are read for one value; with more parts, marks are ignored.
_MOST_STEPS = 50_000

#: The document that resolves references, and a part of it.
Part = tuple[Any, Mapping[str, Any]]


def is_marked(schema: Mapping[str, Any]) -> bool:
    """Return True if a schema itself marks its value as secret."""
    return any(schema.get(mark) == value for mark, value in _MARKS)


class TooManySteps(Exception):
    """The schemas have too many parts."""


class SecretMarks:
    """Finds the schemas of the parts of one value, with bounded work."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def flat(self, parts: Iterable[tuple[Any, Any]]) -> list[Part]:
        """Return these schemas and those that they refer to or combine, each once."""
        parts_found: list[Part] = []
        waiting, seen = list(parts), set()
        while waiting:
            root, schema = waiting.pop()
            self._left -= 1
            if self._left < 0:
                raise TooManySteps
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            parts_found.append((root, schema))
            waiting += [(root, part) for part in _beside(root, schema)]
        return parts_found

    def of_member(self, parts: Sequence[Part], key: str) -> list[Part]:
        return self.flat((root, part) for root, schema in parts for part in _member(schema, key))

    def of_item(self, parts: Sequence[Part], position: int) -> list[Part]:
        return self.flat((root, part) for root, schema in parts for part in _item(schema, position))


def _beside(root: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the schemas about the same value."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(keyword)
        yield from branches if isinstance(branches, list) else ()
    for keyword in ("if", "then", "else"):
        yield schema.get(keyword)
    dependent = schema.get("dependentSchemas")
    yield from dependent.values() if isinstance(dependent, Mapping) else ()
    for keyword in ("$ref", "$dynamicRef"):
        target = schema.get(keyword)
        if isinstance(target, str) and target.startswith("#"):
            yield resolve_reference(root, target)


def _member(schema: Mapping[str, Any], key: str) -> Iterator[Any]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        yield properties[key]
        return
    # Patterns are not matched; one mask too many is acceptable.
    patterns = schema.get("patternProperties")
    yield from patterns.values() if isinstance(patterns, Mapping) else ()
    yield schema.get("additionalProperties")
    yield schema.get("unevaluatedProperties")


def _item(schema: Mapping[str, Any], position: int) -> Iterator[Any]:
    items = schema.get("items")
    first = schema.get("prefixItems", items if isinstance(items, list) else None)
    if isinstance(first, list) and position < len(first):
        yield first[position]
        return
    yield items
    yield schema.get("contains")
    yield schema.get("additionalItems")
    yield schema.get("unevaluatedItems")
