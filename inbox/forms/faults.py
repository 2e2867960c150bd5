"""What the validator found, said beside the field where it can be put right."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from inbox.forms import wording
from inbox.forms.nodes import Node
from inbox.forms.reading import Path, Reader
from inbox.rules.schema.schemas import SchemaViolation, find_violations
from inbox.rules.text.safe_text import escape_invisible

#: What says something about all members of an object: not to be judged while some are left out.
_ABOUT_ALL = {"oneOf", "anyOf", "not", "minProperties"}


def blame_faults(
    reader: Reader, *, schema: Mapping[str, Any], value: Any, leave_out: Collection[str]
) -> None:
    """
    Put what is wrong with the value on the fields.

    What the page asks for elsewhere (`leave_out`) is not missing here; the whole answer is checked
    again before it is taken.
    """
    for fault in find_violations(schema=schema, value=value):
        is_elsewhere = fault.keyword in _ABOUT_ALL or fault.detail.get("property") in leave_out
        if fault.path or not leave_out or not is_elsewhere:
            _blame(reader, fault, 0)


def blame_empty_groups(reader: Reader) -> None:
    """Ask about groups that have to be there, of which nothing was said and nothing is missing."""
    for path, nodes in list(reader.places.items()):
        for node in nodes:
            if path and node.is_empty and not any(_starts(at, path) for at, _ in reader.wrong):
                reader.blame(node, path, wording.enter(node))


def pointer_of(path: Sequence[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _blame(reader: Reader, fault: SchemaViolation, level: int) -> None:
    path = fault.path
    missing = fault.detail.get("property")
    if fault.keyword == "required" and (*path, missing) in reader.places:
        path = (*path, str(missing))
        node = reader.places[path][0]
        if not node.problems and not any(_starts(at, path) for at, _ in reader.wrong):
            reader.blame(node, path, wording.enter(node))
        return
    while path not in reader.places:
        path = path[:-1]
    nodes = reader.places[path]
    if fault.branches and path == fault.path:
        chosen = _chosen(nodes, fault.keyword, level)
        if chosen is not None and chosen < len(fault.branches) and fault.branches[chosen]:
            for inner in fault.branches[chosen]:
                _blame(reader, inner, level + 1)
            return
    node = nodes[-1]
    if any(at == path for at, _ in reader.wrong):
        return  # one thing at a time: what could not be read is not judged as well
    text = wording.fault_text(
        fault.keyword, fault.detail, fault.message if reader.tells_values else ""
    )
    if path != fault.path:
        text = wording.inside(escape_invisible(pointer_of(fault.path[len(path) :])), text)
    reader.blame(node, path, text)


def _chosen(nodes: Sequence[Node], keyword: str, level: int) -> int | None:
    """Which branch the person is filling in: of the choices at one place, the outermost first."""
    numbers = [number for node in nodes for known, number in node.choices if known == keyword]
    return numbers[min(level, len(numbers) - 1)] if numbers else None


def _starts(path: Path, beginning: Path) -> bool:
    return path[: len(beginning)] == beginning
