"""Secret marks in JSON Schemas."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inbox.rules.schema.schema_walk import (
    BRANCHES,
    StepBudget,
    item_schemas,
    member_schemas,
    walk,
)

#: Keywords that mark a value as secret.
_MARKS = (("writeOnly", True), ("x-sensitive", True), ("format", "password"))

#: The keywords of schemas about the same value; what `not` excludes may be no secret.
_KEYWORDS = (*BRANCHES, "if")
#: The parts of schemas that are read for one value; with more parts, marks are ignored.
_MAX_STEPS = 50_000

#: The document that resolves references, and a part of it.
Part = tuple[Any, Mapping[str, Any]]


def is_marked(schema: Mapping[str, Any]) -> bool:
    """Return True if a schema itself marks its value as secret."""
    return any(schema.get(mark) == value for mark, value in _MARKS)


class SecretMarks:
    """Finds the schemas of the parts of one value; raises TooManySteps."""

    def __init__(self) -> None:
        self._budget = StepBudget(_MAX_STEPS)
        #: By the ids of schemas, which the documents keep alive: the items of a list share them.
        self._flat: dict[tuple[int, ...], Sequence[Part]] = {}

    def flat(self, parts: Iterable[tuple[Any, Any]]) -> Sequence[Part]:
        """Return these schemas and those that they refer to or combine, each once."""
        parts = list(parts)
        key = tuple(id(item) for part in parts for item in part)
        if key not in self._flat:
            seen: set[int] = set()
            self._flat[key] = [
                (root, part)
                for root, schema in parts
                for part in walk(root, schema, _KEYWORDS, budget=self._budget, seen=seen)
                if isinstance(part, Mapping)
            ]
        return self._flat[key]

    def of_member(self, parts: Sequence[Part], key: str) -> Sequence[Part]:
        return parts and self.flat(
            (root, part) for root, schema in parts for part in member_schemas(schema, key)
        )

    def of_item(self, parts: Sequence[Part], position: int) -> Sequence[Part]:
        return parts and self.flat(
            (root, part) for root, schema in parts for part in item_schemas(schema, position)
        )
