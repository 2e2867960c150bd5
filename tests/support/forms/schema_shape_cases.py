"""Schemas of every shape, those that no form shows among them."""

from tests.support.forms.case import Case

LINE = {
    "type": "object",
    "properties": {
        "sku": {"type": "string"},
        "parts": {"type": "array", "items": {"type": "object"}},
    },
}


def deep(levels, leaf):
    value, schema = leaf, {"type": "string"}
    for _ in range(levels):
        value, schema = {"x": value}, {"type": "object", "properties": {"x": schema}}
    return schema, value


def deep_value(levels):
    value = "end"
    for _ in range(levels):
        value = [value]
    return value


def wide(count):
    names = [f"field_{number}" for number in range(count)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return schema, {name: f"v{number}" for number, name in enumerate(names)}


SHAPES = [
    Case(
        "lists of lists",
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        [[1], [], [2, 3]],
    ),
    Case(
        "lists of objects with lists",
        {"type": "array", "items": LINE},
        [{"sku": "a", "parts": [{"n": 1}, {}]}, {}],
    ),
    Case(
        "a tuple",
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        ["a", 1, None],
    ),
    Case("a closed tuple", {"type": "array", "prefixItems": [{}], "items": False}, [1]),
    Case(
        "dependent fields",
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "dependentRequired": {"a": ["b"]},
        },
        {"a": "1", "b": "2"},
    ),
    Case(
        "dependent schemas",
        {"type": "object", "properties": {"a": {}}, "dependentSchemas": {"a": {"required": ["b"]}}},
        {"a": 1, "b": 2},
    ),
    Case(
        "unevaluated properties",
        {
            "type": "object",
            "allOf": [{"properties": {"a": {"type": "string"}}}],
            "unevaluatedProperties": False,
        },
        {"a": "1"},
    ),
    Case(
        "not", {"type": "object", "properties": {"x": {"not": {"const": 1}}}}, {"x": {"y": [None]}}
    ),
    Case(
        "if inside",
        {"properties": {"x": {"if": {"const": 1}, "then": {"type": "integer"}, "type": "number"}}},
        {"x": 1.5},
    ),
    Case(
        "names by pattern",
        {"propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": {"type": "integer"}},
        {"a": 1, "b": 2},
    ),
    Case("look-ahead in names", {"patternProperties": {"^(?!x)": {"type": "string"}}}, {"a": "1"}),
    Case(
        "any of what is required",
        {
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"b": "x"},
    ),
    Case(
        "one of inside one of",
        {
            "oneOf": [
                {"oneOf": [{"type": "string"}, {"type": "boolean"}]},
                {"type": "array", "items": {"type": "string"}},
            ]
        },
        True,
    ),
    Case(
        "one of that fits nothing", {"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"a": 1}
    ),
    Case(
        "any of beside properties",
        {
            "properties": {"a": {"type": "string"}},
            "anyOf": [
                {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
                {"properties": {"c": {"type": "string"}}, "required": ["c"]},
            ],
        },
        {"a": "x", "c": "y"},
    ),
    Case(
        "one of and any of",
        {
            "oneOf": [{"type": "string"}, {"type": "number"}],
            "anyOf": [{"minLength": 1}, {"minimum": 1}],
        },
        "x",
    ),
    Case("mixed types", {"properties": {"x": {"type": ["string", "integer"]}}}, {"x": "5"}),
    Case(
        "mixed types with null",
        {"properties": {"x": {"type": ["string", "integer", "null"]}}},
        {"x": None},
    ),
    Case("only null", {"properties": {"x": {"type": "null"}}}, {"x": None}),
    Case("always", {"properties": {"x": True}}, {"x": [1, "a"]}),
    Case("never", {"properties": {"x": False}}, {"x": 1}),
    Case(
        "a constant",
        {"properties": {"v": {"const": {"a": [1]}}, "w": {"type": "string"}}, "required": ["v"]},
        {"v": {"a": [1]}, "w": "x"},
    ),
    Case("another constant than agreed", {"properties": {"v": {"const": 1}}}, {"v": 2}),
    Case(
        "read only",
        {"properties": {"id": {"type": "string", "readOnly": True}, "n": {"type": "number"}}},
        {"id": "a\r\nb", "n": -0.0},
    ),
    Case("conflicting parts", {"allOf": [{"type": "string"}, {"type": "integer"}]}, "x"),
    Case(
        "parts with limits",
        {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 5, "maximum": 9}]},
        7,
    ),
    Case(
        "a reference with more beside it",
        {
            "$defs": {"n": {"type": "string"}},
            "properties": {"x": {"$ref": "#/$defs/n", "title": "X", "maxLength": 300}},
        },
        {"x": "y"},
    ),
    Case(
        "a reference to a property",
        {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}},
        {"a": "1", "b": "2"},
    ),
    Case(
        "a reference with odd names",
        {"$defs": {"a/b~c": {"type": "boolean"}}, "properties": {"x": {"$ref": "#/$defs/a~1b~0c"}}},
        {"x": False},
    ),
    Case("deep", *deep(11, "leaf")),
    Case("deeper than forms go, without a schema", {}, deep_value(30)),
    Case("200 fields", *wide(200)),
    Case("more fields than a form has", *wide(400)),
    Case("a long list", {"type": "array", "items": {"type": "integer"}}, list(range(280))),
    Case(
        "a longer list than a form has",
        {"type": "array", "items": {"type": "integer"}},
        list(range(2_000)),
    ),
    Case("an enum of 1,500", {"properties": {"x": {"enum": list(range(1_500))}}}, {"x": 777}),
    Case(
        "an enum of 10,000",
        {"properties": {"x": {"enum": list(range(10_000))}}},
        {"x": 1},
        refused="More than",
    ),
    Case(
        "an enum of 5,000",
        {"properties": {"x": {"enum": list(range(5_000))}}},
        {"x": 1},
    ),
    Case(
        "a list of enums",
        {"type": "array", "items": {"enum": [f"c{n}" for n in range(500)]}},
        ["c1"] * 20,
    ),
    Case(
        "boxes in the agent's order",
        {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}},
        ["c", "a"],
    ),
    Case(
        "boxes with the same twice",
        {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}},
        ["a", "a"],
    ),
    Case(
        "boxes of nothing",
        {"properties": {"x": {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}}},
        {"x": []},
    ),
    Case(
        "an enum of everything",
        {"properties": {"x": {"enum": [0, 0.5, False, None, "", "null", [1], {"a": 1}]}}},
        {"x": {"a": 1}},
    ),
    Case("an enum with a whole float", {"properties": {"x": {"enum": [1, 2]}}}, {"x": 1.0}),
    Case("no boolean but its number", {"properties": {"x": {"type": "boolean"}}}, {"x": 1}),
    Case("a text instead of a number", {"properties": {"x": {"type": "integer"}}}, {"x": "12"}),
    Case(
        "a list instead of an object",
        {"properties": {"x": {"type": "object", "properties": {"a": {}}}}},
        {"x": [1]},
    ),
    Case(
        "null where none is allowed",
        {"properties": {"x": {"type": "string"}}, "required": ["x"]},
        {"x": None},
    ),
    Case(
        "an optional list of nothing",
        {"properties": {"x": {"type": "array", "items": {"type": "string"}}}},
        {"x": []},
    ),
    Case(
        "an optional object of nothing",
        {"properties": {"x": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        {"x": {}},
    ),
    Case(
        "an object that may be null",
        {
            "properties": {
                "x": {"type": ["object", "null"], "properties": {"a": {"type": "string"}}}
            }
        },
        {"x": None},
    ),
    Case(
        "a map beside properties",
        {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}},
        {"a": "x", "b": 1, "c": 2.5},
    ),
    Case(
        "a map of lists",
        {"additionalProperties": {"type": "array", "items": {"type": "string"}}},
        {"a": ["x"], "b": []},
    ),
    Case("the whole answer is text", {"type": "string"}, "yes"),
    Case("the whole answer is null", {"type": "null"}, None),
    Case("the whole answer is anything", {}, [{"a": None}, "x", 1e21]),
]
