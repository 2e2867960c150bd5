"""What makes requests alike, how alike ones differ, and what a search looks through."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inbox.rules.decisions.consent import canonical_json, digest

SEARCH_CHARACTERS = 8_000


def similarity_key(*, agent: str, tool: str, args: Any, schema: Mapping[str, Any] | None) -> str:
    """
    The digest that requests share if they differ in the values of their arguments only.

    The same agent, the same tool, the same names at the same places with the same JSON types, and
    the same answers asked for. The places in a list are one place.
    """
    types = sorted({(*path, _type_of(value)) for path, value in _walk(args)})
    return digest(canonical_json([agent, tool, [list(entry) for entry in types], schema]))


def flatten_arguments(args: Mapping[str, Any]) -> dict[str, Any]:
    """
    The values of arguments by their place, `a.b` for what is in an object.

    A list is one value, and so is an object without anything in it. No two values share a place,
    and none has the place "": a name without characters is spelled `""`.
    """
    found: dict[str, Any] = {}
    stack: list[tuple[str, Any]] = [("", args)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, Mapping) and value:
            before = f"{path}." if path else ""
            stack += [(before + _escaped(name), value[name]) for name in reversed(value)]
        elif path:  # only the root has none
            found[path] = value
    return found


def differing_paths(leaves: Sequence[Mapping[str, Any]]) -> list[str]:
    """The places at which these do not all have the same value, in the order of the first."""
    places = dict.fromkeys(place for one in leaves for place in one)
    return [
        place
        for place in places
        if len({canonical_json(one[place]) if place in one else None for one in leaves}) > 1
    ]


def search_text_of(*texts: str, args: Any = None) -> str:
    """Everything a search may find, casefolded, names and values of the arguments included."""
    parts = [*texts, *(text for text in _texts(args))]
    # A casefolded text may be longer than it was.
    return " ".join(" ".join(parts)[:SEARCH_CHARACTERS].split()).casefold()[:SEARCH_CHARACTERS]


def _escaped(name: str) -> str:
    if not name:
        return '""'
    return name.replace("\\", "\\\\").replace(".", "\\.").replace('"', '\\"')


def _walk(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value with its path, without recursion; the places in a list are one place."""
    stack: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while stack:
        path, found = stack.pop()
        yield path, found
        if isinstance(found, Mapping):
            stack += [((*path, f".{name}"), child) for name, child in found.items()]
        elif isinstance(found, list):
            stack += [((*path, "*"), child) for child in found]


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names = {str: "string", dict: "object", list: "array", type(None): "null"}
    return names[type(value)]


def _texts(value: Any) -> Iterator[str]:
    """Names and scalars in the order written, without recursion."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping):
            for name in reversed(found):
                stack += [found[name], name]
        elif isinstance(found, list):
            stack += reversed(found)
        elif found is not None:
            yield canonical_json(found)
