"""
Patterns that no linear-time engine can compile: what is left of a schema when they are not checked.

Look-ahead and back-references are common in schemas made by zod, and running them means running a
backtracking engine on texts of strangers. So the pattern alone is left out (the form says so), and
wherever leaving it out would refuse what the agent meant to allow, a little more is left out:

- under `not` and `if`, less to match means more to refuse: the whole keyword is not checked;
- `oneOf` becomes `anyOf`, because branches told apart only by such a pattern would both match;
- `maxContains` goes, because more items would count;
- `patternProperties` under such a pattern: nobody can say which keys it is about, so a key that no
  property names may satisfy either its schema or `additionalProperties`. Every value is still held
  against one of the two; only which of them is not known. Beside `unevaluatedProperties` even that
  cannot be said, and the schema is refused.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import jsonschema_rs

from inbox.rules.schema.schema_cost import SchemaRejected, resolve_reference

_SIZE_LIMIT = 1 << 20
LINEAR = jsonschema_rs.RegexOptions(size_limit=_SIZE_LIMIT)

_ONE = (
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "contains",
    "unevaluatedItems",
    "not",
    "if",
    "then",
    "else",
)
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
#: What is not checked where a pattern that cannot be checked stands under the keyword.
_UNSURE = {"not": {"not"}, "if": {"if", "then", "else"}, "contains": {"maxContains"}}


@lru_cache(maxsize=2048)
def is_pattern_checked(pattern: str) -> bool:
    """Whether the server matches this pattern; False for what only a backtracking engine can."""
    return _compiles(pattern, LINEAR)


def without_unchecked_patterns(schema: Any) -> Any:
    """
    The schema as it is checked: the same, unless it has patterns that cannot be.

    Raises:
        SchemaRejected: what would be left does not mean anything that could be relied on.
    """
    return _Relaxer(schema).loosened()


@lru_cache(maxsize=2048)
def _is_only_too_strong(pattern: str) -> bool:
    """Whether it is a pattern at all; it is compiled for that, never run."""
    if is_pattern_checked(pattern):
        return False
    return _compiles(pattern, jsonschema_rs.FancyRegexOptions(size_limit=_SIZE_LIMIT))


def _compiles(pattern: str, engine: Any) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=engine)
    except ValueError:
        return False
    return True


class _Relaxer:
    def __init__(self, root: Any) -> None:
        self._root = root

    def loosened(self) -> Any:
        parts = list(_schemas_in(self._root))
        if not any(map(_has_unchecked, parts)):
            return self._root
        for part in parts:
            if _unchecked_keys(part) and any("unevaluatedProperties" in p for p in parts):
                raise SchemaRejected(
                    "a pattern for the names of properties cannot be checked beside "
                    "unevaluatedProperties"
                )
        return self._loosen(self._root)

    def _loosen(self, node: Any) -> Any:
        if not isinstance(node, Mapping):
            return node
        kept = self._without_doubt(node)
        for keyword in _ONE:
            if keyword in kept:
                kept[keyword] = self._loosen(kept[keyword])
        for keyword in _MANY:
            if isinstance(kept.get(keyword), list):
                kept[keyword] = [self._loosen(part) for part in kept[keyword]]
        for keyword in _NAMED:
            if isinstance(kept.get(keyword), Mapping):
                kept[keyword] = {key: self._loosen(part) for key, part in kept[keyword].items()}
        return kept

    def _without_doubt(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """This one schema without the keywords that an unchecked pattern makes unsure."""
        gone = {"pattern"} if _is_unchecked(node.get("pattern")) else set()
        for keyword, keywords in _UNSURE.items():
            if self._leads_to_unchecked(node.get(keyword)):
                gone |= keywords
        kept = {keyword: value for keyword, value in node.items() if keyword not in gone}
        if self._leads_to_unchecked({"allOf": node.get("oneOf", [])}):
            kept["allOf"] = [*kept.get("allOf", []), {"anyOf": kept.pop("oneOf")}]
        _loosen_names(kept)
        return kept

    def _leads_to_unchecked(self, node: Any) -> bool:
        """Whether an unchecked pattern is in the schema or in anything that it refers to."""
        seen: set[int] = set()
        waiting = [node]
        while waiting:
            for part in _schemas_in(waiting.pop()):
                if id(part) in seen:
                    continue
                seen.add(id(part))
                if _has_unchecked(part):
                    return True
                if isinstance(part.get("$ref"), str):
                    waiting.append(resolve_reference(self._root, part["$ref"]))
        return False


def _loosen_names(kept: dict[str, Any]) -> None:
    unchecked = _unchecked_keys(kept)
    if not unchecked:
        return
    patterns = dict(kept["patternProperties"])
    either = [patterns.pop(pattern) for pattern in unchecked]
    kept["patternProperties"] = patterns
    kept["additionalProperties"] = {"anyOf": [*either, kept.get("additionalProperties", True)]}


def _unchecked_keys(node: Mapping[str, Any]) -> list[str]:
    patterns = node.get("patternProperties")
    return [key for key in patterns if _is_unchecked(key)] if isinstance(patterns, Mapping) else []


def _has_unchecked(node: Mapping[str, Any]) -> bool:
    return _is_unchecked(node.get("pattern")) or bool(_unchecked_keys(node))


def _is_unchecked(pattern: Any) -> bool:
    return isinstance(pattern, str) and _is_only_too_strong(pattern)


def _schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """
    Every schema of the document, where keywords say that there is one.

    Not every object: an `enum` may hold something that only looks like a schema.
    """
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        yield node
        waiting += [node[keyword] for keyword in _ONE if keyword in node]
        for keyword in _MANY:
            if isinstance(node.get(keyword), list):
                waiting += node[keyword]
        for keyword in _NAMED:
            if isinstance(node.get(keyword), Mapping):
                waiting += node[keyword].values()
