"""Generated schemas and values that have keys, types and texts in common."""

from hypothesis import strategies as st

from tests.support.properties.json_values import numbers, scalars, texts

KEYS = st.sampled_from(["a", "b", "c_d", "e/f", "", "@on", "__proto__", "x~1", "é"])
TEXTS = texts | st.sampled_from(
    [
        *[
            "",
            " a ",
            "a\nb",
            "\n",
            "a\r\nb",
            "\ra",
            "\u202e",
            "</textarea>",
            "&amp;",
            '"',
            "x" * 95,
        ],
        *["2025-01-02", "2025-01-02T03:04:00Z", "10:00:00Z", "\x0b", "\x85", "\ufeff"],
    ]
)
VALUES = st.recursive(
    scalars | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=3),
    max_leaves=8,
)

_FLAGS = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXTS,
        "description": TEXTS,
        "default": VALUES,
        "readOnly": st.booleans(),
    },
)
_LEAVES = st.one_of(
    st.sampled_from(
        [
            {},
            {"type": "string"},
            {"type": "string", "format": "date"},
            {"type": "string", "format": "date-time"},
            {"type": "string", "format": "email"},
            {"type": "string", "maxLength": 500},
            {"type": "string", "pattern": "^(?!a)"},
            {"type": ["string", "null"]},
            {"type": "integer", "minimum": 0},
            {"type": "number", "multipleOf": 0.5},
            {"type": ["number", "null"]},
            {"type": "boolean"},
            {"type": ["boolean", "null"]},
            {"type": "null"},
            {"type": ["string", "integer"]},
            {"type": "object"},
            {"type": "array"},
            {"not": {}},
            {"if": {"type": "string"}, "then": {"minLength": 1}},
            {"$ref": "#/$defs/a"},
            {"$ref": "#/$defs/b"},
        ]
    ),
    st.builds(lambda value: {"const": value}, VALUES),
    st.builds(lambda options: {"enum": options}, st.lists(scalars, min_size=1, max_size=8)),
    st.builds(
        lambda options: {"type": "array", "uniqueItems": True, "items": {"enum": options}},
        st.lists(TEXTS, min_size=1, max_size=4),
    ),
)


def _grown(inner):
    several = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(KEYS, inner, max_size=3)
    required = st.lists(KEYS, max_size=2, unique=True)
    return st.one_of(
        st.builds(
            lambda names, needed, more: {
                "type": "object",
                "properties": names,
                "required": needed,
                **more,
            },
            by_name,
            required,
            st.fixed_dictionaries({}, optional={"additionalProperties": inner | st.booleans()}),
        ),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda item: {"type": "object", "additionalProperties": item}, inner),
        st.builds(
            lambda keyword, items: {keyword: items},
            st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]),
            several,
        ),
        st.builds(lambda item: {"anyOf": [item, {"type": "null"}]}, inner),
        st.builds(lambda item, flags: {**item, **flags}, inner, _FLAGS),
    )


_PARTS = st.recursive(_LEAVES, _grown, max_leaves=6)
SCHEMAS = st.builds(
    lambda part, first, other: {**part, "$defs": {"a": first, "b": other}}, _PARTS, _PARTS, _PARTS
)


@st.composite
def fitting(draw, schema, definitions, depth=0):
    """A value that mostly fits the schema, so that its fields are shown and not its JSON."""
    if depth > 4 or draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    offered = _offered(schema, definitions)
    if offered:
        return draw(fitting(draw(st.sampled_from(offered)), definitions, depth + 1))
    named = schema.get("type", ["string", "number", "array"])
    kind = named if isinstance(named, str) else draw(st.sampled_from(named))
    if "const" in schema or "enum" in schema:
        value = st.sampled_from(schema.get("enum", [schema.get("const")]))
    elif kind == "array":
        value = st.lists(fitting(schema.get("items", {}), definitions, depth + 1), max_size=3)
    elif kind == "object":
        value = _members(schema, definitions, depth)
    else:
        value = _SCALARS[kind]
    return draw(value)


def _offered(schema, definitions):
    """The schemas of which a value has to fit one."""
    if "$ref" in schema:
        return [definitions[schema["$ref"][-1]]]
    return schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")


@st.composite
def _members(draw, schema, definitions, depth):
    properties = schema.get("properties", {})
    members = {
        key: draw(fitting(part, definitions, depth + 1))
        for key, part in properties.items()
        if draw(st.integers(0, 3))
    }
    more = schema.get("additionalProperties", {})
    if isinstance(more, dict):
        others = st.dictionaries(KEYS | TEXTS, fitting(more, definitions, depth + 1), max_size=2)
        members = draw(others) | members
    return members


_SCALARS = {
    "string": TEXTS,
    "number": numbers,
    "integer": st.integers(-9, 9),
    "boolean": st.booleans(),
    "null": st.none(),
}


@st.composite
def schema_and_value(draw):
    """A schema, and a value for it."""
    schema = draw(SCHEMAS)
    return schema, draw(fitting(schema, schema["$defs"]))
