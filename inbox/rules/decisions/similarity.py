"""Similar requests: similarity key, differing arguments, and the search text of a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inbox.rules.decisions.consent import canonical_json, digest

SEARCH_CHARACTERS = 8_000
#: Characters that no database stores.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def similarity_key(*, agent: str, tool: str, args: Any, schema: Mapping[str, Any] | None) -> str:
    """
    Return a digest that is equal for requests that differ only in the values of their arguments.

    They have the same agent and tool, the same paths with the same JSON types, and the same
    response schema. All items of a list have the same path.
    """
    types = sorted({(*path, _type_of(value)) for path, value in _walk(args)})
    return digest(canonical_json([agent, tool, [list(entry) for entry in types], schema]))


def flatten_arguments(args: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values of arguments by path, `a.b` for members of nested objects.

    A list is one value, and so is an empty object. Paths are unique and never empty: an empty name
    is written as `""`.
    """
    values: dict[str, Any] = {}
    stack: list[tuple[str, Any]] = [("", args)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Mapping) and value:
            before = f"{path}." if path else ""
            stack += [(before + _escaped(name), value[name]) for name in reversed(value)]
        elif path:  # only the root has an empty path
            values[path] = value
    return values


def differing_paths(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths at which the rows do not all have the same value, in first-seen order."""
    paths = dict.fromkeys(path for row in rows for path in row)
    return [
        path
        for path in paths
        if len({canonical_json(row[path]) if path in row else None for row in rows}) > 1
    ]


def search_text_of(*texts: str, args: Any = None) -> str:
    """Return the casefolded text that a search looks at, with names and values of arguments."""
    parts = [*texts, *(text for text in _texts(args))]
    # Casefolding may make a text longer.
    text = _UNSTORABLE.sub("\ufffd", " ".join(parts)[:SEARCH_CHARACTERS])
    return " ".join(text.split()).casefold()[:SEARCH_CHARACTERS]


def _escaped(name: str) -> str:
    if not name:
        return '""'
    return name.replace("\\", "\\\\").replace(".", "\\.").replace('"', '\\"')


def _walk(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every value with its path, without recursion; items of a list share a path."""
    stack: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, Mapping):
            stack += [((*path, f".{name}"), child) for name, child in node.items()]
        elif isinstance(node, list):
            stack += [((*path, "*"), child) for child in node]


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names = {str: "string", dict: "object", list: "array", type(None): "null"}
    return names[type(value)]


def _texts(value: Any) -> Iterator[str]:
    """Yield names and scalars in order, without recursion."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, Mapping):
            for name in reversed(node):
                stack += [node[name], name]
        elif isinstance(node, list):
            stack += reversed(node)
        elif node is not None:
            yield canonical_json(node)
