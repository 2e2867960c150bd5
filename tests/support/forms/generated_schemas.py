"""Schemas as zod, dataclasses, TypeBox, MCP clients and the drafts write them, with an answer."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from pydantic import TypeAdapter

from tests.support.forms.case import Case

DIALECTS = {
    "draft 4": "http://json-schema.org/draft-04/schema#",
    "draft 6": "http://json-schema.org/draft-06/schema#",
    "draft 7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def _zod(properties: dict[str, Any], *optional: str, **more: Any) -> dict[str, Any]:
    """Write a z.object() as z.toJSONSchema does."""
    return {
        "$schema": DIALECTS["2020-12"],
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        **more,
    }


_UUID = (
    r"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$"
)
_EMAIL = (
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@"
    r"([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)
_DATE = (
    r"^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|"
    r"\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|"
    r"(?:02)-(?:0[1-9]|1\d|2[0-8])))$"
)
#: A property as zod writes it, with a value.
_ZOD = {
    "string": ({"type": "string"}, "a"),
    "string min": ({"type": "string", "minLength": 1, "maxLength": 80}, "a b"),
    "email": ({"type": "string", "format": "email", "pattern": _EMAIL}, "kim@example.com"),
    "uuid": (
        {"type": "string", "format": "uuid", "pattern": _UUID},
        "0191f5c8-7a3b-7c4d-8e5f-0123456789ab",
    ),
    "url": ({"type": "string", "format": "uri"}, "https://example.com/a?b=c"),
    "iso date": ({"type": "string", "format": "date", "pattern": _DATE}, "2026-02-28"),
    "iso datetime": ({"type": "string", "format": "date-time"}, "2026-11-27T19:00:00Z"),
    "base64": ({"type": "string", "format": "base64", "contentEncoding": "base64"}, "YWI="),
    "starts with": ({"type": "string", "pattern": "^ch_.*"}, "ch_17"),
    "number": ({"type": "number"}, 0.1),
    "int": (
        {"type": "integer", "minimum": -(2**53 - 1), "maximum": 2**53 - 1},
        2**53 - 1,
    ),
    "positive": ({"type": "number", "exclusiveMinimum": 0}, 1e-9),
    "multiple": ({"type": "number", "multipleOf": 0.01}, 0.07),
    "int64": ({"type": "integer", "minimum": SMALLEST, "maximum": LARGEST}, LARGEST),
    "boolean": ({"type": "boolean"}, False),
    "null": ({"type": "null"}, None),
    "enum": ({"type": "string", "enum": ["low", "high"]}, "high"),
    "native enum": ({"type": "number", "enum": [0, 1, 2]}, 0),
    "literal": ({"type": "string", "const": "refund"}, "refund"),
    "nullable": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    "union": ({"anyOf": [{"type": "string"}, {"type": "number"}]}, 7),
    "array": ({"type": "array", "items": {"type": "string"}}, ["a", ""]),
    "nonempty": ({"type": "array", "minItems": 1, "items": {"type": "number"}}, [0]),
    "tuple": (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        ["a", 1],
    ),
    "record": (
        {
            "type": "object",
            "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "number"},
        },
        {"a": 1, "b c": 2},
    ),
    "object": ({"type": "object", "properties": {}, "additionalProperties": False}, {}),
    "loose object": (
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {}},
        {"a": "b", "c": [1]},
    ),
    "any": ({}, {"a": None}),
    "default": ({"default": 5, "type": "number"}, 5),
    "described": ({"type": "string", "description": "Who pays", "title": "Payer"}, "Kim"),
    "discriminated union": (
        {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "const": kind}, kind: part},
                    "required": ["kind", kind],
                    "additionalProperties": False,
                }
                for kind, part in (("card", {"type": "string"}), ("iban", {"type": "string"}))
            ]
        },
        {"kind": "iban", "iban": "DE89"},
    ),
    "intersection": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "number"}}, "required": ["b"]},
            ]
        },
        {"a": "x", "b": 2.5},
    ),
    "readonly": ({"readOnly": True, "type": "string"}, "x"),
    "not": ({"not": {"type": "string"}}, 3),
}

ZOD = [
    *(Case(f"zod {name}", part, value) for name, (part, value) in _ZOD.items()),
    *(
        Case(f"zod object of {name}", _zod({"x": part}), {"x": value})
        for name, (part, value) in _ZOD.items()
    ),
    *(
        Case(f"zod array of {name}", {"type": "array", "items": part}, [value, value])
        for name, (part, value) in _ZOD.items()
    ),
    *(
        Case(f"zod optional {name}", _zod({"x": part, "y": {"type": "string"}}, "x"), {"y": "z"})
        for name, (part, _) in _ZOD.items()
    ),
    *(
        Case(f"zod nullable {name}", _zod({"x": {"anyOf": [part, {"type": "null"}]}}), {"x": value})
        for name, (part, value) in _ZOD.items()
    ),
    Case(
        "zod lazy",
        {
            "$schema": DIALECTS["2020-12"],
            "$ref": "#/$defs/__schema0",
            "$defs": {
                "__schema0": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/__schema0"}},
                    },
                    "required": ["name", "children"],
                    "additionalProperties": False,
                }
            },
        },
        {"name": "a", "children": [{"name": "b", "children": []}]},
    ),
]

#: Each keyword of the drafts with a value that fits, in the drafts that have it.
_KEYWORDS: list[tuple[str, Any, Any]] = [
    ("type", {"type": "string"}, "x"),
    ("types", {"type": ["string", "integer"]}, 3),
    ("all types", {"type": ["null", "boolean", "object", "array", "number", "string"]}, [None]),
    ("enum", {"enum": [1, "1", None, {"a": 1}, [2]]}, {"a": 1}),
    ("multipleOf", {"multipleOf": 0.5}, 1.5),
    ("bounds", {"minimum": 1, "maximum": 3}, 3),
    ("lengths", {"minLength": 2, "maxLength": 3}, "ab"),
    ("pattern", {"pattern": "^a+$"}, "aaa"),
    ("look-ahead", {"pattern": "^(?!x)"}, "a"),
    ("items", {"items": {"type": "integer"}}, [1, 2]),
    ("item counts", {"minItems": 1, "maxItems": 2, "uniqueItems": True}, [1]),
    ("required", {"required": ["a"], "properties": {"a": {}}}, {"a": 0}),
    ("counts", {"minProperties": 1, "maxProperties": 2}, {"a": 1}),
    ("patternProperties", {"patternProperties": {"^x": {"type": "integer"}}}, {"x1": 1}),
    ("additionalProperties", {"additionalProperties": {"type": "boolean"}}, {"a": False}),
    ("allOf", {"allOf": [{"minimum": 1}, {"type": "integer"}]}, 2),
    ("anyOf", {"anyOf": [{"type": "integer"}, {"minLength": 2}]}, "ab"),
    ("oneOf", {"oneOf": [{"type": "integer"}, {"type": "string"}]}, "a"),
    ("not", {"not": {"type": "integer"}}, "a"),
    ("format", {"type": "string", "format": "ipv4"}, "127.0.0.1"),
    ("format of nobody", {"type": "string", "format": "acme-id"}, "a"),
    (
        "local $ref",
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}},
        {"a": "x"},
    ),
    ("self $ref", {"properties": {"a": {"$ref": "#"}}}, {"a": {"a": {}}}),
    ("unknown keyword", {"type": "string", "x-acme": {"deep": [1]}}, "a"),
    ("title and default", {"title": "T", "description": "D", "default": "d"}, "e"),
    ("empty", {}, 1.5),
    ("int64", {"type": "integer", "minimum": SMALLEST, "maximum": LARGEST}, SMALLEST),
    ("uint64", {"type": "integer", "maximum": 2**64 - 1}, 2**64 - 1),
    ("20 digits", {"type": "integer"}, 10**20 + 1),
]
DRAFTS = [
    *(
        Case(f"{draft} {name}", {"$schema": uri, **schema}, value)
        for (draft, uri), (name, schema, value) in product(DIALECTS.items(), _KEYWORDS)
    ),
    Case(
        "draft 4 exclusive",
        {"$schema": DIALECTS["draft 4"], "minimum": 0, "exclusiveMinimum": True},
        1,
    ),
    *(
        Case(f"{draft} {name}", {"$schema": DIALECTS[draft], **schema}, value)
        for draft in ("draft 6", "draft 7", "2019-09", "2020-12")
        for name, schema, value in (
            ("const", {"const": {"a": [1]}}, {"a": [1]}),
            ("contains", {"contains": {"type": "integer"}}, ["a", 1]),
            ("propertyNames", {"propertyNames": {"maxLength": 1}}, {"a": 1}),
            ("exclusive bound", {"exclusiveMinimum": 0}, 1),
            ("true", {"properties": {"a": True}}, {"a": [1]}),
        )
    ),
    *(
        Case(
            f"{draft} if",
            {"$schema": DIALECTS[draft], "if": {"type": "string"}, "then": {"minLength": 1}},
            "a",
        )
        for draft in ("draft 7", "2019-09", "2020-12")
    ),
    *(
        Case(
            f"{draft} tuple",
            {"$schema": DIALECTS[draft], "items": [{"type": "string"}, {}]},
            ["a", 1],
        )
        for draft in ("draft 4", "draft 6", "draft 7", "2019-09")
    ),
    *(
        Case(f"{draft} {name}", {"$schema": DIALECTS[draft], **schema}, value)
        for draft in ("2019-09", "2020-12")
        for name, schema, value in (
            ("$anchor", {"$defs": {"a": {"$anchor": "A", "type": "string"}}, "$ref": "#A"}, "x"),
            ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 2}),
            ("dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"b": 2}),
            (
                "unevaluatedProperties",
                {"properties": {"a": {}}, "unevaluatedProperties": False},
                {"a": 1},
            ),
            ("unevaluatedItems", {"unevaluatedItems": {"type": "integer"}}, [1]),
            ("minContains", {"contains": {"const": 1}, "minContains": 2}, [1, 1]),
            (
                "content",
                {"contentMediaType": "application/json", "contentEncoding": "base64"},
                "e30=",
            ),
            ("vocabulary", {"$comment": "c", "deprecated": True, "writeOnly": True}, "x"),
        )
    ),
    Case(
        "draft 7 dependencies",
        {"$schema": DIALECTS["draft 7"], "dependencies": {"a": ["b"]}},
        {"b": 1},
    ),
    Case("another document", {"$ref": "https://acme.example/order.json"}, {"any": 1}),
    Case(
        "own id",
        {
            "$id": "https://acme.example/s",
            "$defs": {"a": {"type": "string"}},
            "$ref": "https://acme.example/s#/$defs/a",
        },
        "x",
    ),
]


@dataclass
class Line:
    sku: str
    count: int = 1
    price: float | None = None


@dataclass
class Order:
    lines: list[Line]
    kind: Literal["web", "shop"] = "web"
    tags: set[str] = field(default_factory=set)
    pair: tuple[int, str] = (1, "a")
    notes: dict[str, str | None] = field(default_factory=dict)


_ORDER = {
    "lines": [
        {"sku": "a", "count": 2, "price": None},
        {"sku": "b", "count": LARGEST, "price": 0.1},
    ],
    "kind": "shop",
    "tags": ["x"],
    "pair": [2, "b"],
    "notes": {"n": None, "m": ""},
}
DATACLASSES = [
    Case("dataclass", TypeAdapter(Order).json_schema(), _ORDER),
    Case("dataclass to validate", TypeAdapter(Order).json_schema(mode="serialization"), _ORDER),
    Case("list of a dataclass", TypeAdapter(list[Line]).json_schema(), _ORDER["lines"]),
    *(
        Case(f"type {kind}", TypeAdapter(kind).json_schema(), value)
        for kind, value in (
            (int, LARGEST),
            (float, 1.5),
            (str, ""),
            (bool, False),
            (bytes, "a"),
            (list[int], [SMALLEST, LARGEST, 0]),
            (dict[str, int], {"a": LARGEST}),
            (dict[str, list[dict[str, Any]]], {"a": [{"b": None}]}),
            (int | None, None),
            (Literal[1, "a", None], None),
            (tuple[int, ...], [1, 2]),
        )
    ),
]

#: What a server may ask a person with elicitation/create (MCP 2025-06-18 and later).
_ELICITATION = {
    "string": ({"type": "string", "title": "Name", "minLength": 3}, "Kim"),
    "email": ({"type": "string", "format": "email"}, "kim@example.com"),
    "date": ({"type": "string", "format": "date"}, "2026-11-27"),
    "number": ({"type": "number", "minimum": 0, "maximum": 100}, 12.5),
    "integer": ({"type": "integer", "default": 3}, 4),
    "boolean": ({"type": "boolean", "default": True}, False),
    "enum": ({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}, "b"),
    "titled": (
        {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        "b",
    ),
    "several": (
        {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
        ["a", "c"],
    ),
    "several titled": (
        {
            "type": "array",
            "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        },
        ["b"],
    ),
}
MCP = [
    *(
        Case(
            f"elicitation {name}{' required' if required else ''}",
            {"type": "object", "properties": {"x": part}, "required": required},
            {"x": value},
        )
        for (name, (part, value)), required in product(_ELICITATION.items(), ([], ["x"]))
    ),
    Case(
        "elicitation of all",
        {"type": "object", "properties": {name: part for name, (part, _) in _ELICITATION.items()}},
        {name: value for name, (_, value) in _ELICITATION.items()},
    ),
]
GENERATED = [*ZOD, *DRAFTS, *DATACLASSES, *MCP]
