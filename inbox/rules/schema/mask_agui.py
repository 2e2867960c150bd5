"""Masking of secrets in AG-UI objects and audit details."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from inbox.rules.decisions.consent import SIGNOFF
from inbox.rules.schema.schema_secrets import is_marked
from inbox.rules.schema.secrets import (
    NAMES,
    Secrets,
    is_secret_name,
    masked_strings,
)

#: The member of `metadata.signoff` with JSON Pointers to secret arguments.
SECRETS = "secrets"
_MAX_POINTER_PARTS = 20


def secrets_of_answers(*interrupts: str) -> Secrets:
    """Return the secrets of answers to these AG-UI Interrupts, given as JSON text."""
    return Secrets(*map(_schema_of, interrupts))


def secrets_of_arguments(*interrupts: str) -> Secrets:
    """Return the secrets of the tool arguments of these interrupts."""
    bodies = [json.loads(interrupt) for interrupt in interrupts]
    return Secrets(*(part for body in bodies for part in argument_schemas(body)), at="editedArgs")


def argument_schemas(interrupt: Any) -> list[Any]:
    """Return the schemas of answers that may mark arguments as secret, of an AG-UI Interrupt."""
    if not isinstance(interrupt, Mapping):
        return []
    schemas = [interrupt.get("responseSchema")]
    metadata = interrupt.get("metadata")
    signoff = metadata.get(SIGNOFF) if isinstance(metadata, Mapping) else None
    pointers = signoff.get(SECRETS) if isinstance(signoff, Mapping) else None
    if isinstance(pointers, list):
        schemas += [_marked(pointer) for pointer in pointers if isinstance(pointer, str)]
    return schemas


def _marked(pointer: str) -> dict[str, Any]:
    """Return a schema that marks one value of `editedArgs`, an item of a list or a member."""
    schema: dict[str, Any] = {"writeOnly": True}
    for part in reversed(pointer.split("/")[1:][:_MAX_POINTER_PARTS]):
        name = part.replace("~1", "/").replace("~0", "~")
        schema = (
            {"properties": {name: schema}, "items": schema}
            if name.isdecimal()
            else {"properties": {name: schema}}
        )
    return {"properties": {"editedArgs": schema}}


def masked_interrupt(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Mask an AG-UI Interrupt, except its message, which is for people."""
    masked = dict(interrupt)
    if "metadata" in masked:
        masked["metadata"] = NAMES.masked(masked["metadata"])
    if "responseSchema" in masked:
        masked["responseSchema"] = masked_schema(masked["responseSchema"])
    return masked


def masked_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Mask the event that ends a run."""
    masked = {**event}
    if "result" in masked:
        masked["result"] = NAMES.masked(masked["result"])
    outcome: Any = masked.get("outcome")
    interrupts = outcome.get("interrupts") if isinstance(outcome, Mapping) else None
    if isinstance(interrupts, list):
        masked["outcome"] = {
            **outcome,
            "interrupts": [masked_interrupt(interrupt) for interrupt in interrupts],
        }
    return masked


def masked_message(
    message: Mapping[str, Any], interrupts_by_call: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """
    Mask the arguments and results in an AG-UI message; texts stay unchanged.

    `interrupts_by_call` are the interrupts about each call, by its id.
    """
    masked = {**message}
    if masked.get("toolCalls"):
        masked["toolCalls"] = [
            _masked_call(call, interrupts_by_call or {}) for call in masked["toolCalls"]
        ]
    content = masked.get("content")
    if masked.get("role") == "tool" and isinstance(content, str):
        masked["content"] = NAMES.json(content)
    elif masked.get("role") == "tool" and isinstance(content, list):
        masked["content"] = [_masked_part(part) for part in content]
    elif isinstance(content, Mapping):
        masked["content"] = NAMES.masked(content)
    return masked


def _masked_call(
    call: Mapping[str, Any], interrupts_by_call: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    function = call["function"]
    secrets = secrets_of_arguments(*interrupts_by_call.get(call["id"], ()))
    return {**call, "function": {**function, "arguments": secrets.json(function["arguments"])}}


def _masked_part(part: Any) -> Any:
    """Mask a part of a tool result; its text may be JSON."""
    masked = NAMES.masked(part)
    if isinstance(masked, dict) and isinstance(masked.get("text"), str):
        masked["text"] = NAMES.json(masked["text"])
    return masked


def masked_detail(detail: Mapping[str, Any], *interrupts: str) -> dict[str, Any]:
    """Mask the detail of an audit entry: the answer, and arguments and results as JSON texts."""
    masked = dict(detail)
    if "payload" in masked:
        masked["payload"] = secrets_of_answers(*interrupts).masked(masked["payload"])
    for name, secrets in (("args", secrets_of_arguments(*interrupts)), ("result", NAMES)):
        if isinstance(masked.get(name), str):
            masked[name] = secrets.json(masked[name])
    return masked


def masked_schema(schema: Any) -> Any:
    """Mask examples of secrets in a schema; its constraints stay."""
    if isinstance(schema, list):
        return [masked_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    masked = {key: masked_schema(part) for key, part in schema.items()}
    if is_marked(schema):
        masked = _without_examples(masked)
    properties = masked.get("properties")
    if isinstance(properties, Mapping):
        masked["properties"] = {
            name: _without_examples(part) if is_secret_name(name) else part
            for name, part in properties.items()
        }
    return masked


def _schema_of(interrupt: str) -> Any:
    body = json.loads(interrupt)
    return body.get("responseSchema") if isinstance(body, Mapping) else None


def _without_examples(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    keywords = ("const", "default", "enum", "example", "examples")
    return {key: masked_strings(part) if key in keywords else part for key, part in schema.items()}
