"""Checks of agents' JSON Schemas, and of answers against them."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import MAX_VISITS, SchemaRejected, check_cost
from inbox.rules.schema.schema_regex import LINEAR, without_unchecked_patterns
from inbox.rules.schema.schema_walk import BRANCHES, json_nodes, walk
from inbox.rules.schema.secrets import Path, Secrets, pointer
from inbox.rules.text.messages import TranslatableMessage

MAX_BYTES = 64 * 1024
MAX_NODES = 2_000
MAX_DEPTH = 24
MAX_PROBLEMS = 20
#: Characters that the errors of one value may copy in the worst case.
MAX_COPIED = 32 * 1024 * 1024
TOO_LARGE_TO_SAY = TranslatableMessage(
    "The value does not match the schema, and is too large to locate the error."
)
#: The schema of approvals without one from the agent: only a boolean approves.
APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
#: Answer schemas by reason, if the agent sends none (AG-UI, reason taxonomy).
DEFAULT_SCHEMAS: dict[str, dict[str, Any]] = {
    "tool_call": APPROVAL,
    "confirmation": {"type": "boolean"},
}
#: An agent's own approval schema is checked together with this: `"true"` and 1 never approve.
APPROVAL_FLOOR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {"type": "object"},
        "reason": {"type": ["string", "null"]},
    },
    "required": ["approved"],
}


#: The schema of questions that ask to approve, without one from the agent.
YES_NO_OR_TEXT: dict[str, Any] = {
    "anyOf": [
        {"type": "boolean", "title": "Yes or no"},
        {"type": "string", "title": "Text", "minLength": 1},
        # Clients of such agents send what they agreed on, as before.
        {"type": ["object", "array", "number", "null"], "title": "JSON"},
    ]
}


def check_schema(schema: Mapping[str, Any]) -> None:
    """
    Raise SchemaRejected unless answers can be checked against this schema safely.

    References stay inside the document (`#/$defs/...`), nothing is fetched, patterns run in a
    linear-time engine or not at all, and the work for one value is bounded.
    """
    try:
        text = _text(schema)
    except ValueError as error:
        raise SchemaRejected(str(error)) from error
    _check_text(text)


@lru_cache(maxsize=512)
def _check_text(text: str) -> None:
    schema = json.loads(text)
    if len(text) > MAX_BYTES:
        raise SchemaRejected(f"the schema is larger than {MAX_BYTES // 1024} KiB")
    for count, (depth, node) in enumerate(json_nodes(schema)):
        if count >= MAX_NODES:
            raise SchemaRejected(f"the schema has more than {MAX_NODES} parts")
        if depth > MAX_DEPTH:
            raise SchemaRejected(f"the schema is nested deeper than {MAX_DEPTH}")
        if isinstance(node, Mapping):
            _check_references(node)
    _validator(text)
    check_cost(schema)
    check_cost(without_unchecked_patterns(schema))


def member_schema(schema: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    """
    Return the schema of one property as a separate document, None if that is not possible.

    Definitions are included. A property that refers to another place of the document cannot be
    separated; the complete answer is checked anyway.
    """
    properties = (schema or {}).get("properties")
    member = properties.get(name) if isinstance(properties, Mapping) else None
    if schema is None or not isinstance(member, Mapping):
        return None
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    alone = {**member, **shared}
    try:
        check_schema(alone)
    except SchemaRejected:
        return None
    return alone


def named_members(schema: Mapping[str, Any] | None) -> frozenset[str]:
    """
    Return the properties that a schema defines, also in its branches and references.

    Properties with the schema `false` are forbidden and left out.
    """
    return frozenset() if schema is None else _named_members(_text(schema))


def is_closed(schema: Mapping[str, Any] | None) -> bool:
    """Return whether a schema allows no members but those of its `properties`."""
    return schema is not None and schema.get("additionalProperties") is False


@lru_cache(maxsize=512)
def _named_members(text: str) -> frozenset[str]:
    root = json.loads(text)
    names: set[str] = set()
    for part in walk(root, root, BRANCHES):
        properties = part.get("properties") if isinstance(part, dict) else None
        if isinstance(properties, dict):
            names |= {name for name, member in properties.items() if member is not False}
    return frozenset(names)


@dataclass(frozen=True)
class SchemaViolation:
    """One violation of a schema by a value."""

    path: tuple[str | int, ...]
    keyword: str
    detail: Mapping[str, Any]
    message: str
    branches: tuple[
        tuple["SchemaViolation", ...], ...
    ] = ()  #: of `oneOf` and `anyOf`, in their order


def is_valid(*, schema: str, value: Any) -> bool:
    """Return whether a value matches the canonical text of a schema that `check_schema` accepts."""
    return bool(_validator(schema).is_valid(value))


def find_violations(*, schema: Mapping[str, Any], value: Any) -> list[SchemaViolation]:
    """Return the first violations of a value, with those of each branch of a choice."""
    text = _text(schema)
    validator = _validator(text)
    if validator.is_valid(value):
        return []
    # Each error has a copy of the value's part, also inside `anyOf`: 900 branches for two megabytes
    # take gigabytes, while the result "invalid" is cheap.
    if len(json.dumps(value)) * _visits(text) > MAX_COPIED:
        return [SchemaViolation((), "size", {}, TOO_LARGE_TO_SAY)]
    return [_violation(error) for error in islice(validator.iter_errors(value), MAX_PROBLEMS)]


@lru_cache(maxsize=512)
def _visits(text: str) -> int:
    try:
        return check_cost(json.loads(text))
    except SchemaRejected:  # not checked by check_schema
        return MAX_VISITS


def _violation(error: Any) -> SchemaViolation:
    detail = error.kind.as_dict()
    branches = detail.pop("context", ())
    return SchemaViolation(
        path=tuple(error.instance_path),
        keyword=error.kind.name,
        detail=detail,
        message=error.message[:300],
        branches=tuple(
            tuple(_violation(inner) for inner in branch[:MAX_PROBLEMS]) for branch in branches
        ),
    )


def check_answer(*, schema: Mapping[str, Any] | None, reason: str, payload: Any) -> None:
    """
    Raise InvalidPayload unless the payload of a resolved entry matches the schema.

    The error's `problems` are pairs of JSON pointer and sentence. Only a boolean approves a tool
    call, whatever the agent's schema says: a schema must not turn a denial into consent.
    """
    problems: list[tuple[str, str]] = []
    if reason == "tool_call":
        problems += schema_problems(APPROVAL_FLOOR, payload)
    if schema is not None:
        problems += [
            problem for problem in schema_problems(schema, payload) if problem not in problems
        ]
    if problems:
        place, text = problems[0]
        what = f"{place or 'the answer'}: {text}"
        raise InvalidPayload(
            TranslatableMessage("The answer does not match the response schema: {what}", what=what),
            problems=[{"pointer": where, "message": what} for where, what in problems],
        )


def schema_problems(schema: Mapping[str, Any], payload: Any) -> list[tuple[str, str]]:
    """Return the violations of a value as pairs of JSON pointer and sentence."""
    violations = find_violations(schema=schema, value=payload)
    places = Secrets(schema).places(payload) if violations else frozenset()
    return [(pointer(error.path), _error_text(error, places)) for error in violations]


def _error_text(error: SchemaViolation, places: Collection[Path]) -> str:
    """Return the validator's message; a generic one if it could quote a secret."""
    path = error.path
    is_secret = any(place[: len(path)] == path[: len(place)] for place in places)
    may_quote = error.message is not TOO_LARGE_TO_SAY
    return f"does not fit `{error.keyword}`" if is_secret and may_quote else error.message


@lru_cache(maxsize=512)
def _validator(text: str) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator(
            json.dumps(without_unchecked_patterns(json.loads(text))),
            pattern_options=LINEAR,
            validate_formats=True,
            retriever=_refuse_retrieval,
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        raise SchemaRejected(f"not a usable JSON Schema: {str(error)[:300]}") from error


def _refuse_retrieval(uri: str) -> Any:
    raise ValueError(f"reference to another document: {uri[:100]}")


def _text(schema: Mapping[str, Any]) -> str:
    return canonical_json(dict(schema))


#: No anchors or percent-encoding, which `check_cost` does not resolve.
_POINTER = re.compile(r"#(/[^%]*)?")


def _check_references(node: Mapping[str, Any]) -> None:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = node.get(keyword)
        if isinstance(target, str) and not _POINTER.fullmatch(target):
            raise SchemaRejected(
                f"{keyword} is not a plain `#/...` inside the schema: {target[:100]}"
            )
    if isinstance(node.get("$id"), str) or isinstance(node.get("id"), str):
        raise SchemaRejected("$id is not allowed: the schema is its own only document")
