"""AG-UI shapes, and what the trail tells, with masks in the places of secrets."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from inbox.rules.schema.schema_secrets import is_marked
from inbox.rules.schema.secrets import (
    NAMES,
    Secrets,
    is_secret_name,
    masked_strings,
)


def secrets_of_answers(*asked: str) -> Secrets:
    """What is secret in answers to these questions: AG-UI Interrupts as JSON text."""
    return Secrets(*map(_schema_of, asked))


def secrets_of_arguments(*asked: str) -> Secrets:
    """What is secret in the arguments that these questions are about."""
    return Secrets(*map(_schema_of, asked), at="editedArgs")


def masked_interrupt(asked: Mapping[str, Any]) -> dict[str, Any]:
    """An AG-UI Interrupt; the message is for people to read and stays as it is."""
    found = dict(asked)
    if "metadata" in found:
        found["metadata"] = NAMES.masked(found["metadata"])
    if "responseSchema" in found:
        found["responseSchema"] = masked_schema(found["responseSchema"])
    return found


def masked_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event that ends a run."""
    found = {**event}
    if "result" in found:
        found["result"] = NAMES.masked(found["result"])
    outcome: Any = found.get("outcome")
    asked = outcome.get("interrupts") if isinstance(outcome, Mapping) else None
    if isinstance(asked, list):
        found["outcome"] = {**outcome, "interrupts": [masked_interrupt(one) for one in asked]}
    return found


def masked_message(
    message: Mapping[str, Any], asked: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """
    An AG-UI message: the arguments and results in it; what somebody says stays as it is.

    `asked` are the questions about each call, by its id.
    """
    found = {**message}
    if found.get("toolCalls"):
        found["toolCalls"] = [_masked_call(call, asked or {}) for call in found["toolCalls"]]
    content = found.get("content")
    if found.get("role") == "tool" and isinstance(content, str):
        found["content"] = NAMES.json(content)
    elif found.get("role") == "tool" and isinstance(content, list):
        found["content"] = [_masked_part(part) for part in content]
    elif isinstance(content, Mapping):
        found["content"] = NAMES.masked(content)
    return found


def _masked_call(call: Mapping[str, Any], asked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    function = call["function"]
    secrets = secrets_of_arguments(*asked.get(call["id"], ()))
    return {**call, "function": {**function, "arguments": secrets.json(function["arguments"])}}


def _masked_part(part: Any) -> Any:
    """Mask a part of a tool result; its text may be JSON."""
    masked = NAMES.masked(part)
    if isinstance(masked, dict) and isinstance(masked.get("text"), str):
        masked["text"] = NAMES.json(masked["text"])
    return masked


def masked_detail(detail: Mapping[str, Any], *asked: str) -> dict[str, Any]:
    """What an entry of the trail tells: the answer, and the arguments and results as JSON texts."""
    found = dict(detail)
    if "payload" in found:
        found["payload"] = secrets_of_answers(*asked).masked(found["payload"])
    for name, secrets in (("args", secrets_of_arguments(*asked)), ("result", NAMES)):
        if isinstance(found.get(name), str):
            found[name] = secrets.json(found[name])
    return found


def masked_schema(schema: Any) -> Any:
    """A schema without the examples that it gives of secrets; how they have to look stays."""
    if isinstance(schema, list):
        return [masked_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: masked_schema(part) for key, part in schema.items()}
    if is_marked(schema):
        found = _without_examples(found)
    known = found.get("properties")
    if isinstance(known, Mapping):
        found["properties"] = {
            name: _without_examples(part) if is_secret_name(name) else part
            for name, part in known.items()
        }
    return found


def _schema_of(asked: str) -> Any:
    body = json.loads(asked)
    return body.get("responseSchema") if isinstance(body, Mapping) else None


def _without_examples(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    given = ("const", "default", "enum", "example", "examples")
    return {key: masked_strings(part) if key in given else part for key, part in schema.items()}
