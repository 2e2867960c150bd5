"""What schemas say of secrets: marks, and examples that would give one away."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inbox.rules.schema.schema_cost import resolve_reference

#: What a schema says of a value that nobody is to read.
_MARKS = (("writeOnly", True), ("x-sensitive", True), ("format", "password"))

#: How much of a schema is looked at for one value; above it, no mark counts.
_MOST_STEPS = 50_000

#: A part of a schema with the document that its references are about.
Part = tuple[Any, Mapping[str, Any]]


def is_marked(schema: Mapping[str, Any]) -> bool:
    """Whether a schema itself says that its value is secret."""
    return any(schema.get(mark) == value for mark, value in _MARKS)


class TooManySteps(Exception):
    """The schemas say more than is looked at."""


class SecretMarks:
    """What schemas say of the parts of one value, whatever they are: the work is counted."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def flat(self, parts: Iterable[tuple[Any, Any]]) -> list[Part]:
        """These and all that they refer to or put together, each once."""
        found: list[Part] = []
        waiting, seen = list(parts), set()
        while waiting:
            root, schema = waiting.pop()
            self._left -= 1
            if self._left < 0:
                raise TooManySteps
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append((root, schema))
            waiting += [(root, part) for part in _beside(root, schema)]
        return found

    def of_member(self, parts: Sequence[Part], key: str) -> list[Part]:
        return self.flat((root, one) for root, schema in parts for one in _member(schema, key))

    def of_item(self, parts: Sequence[Part], place: int) -> list[Part]:
        return self.flat((root, one) for root, schema in parts for one in _item(schema, place))


def _beside(root: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that speak of the same value."""
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
    known = schema.get("properties")
    if isinstance(known, Mapping) and key in known:
        yield known[key]
        return
    # Which pattern a name fits is not looked at: rather a mask too many.
    patterns = schema.get("patternProperties")
    yield from patterns.values() if isinstance(patterns, Mapping) else ()
    yield schema.get("additionalProperties")
    yield schema.get("unevaluatedProperties")


def _item(schema: Mapping[str, Any], place: int) -> Iterator[Any]:
    items = schema.get("items")
    first = schema.get("prefixItems", items if isinstance(items, list) else None)
    if isinstance(first, list) and place < len(first):
        yield first[place]
        return
    yield items
    yield schema.get("contains")
    yield schema.get("additionalItems")
    yield schema.get("unevaluatedItems")
