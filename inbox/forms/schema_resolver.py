"""Schema resolution for forms: follows references and merges `allOf`, with bounded work."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inbox.forms.values import JsonComparer, has_type, is_same_json
from inbox.rules.schema.schema_walk import BRANCHES, StepBudget, walk

#: Bound of the work for one plan; schema_cost.py bounds validation.
MAX_STEPS = 20_000
_MAX_COMPARISONS = 400

#: Keywords without form controls: such a node is edited as JSON.
UNSUPPORTED_KEYWORDS = {
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "prefixItems",
    "dependentSchemas",
    "$dynamicRef",
    "$recursiveRef",
}
_ANNOTATIONS = {"title", "description", "default", "examples", "format", "pattern", "$comment"}
_RESOLVED_KEYWORDS = {"$ref", "allOf", "$defs", "definitions", "$schema"}
_VALIDATION_KEYWORDS = {"required", "dependentRequired", "minProperties", "maxProperties", "title"}


class UnsupportedSchema(Exception):
    """The schema cannot be shown as form controls."""


class SchemaResolver:
    """A resolver for the schemas of one document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self.budget = StepBudget(MAX_STEPS, UnsupportedSchema)
        self.values = JsonComparer()

    def flatten(self, schema: Any) -> dict[str, Any]:
        """
        Return the schema with `$ref` and `allOf` merged into it.

        Raises:
            UnsupportedSchema: it cannot be merged, or takes too many steps.
        """
        flat_schema: dict[str, Any] = {}
        for part in walk(self._root, schema, ("$ref", "allOf"), budget=self.budget):
            if isinstance(part, Mapping):
                self.budget.spend(len(part) + len(part.get("required", ())))
                _merge(flat_schema, part)
            elif part is not True:
                raise UnsupportedSchema
        return flat_schema

    def fits(self, schema: Any, value: Any, depth: int = 3) -> bool:
        """Return whether the value probably matches a branch; a cheap check, not a validation."""
        try:
            flat_schema = self.flatten(schema)
        except UnsupportedSchema:
            return False
        options = [flat_schema["const"]] if "const" in flat_schema else flat_schema.get("enum")
        if options is not None and not any(self._matches(option, value) for option in options):
            return False
        types = types_of(flat_schema)
        if types and not any(has_type(value, name) for name in types):
            return False
        return depth == 0 or self._fits_inside(flat_schema, value, depth)

    def _fits_inside(self, flat_schema: Mapping[str, Any], value: Any, depth: int) -> bool:
        if isinstance(value, Mapping) and not self._fits_object(flat_schema, value, depth):
            return False
        if isinstance(value, list) and "items" in flat_schema:
            return all(self.fits(flat_schema["items"], item, depth - 1) for item in value[:20])
        branches = flat_schema.get("oneOf") or flat_schema.get("anyOf")
        return not branches or any(self.fits(branch, value, depth - 1) for branch in branches)

    def _fits_object(
        self, flat_schema: Mapping[str, Any], value: Mapping[str, Any], depth: int
    ) -> bool:
        properties = flat_schema.get("properties", {})
        if not all(name in value for name in flat_schema.get("required", ())):
            return False
        if flat_schema.get("additionalProperties") is False and value.keys() - properties.keys():
            return False
        return all(
            self.fits(properties[name], member, depth - 1)
            for name, member in value.items()
            if name in properties
        )

    def _matches(self, option: Any, value: Any) -> bool:
        self.budget.spend()
        return self.values.is_same_json(option, value)


def flatten_schema(schema: Any) -> dict[str, Any] | None:
    """Return the schema with `$ref` and `allOf` merged; None if it is not supported."""
    try:
        return SchemaResolver(schema).flatten(schema)
    except UnsupportedSchema:
        return None


def member_names(schema: Any) -> set[str] | None:
    """Return the properties that a schema names or requires; None if it leaves some unnamed."""
    names: set[str] = set()
    for part in walk(schema, schema, BRANCHES):
        if isinstance(part, Mapping):
            if "patternProperties" in part or part.get("minProperties", 0) > 1:
                return None
            names.update(part.get("properties", ()), part.get("required", ()))
    return names


def is_only_validation(branches: Sequence[Any]) -> bool:
    """Return whether the branches add no fields, only constraints between known ones."""
    return all(
        isinstance(branch, Mapping) and branch.keys() <= _VALIDATION_KEYWORDS for branch in branches
    )


def types_of(flat_schema: Mapping[str, Any]) -> list[str]:
    named = flat_schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def implied_type(flat_schema: Mapping[str, Any]) -> str | None:
    """Return the type that the keywords imply, if the schema names none."""
    for keyword, name in _IMPLIED_TYPES:
        if keyword in flat_schema:
            return name
    return None


_IMPLIED_TYPES = (
    ("properties", "object"),
    ("required", "object"),
    ("additionalProperties", "object"),
    ("items", "array"),
    ("minItems", "array"),
    ("minLength", "string"),
    ("maxLength", "string"),
    ("pattern", "string"),
    ("format", "string"),
    ("minimum", "number"),
    ("maximum", "number"),
    ("multipleOf", "number"),
)


def _merge(flat_schema: dict[str, Any], right: Mapping[str, Any]) -> None:
    for key, value in right.items():
        if key in _RESOLVED_KEYWORDS:
            continue
        if key not in flat_schema:
            flat_schema[key] = value
        elif key not in _ANNOTATIONS and flat_schema[key] is not value:
            flat_schema[key] = _combine(key, flat_schema[key], value)


def _combine(key: str, left: Any, right: Any) -> Any:
    """Return the value of a keyword that means both values."""
    combine = _COMBINERS.get(key)
    if combine is not None:
        return combine(left, right)
    if isinstance(left, str | int | float) and is_same_json(left, right):
        return left
    raise UnsupportedSchema


def _combine_properties(left: Any, right: Any) -> dict[str, Any]:
    shared = {name: {"allOf": [left[name], right[name]]} for name in left if name in right}
    return {**left, **right, **shared}


def _combine_schemas(left: Any, right: Any) -> Any:
    if left is False or right is False:
        return False
    if left is True or left == {}:
        return right
    if right is True or right == {}:
        return left
    return {"allOf": [left, right]}


def _intersect(left: Any, right: Any) -> Any:
    left_values = left if isinstance(left, list) else [left]
    right_values = right if isinstance(right, list) else [right]
    if "number" in right_values and "integer" in left_values:
        right_values = [*right_values, "integer"]
    if "number" in left_values and "integer" in right_values:
        left_values = [*left_values, "integer"]
    # Values are compared pair by pair, so only a few scalars are supported.
    is_small = len(left_values) * len(right_values) <= _MAX_COMPARISONS
    if not is_small or any(
        isinstance(value, dict | list) for value in [*left_values, *right_values]
    ):
        raise UnsupportedSchema
    common = [
        value for value in left_values if any(is_same_json(value, item) for item in right_values)
    ]
    if not common:
        raise UnsupportedSchema
    return common[-1] if len(common) == 1 and not isinstance(left, list) else common


_COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "properties": _combine_properties,
    "required": lambda left, right: [*left, *(name for name in right if name not in left)],
    "items": lambda left, right: {"allOf": [left, right]},
    "additionalProperties": _combine_schemas,
    "unevaluatedProperties": _combine_schemas,
    "type": _intersect,
    "enum": _intersect,
    **dict.fromkeys(("readOnly", "uniqueItems", "writeOnly", "deprecated"), operator.or_),
    **dict.fromkeys(("minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum"), min),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), min),
}
