"""Schema violations as errors of the form fields that can fix them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from inbox.forms import labels
from inbox.forms.form_nodes import Node
from inbox.forms.submission_reader import Path, SubmissionReader
from inbox.rules.schema.schemas import SchemaViolation, find_violations
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.safe_text import escape_invisible

#: Keywords about a whole object, which cannot be checked while members are excluded.
_WHOLE_OBJECT_KEYWORDS = {"oneOf", "anyOf", "not", "minProperties"}


def add_schema_errors(
    reader: SubmissionReader, *, schema: Mapping[str, Any], value: Any, excluded: Collection[str]
) -> None:
    """
    Add an error to a field for each schema violation of the value.

    `excluded` members, which have fields elsewhere on the page, are not reported as missing. The
    complete answer is validated again before it is stored.
    """
    for violation in find_violations(schema=schema, value=value):
        is_incomplete = (
            violation.keyword in _WHOLE_OBJECT_KEYWORDS
            or violation.detail.get("property") in excluded
        )
        if violation.path or not excluded or not is_incomplete:
            _add_error(reader, violation, 0)


def add_empty_group_errors(reader: SubmissionReader) -> None:
    """Add an error to each required group that is empty and has no error yet."""
    for path, nodes in list(reader.nodes_by_path.items()):
        for node in nodes:
            if path and node.is_empty and not _has_error(reader, path):
                reader.add_error(node, path, labels.missing_text(node))


def _add_error(reader: SubmissionReader, violation: SchemaViolation, level: int) -> None:
    path = violation.path
    missing = violation.detail.get("property")
    if violation.keyword == "required" and (*path, missing) in reader.nodes_by_path:
        path = (*path, str(missing))
        node = reader.nodes_by_path[path][0]
        if not node.problems and not _has_error(reader, path):
            reader.add_error(node, path, labels.missing_text(node))
        return
    while path not in reader.nodes_by_path:
        path = path[:-1]
    nodes = reader.nodes_by_path[path]
    if violation.branches and path == violation.path:
        branch_number = _branch_number(nodes, violation.keyword, level)
        if (
            branch_number is not None
            and branch_number < len(violation.branches)
            and violation.branches[branch_number]
        ):
            for inner in violation.branches[branch_number]:
                _add_error(reader, inner, level + 1)
            return
    node = nodes[-1]
    if any(error_path == path for error_path, _ in reader.errors):
        return  # the field already has a parse error
    text = labels.error_text(
        violation.keyword, violation.detail, violation.message if reader.may_quote_values else ""
    )
    if path != violation.path:
        place = escape_invisible(pointer(violation.path[len(path) :]))
        text = gettext("At {pointer}: {problem}").format(pointer=place, problem=text)
    reader.add_error(node, path, text)


def _branch_number(nodes: Sequence[Node], keyword: str, level: int) -> int | None:
    """Return the branch that the person fills in; `level` counts nested unions of one path."""
    numbers = [
        number for node in nodes for union, number in node.resolved_branches if union == keyword
    ]
    return numbers[min(level, len(numbers) - 1)] if numbers else None


def _has_error(reader: SubmissionReader, path: Path) -> bool:
    """Return whether there is an error at the path or below it."""
    return any(error_path[: len(path)] == path for error_path, _ in reader.errors)
