"""JSON Schemas in workers: what this validator cannot check stays unchecked, and fails nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

#: The meta-schemas' format `regex` is left out: Python's `re` refuses legal patterns.
_NO_FORMATS = FormatChecker(formats=())


def schema_error(schema: Mapping[str, Any]) -> SchemaError | None:
    """Return why this is no JSON Schema in the dialect that it declares, None if it is one."""
    try:
        _class_of(schema).check_schema(dict(schema), format_checker=_NO_FORMATS)  # type: ignore[call-arg]
    except SchemaError as error:
        return error
    return None


def schema_violations(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """
    Return the violations of a value.

    None are known of a schema that refers to another document, which is not fetched, of one that
    refers to itself without an end, and of one with a pattern that `re` cannot compile.
    """
    if any(map(_refers_outside, _objects(schema))):
        return []
    try:
        return list(_class_of(schema)(dict(schema)).iter_errors(value))
    except (re.error, RecursionError):
        return []


def _class_of(schema: Mapping[str, Any]) -> type[Validator]:
    return validator_for(schema, default=Draft202012Validator)


def _refers_outside(node: Mapping[str, Any]) -> bool:
    references = (node.get(keyword) for keyword in ("$ref", "$dynamicRef"))
    return any(isinstance(target, str) and not target.startswith("#") for target in references)


def _objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
