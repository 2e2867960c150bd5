"""Schemas with values that must come back untouched, as agents are known to write them."""

from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    schema: Any
    value: Any
    refused: str = ""  #: a word of why, where it is refused on arrival


FIRST = [
    Case(
        "recursive $ref",
        {
            "$defs": {
                "n": {
                    "type": "object",
                    "properties": {
                        "v": {"type": "string"},
                        "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}},
                    },
                }
            },
            "$ref": "#/$defs/n",
        },
        {"v": "a", "kids": [{"v": "b", "kids": [{"v": "c"}]}]},
    ),
    Case(
        "self $ref loop",
        {
            "$defs": {"a": {"$ref": "#/$defs/a"}},
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/a"}},
        },
        {"x": 1},
    ),
    Case(
        "external $ref",
        {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:1/x.json"}}},
        {"x": {"q": 1}},
    ),
    Case(
        "patternProperties",
        {
            "type": "object",
            "properties": {
                "m": {
                    "type": "object",
                    "patternProperties": {"^x-": {"type": "string"}},
                    "additionalProperties": False,
                }
            },
        },
        {"m": {"x-a": "1"}},
    ),
    Case(
        "if/then/else",
        {
            "type": "object",
            "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "string"}},
            "if": {"properties": {"a": {"const": "x"}}},
            "then": {"required": ["b"]},
        },
        {"a": "x", "b": "q"},
    ),
    Case(
        "no type, any JSON",
        {"type": "object", "properties": {"x": {}}},
        {"x": {"deep": [1, None, True]}},
    ),
    Case("root array", {"type": "array", "items": {"type": "integer"}}, [1, 2, 3]),
    Case("root boolean", {"type": "boolean"}, True),
    Case(
        "oneOf primitives",
        {
            "type": "object",
            "properties": {
                "x": {
                    "oneOf": [
                        {"type": "string", "title": "Text"},
                        {"type": "integer", "title": "Number"},
                    ]
                }
            },
        },
        {"x": 7},
    ),
    Case(
        "anyOf nullable object",
        {
            "type": "object",
            "properties": {
                "x": {
                    "anyOf": [
                        {"type": "object", "properties": {"a": {"type": "string"}}, "title": "A"},
                        {"type": "null"},
                    ]
                }
            },
        },
        {"x": None},
    ),
    Case(
        "pydantic optional",
        {
            "type": "object",
            "properties": {
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
            },
        },
        {"n": 3},
    ),
    Case(
        "allOf merge",
        {
            "type": "object",
            "properties": {
                "x": {
                    "allOf": [
                        {
                            "type": "object",
                            "properties": {"a": {"type": "string"}},
                            "required": ["a"],
                        },
                        {"type": "object", "properties": {"b": {"type": "integer"}}},
                    ]
                }
            },
        },
        {"x": {"a": "q", "b": 2}},
    ),
    Case(
        "enum mixed types",
        {"type": "object", "properties": {"x": {"enum": [1, "1", True, None]}}},
        {"x": "1"},
    ),
    Case(
        "odd keys",
        {
            "type": "object",
            "properties": {
                "a/b": {"type": "string"},
                "c~d": {"type": "string"},
                'e"f': {"type": "string"},
                "": {"type": "string"},
                "日本": {"type": "string"},
                "@on": {"type": "string"},
            },
        },
        {"a/b": "1", "c~d": "2", 'e"f': "3", "": "4", "日本": "5", "@on": "6"},
    ),
    Case(
        "xss",
        {
            "type": "object",
            "properties": {
                "x": {
                    "type": "string",
                    "title": "<img src=x onerror=alert(1)>",
                    "description": "</p><script>alert(1)</script>",
                    "enum": ['"><script>alert(2)</script>', "b"],
                }
            },
            "title": "<script>alert(3)</script>",
        },
        {"x": '"><script>alert(2)</script>'},
    ),
    Case(
        "extra properties kept",
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"a": "1", "zz": {"k": [1, 2]}},
    ),
    Case(
        "date+time+uri",
        {
            "type": "object",
            "properties": {
                "d": {"type": "string", "format": "date"},
                "t": {"type": "string", "format": "time"},
                "u": {"type": "string", "format": "uri"},
                "dt": {"type": "string", "format": "date-time"},
            },
        },
        {
            "d": "2025-01-02",
            "t": "10:00:00Z",
            "u": "https://x.y",
            "dt": "2025-11-21T09:30:15.250+02:00",
        },
    ),
    Case(
        "big ints, decimals",
        {
            "type": "object",
            "properties": {
                "i": {"type": "integer"},
                "f": {"type": "number"},
                "e": {"type": "number"},
            },
        },
        {"i": 123456789012345678901, "f": 0.1, "e": 1e-07},
    ),
    Case(
        "whitespace text",
        {
            "type": "object",
            "properties": {"s": {"type": "string"}, "m": {"type": "string", "maxLength": 500}},
        },
        {"s": "  lead", "m": "\n\nx\n"},
    ),
    Case(
        "optional empty string",
        {"type": "object", "properties": {"s": {"type": "string"}}},
        {"s": ""},
    ),
    Case(
        "map of objects",
        {
            "type": "object",
            "properties": {
                "m": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"q": {"type": "integer"}},
                        "required": ["q"],
                    },
                }
            },
        },
        {"m": {"k": {"q": 1}, "l": {"q": 2}}},
    ),
]
