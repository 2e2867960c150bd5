"""What a schema says about one value: references followed, `allOf` put together, work counted."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inbox.forms.values import Comparer, has_type, same

#: How much one plan may look at; the work gate bounds validation, this bounds planning.
MAX_STEPS = 20_000
_FEW_PAIRS = 400
_BRANCHES_DEEP = 4

#: Keywords that a form cannot show: such a node is edited as JSON.
NOT_SHOWN = {
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
_LOOKED_THROUGH = {"$ref", "allOf", "$defs", "definitions", "$schema"}
_ONLY_CHECKS = {"required", "dependentRequired", "minProperties", "maxProperties", "title"}


class NotPlain(Exception):
    """The schema says more than a form can show."""


class Schemas:
    """The schemas of one document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self.steps = 0
        self.values = Comparer()

    def flat(self, schema: Any) -> dict[str, Any]:
        """
        The schema without `$ref` and `allOf`.

        Raises:
            NotPlain: it cannot be put together plainly, or only with more work than is allowed.
        """
        return self._flat(schema, ())

    def fits(self, schema: Any, value: Any, depth: int = 3) -> bool:
        """Whether the value looks like this branch: cheap, for the choice; the gate validates."""
        try:
            flat = self.flat(schema)
        except NotPlain:
            return False
        offered = [flat["const"]] if "const" in flat else flat.get("enum")
        if offered is not None and not any(self._offers(option, value) for option in offered):
            return False
        types = types_of(flat)
        if types and not any(has_type(value, name) for name in types):
            return False
        return depth == 0 or self._fits_inside(flat, value, depth)

    def _fits_inside(self, flat: Mapping[str, Any], value: Any, depth: int) -> bool:
        if isinstance(value, Mapping) and not self._fits_object(flat, value, depth):
            return False
        if isinstance(value, list) and "items" in flat:
            return all(self.fits(flat["items"], item, depth - 1) for item in value[:20])
        branches = flat.get("oneOf") or flat.get("anyOf")
        return not branches or any(self.fits(branch, value, depth - 1) for branch in branches)

    def only_checks(self, branches: Sequence[Any]) -> bool:
        """Whether the branches only say which of the known fields belong together."""
        return all(
            isinstance(branch, Mapping) and branch.keys() <= _ONLY_CHECKS for branch in branches
        )

    def _fits_object(self, flat: Mapping[str, Any], value: Mapping[str, Any], depth: int) -> bool:
        properties = flat.get("properties", {})
        if not all(name in value for name in flat.get("required", ())):
            return False
        if flat.get("additionalProperties") is False and value.keys() - properties.keys():
            return False
        return all(
            self.fits(properties[name], member, depth - 1)
            for name, member in value.items()
            if name in properties
        )

    def _flat(self, schema: Any, seen: tuple[int, ...]) -> dict[str, Any]:
        self._count()
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise NotPlain
        self._count(len(schema) + len(schema.get("required", ())))
        flat = {key: value for key, value in schema.items() if key not in _LOOKED_THROUGH}
        target = schema.get("$ref")
        if isinstance(target, str):
            found = self._resolve(target)
            if id(found) not in seen:  # a reference to nothing but itself says nothing
                _merge(flat, self._flat(found, (*seen, id(found))))
        for part in schema.get("allOf", ()):
            _merge(flat, self._flat(part, seen))
        return flat

    def _resolve(self, reference: str) -> Any:
        node = self._root
        for raw in reference.removeprefix("#").split("/")[1:]:
            part = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
                node = node[int(part)]
            else:
                raise NotPlain
        return node

    def _offers(self, option: Any, value: Any) -> bool:
        self._count()
        return self.values.same(option, value)

    def _count(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise NotPlain


def root_of(schema: Any) -> dict[str, Any] | None:
    """The schema without `$ref` and `allOf`; None if it is not plain."""
    try:
        return Schemas(schema).flat(schema)
    except NotPlain:
        return None


def members_of(schema: Any) -> set[str] | None:
    """The names that a schema has something to say of, in its branches too; None if not plain."""
    try:
        return _members(Schemas(schema), schema, _BRANCHES_DEEP)
    except NotPlain:
        return None


def _members(schemas: Schemas, schema: Any, depth: int) -> set[str]:
    if not depth:
        raise NotPlain
    flat = schemas.flat(schema)
    if "patternProperties" in flat or flat.get("minProperties", 0) > 1:
        raise NotPlain  # it asks for more than it names
    found = {*flat.get("properties", ()), *flat.get("required", ())}
    parts = [*flat.get("oneOf", ()), *flat.get("anyOf", ())]
    parts += [flat[keyword] for keyword in ("then", "else") if keyword in flat]
    for part in parts:
        if part is not False:
            found |= _members(schemas, part, depth - 1)
    return found


def types_of(flat: Mapping[str, Any]) -> list[str]:
    """The types that a flat schema names."""
    named = flat.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def implied_type(flat: Mapping[str, Any]) -> str | None:
    """The type that the keywords speak of, where the schema does not name one."""
    for keyword, name in _IMPLIED:
        if keyword in flat:
            return name
    return None


_IMPLIED = (
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


def _merge(flat: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if key not in flat:
            flat[key] = value
        elif key not in _ANNOTATIONS and flat[key] is not value:
            flat[key] = _both(key, flat[key], value)


def _both(key: str, one: Any, other: Any) -> Any:
    """What holds if both values of a keyword hold."""
    join = _JOINS.get(key)
    if join is not None:
        return join(one, other)
    if isinstance(one, str | int | float) and same(one, other):
        return one
    raise NotPlain


def _joined_properties(one: Any, other: Any) -> dict[str, Any]:
    shared = {name: {"allOf": [one[name], other[name]]} for name in one if name in other}
    return {**one, **other, **shared}


def _narrower(one: Any, other: Any) -> Any:
    if one is False or other is False:
        return False
    if one is True or one == {}:
        return other
    if other is True or other == {}:
        return one
    return {"allOf": [one, other]}


def _common(one: Any, other: Any) -> Any:
    ones = one if isinstance(one, list) else [one]
    others = other if isinstance(other, list) else [other]
    if "number" in others and "integer" in ones:
        others = [*others, "integer"]
    if "number" in ones and "integer" in others:
        ones = [*ones, "integer"]
    # Compared pair by pair: a few plain values, or it is no form.
    few = len(ones) * len(others) <= _FEW_PAIRS
    if not few or any(isinstance(value, dict | list) for value in [*ones, *others]):
        raise NotPlain
    common = [value for value in ones if any(same(value, item) for item in others)]
    if not common:
        raise NotPlain
    return common[-1] if len(common) == 1 and not isinstance(one, list) else common


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "properties": _joined_properties,
    "required": lambda one, other: [*one, *(name for name in other if name not in one)],
    "items": lambda one, other: {"allOf": [one, other]},
    "additionalProperties": _narrower,
    "unevaluatedProperties": _narrower,
    "type": _common,
    "enum": _common,
    **dict.fromkeys(("readOnly", "uniqueItems", "writeOnly", "deprecated"), operator.or_),
    **dict.fromkeys(("minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum"), min),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), min),
}
