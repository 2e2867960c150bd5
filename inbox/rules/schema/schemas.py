"""Checks of agents' JSON Schemas, and of answers against them."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.dialects import in_newest_draft
from inbox.rules.schema.schema_cost import SchemaRejected, Uncheckable, check_cost
from inbox.rules.schema.schema_regex import LINEAR, without_unchecked_patterns
from inbox.rules.schema.schema_walk import BRANCHES, json_nodes, walk, with_references
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
NOT_UNICODE = TranslatableMessage("A text holds half of a character (a lone surrogate).")
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


@dataclass(frozen=True)
class ReadSchema:
    """
    A schema as answers are checked against it: in draft 2020-12, with plain references.

    A legal schema against which answers cannot be checked safely is `{}`, with the reason in
    `unchecked`: answers are JSON, and the agent checks them.
    """

    schema: Mapping[str, Any]
    unchecked: str = ""


def check_schema(schema: Mapping[str, Any]) -> None:
    """
    Raise SchemaRejected unless values can be checked against this schema safely.

    References stay inside the document, nothing is fetched, patterns run in a linear-time engine or
    not at all, and the work for one value is bounded.
    """
    if problem := read_schema(schema).unchecked:
        raise SchemaRejected(problem)


def read_schema(schema: Mapping[str, Any]) -> ReadSchema:
    """
    Return the schema of an agent as answers are checked against it.

    Raises:
        SchemaRejected: it is no JSON Schema of the drafts 4 to 2020-12.
    """
    try:
        text = _text(schema)
    except ValueError as error:
        raise SchemaRejected(str(error)) from error
    read = _read(text)
    if isinstance(read, str):
        return ReadSchema({}, read)
    if read.text == text:
        return ReadSchema(schema)
    # The canonical text has lost the order of the properties.
    return ReadSchema(json.loads(_converted(json.dumps(schema))))


@dataclass(frozen=True)
class _Checked:
    """The canonical text of a schema that was read, and its validator."""

    text: str
    validator: Any


@lru_cache(maxsize=128)
def _converted(text: str) -> str:
    """Return the JSON text of a schema in the newest draft: converting one takes milliseconds."""
    return json.dumps(in_newest_draft(json.loads(text)))


@lru_cache(maxsize=512)
def _read(text: str) -> _Checked | str:
    """Return the checked schema for a canonical text, or why answers cannot be checked."""
    schema = json.loads(text)
    if problem := _size_problem(text, schema):
        return problem
    try:
        schema = in_newest_draft(schema)
        check_cost(schema)
        checked = without_unchecked_patterns(schema)
        check_cost(checked)
    except Uncheckable as error:
        return str(error)
    return _Checked(_text(schema), _validator_of(checked))


def _size_problem(text: str, schema: Any) -> str:
    """Return why a schema is too large, "" for others. A list of scalars is one part."""
    if len(text) > MAX_BYTES:
        return f"the schema is larger than {MAX_BYTES // 1024} KiB"
    parts = 0
    for depth, node in json_nodes(schema):
        parts += isinstance(node, Mapping | list)
        if parts > MAX_NODES:
            return f"the schema has more than {MAX_NODES} parts"
        if depth > MAX_DEPTH:
            return f"the schema is nested deeper than {MAX_DEPTH}"
    return ""


def member_schema(schema: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    """
    Return the schema of one property as a separate document, None if that is not possible.

    Definitions are included. A property that refers to another property cannot be separated; the
    complete answer is checked anyway.
    """
    if schema is not None:
        schema = readable_schema(schema)
    properties = (schema or {}).get("properties")
    member = properties.get(name) if isinstance(properties, Mapping) else None
    if schema is None or not isinstance(member, Mapping):
        return None
    shared = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
    place = f"#/properties/{name}"
    try:
        read = read_schema(
            with_references({**member, **shared}, lambda target: _below(target, place, "#"))
        )
    except SchemaRejected:
        return None
    return None if read.unchecked else read.schema


def moved_schema(schema: Mapping[str, Any], place: str) -> dict[str, Any]:
    """
    Return a document's schema for this place in another document, such as `#/properties/a`.

    Its definitions belong to the root of that document. A schema that cannot be checked is the
    same: its references are not followed.
    """
    readable = readable_schema(schema)
    definitions = ("#/$defs/", "#/definitions/")
    moved: dict[str, Any] = with_references(
        readable,
        lambda target: target if target.startswith(definitions) else _below(target, "#", place),
    )
    return moved


def readable_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema in the newest draft, or as it is if it cannot be read or checked."""
    try:
        read = read_schema(schema)
    except SchemaRejected:
        return schema
    return schema if read.unchecked else read.schema


def _below(target: str, old: str, new: str) -> str:
    is_below = target == old or target.startswith(f"{old}/")
    return f"{new}{target[len(old) :]}" if is_below else target


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
    read = _read(text)
    root = json.loads(text if isinstance(read, str) else read.text)
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
    read = _read(schema)
    return isinstance(read, str) or bool(read.validator.is_valid(value))


def find_violations(*, schema: Mapping[str, Any], value: Any) -> list[SchemaViolation]:
    """Return the first violations of a value, with those of each branch of a choice."""
    read = _read(_text(schema))
    try:
        if isinstance(read, str) or read.validator.is_valid(value):
            return []
    except UnicodeError:  # the validator takes no lone surrogates
        return [SchemaViolation((), "text", {}, NOT_UNICODE)]
    # Each error has a copy of the value's part, also inside `anyOf`: 900 branches for two megabytes
    # take gigabytes, while the result "invalid" is cheap.
    if len(json.dumps(value)) * check_cost(json.loads(read.text)) > MAX_COPIED:
        return [SchemaViolation((), "size", {}, TOO_LARGE_TO_SAY)]
    return [_violation(error) for error in islice(read.validator.iter_errors(value), MAX_PROBLEMS)]


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


def _validator_of(schema: Mapping[str, Any]) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator(
            json.dumps(schema),
            pattern_options=LINEAR,
            validate_formats=True,
            retriever=_refuse_retrieval,
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        problem = str(error).partition("\n")[0]
        raise SchemaRejected(f"not a usable JSON Schema: {problem[:300]}") from error


def _refuse_retrieval(uri: str) -> Any:
    raise ValueError(f"reference to another document: {uri[:100]}")


def _text(schema: Mapping[str, Any]) -> str:
    return canonical_json(dict(schema))
