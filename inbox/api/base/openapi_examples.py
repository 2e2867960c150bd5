"""Examples of bodies, made from their schemas."""

from collections.abc import Mapping
from typing import Any

_BY_FORMAT = {
    "uuid": "01934f5e-7c10-7e4b-9a52-0d6c6a1f0001",
    "date-time": "2026-11-21T09:30:00.125480Z",
    "date": "2026-11-21",
}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """
    Return the declared example of a schema, or one made from its parts.

    `schemas` are the components of the document. Of an object there are the members that are
    required or declare an example; what may be null and declares no example is null.
    """
    part = _resolve(schema, schemas)
    if declared := _declared(part):
        return declared[0]
    if "anyOf" in part:
        is_nullable = {"type": "null"} in part["anyOf"]
        return None if is_nullable else example_of(part["anyOf"][0], schemas)
    if "properties" in part:
        return {
            name: example_of(member, schemas)
            for name, member in part["properties"].items()
            if name in part.get("required", ()) or _declared(member)
        }
    if part.get("type") == "array":
        return [example_of(part["items"], schemas)]
    return _scalar(part)


def _scalar(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "string":
        return schema.get("const") or _BY_FORMAT[schema["format"]]
    return {"boolean": False, "integer": schema.get("minimum", 0), "object": {}}.get(str(kind))


def _resolve(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    return {**schemas[schema["$ref"].rpartition("/")[2]], **schema}


def _declared(schema: Mapping[str, Any]) -> Any:
    return schema.get("examples") or schema.get("anyOf", [{}])[0].get("examples")
