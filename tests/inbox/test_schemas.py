"""The gate that agent-written schemas pass."""

import pytest

from inbox.domain.errors import InvalidPayload
from inbox.domain.schemas import SchemaRefused, check_answer, check_schema


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"$ref": "http://127.0.0.1:1/x.json"}, id="fetches"),
        pytest.param({"$ref": "file:///etc/passwd"}, id="reads a file"),
        pytest.param({"$id": "http://127.0.0.1:1/", "$ref": "#/$defs/a"}, id="moves its base"),
        pytest.param({"$dynamicRef": "other.json#x"}, id="leaves dynamically"),
        pytest.param({"$ref": "#/$defs/nowhere"}, id="points nowhere"),
        pytest.param({"minLength": "x"}, id="keyword of a wrong type"),
        pytest.param({"type": "strnig"}, id="unknown type"),
        pytest.param({"pattern": "("}, id="no regular expression"),
        pytest.param(deep(20), id="too deep"),
        pytest.param({"enum": list(range(3_000))}, id="too many parts"),
        pytest.param({"description": "x" * 70_000}, id="too large"),
    ],
)
def test_an_unusable_schema_is_refused_with_a_reason(schema):
    with pytest.raises(SchemaRefused) as refused:
        check_schema(schema)

    assert str(refused.value)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "boolean"},
        {"$defs": {"n": {"type": "object", "properties": {"k": {"$ref": "#/$defs/n"}}}}},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}},
        {"type": "object", "patternProperties": {"^x-": {"type": "string"}}},
    ],
)
def test_a_usable_schema_passes(schema):
    check_schema(schema)


def test_a_catastrophic_pattern_is_matched_in_linear_time():
    schema = {"type": "string", "pattern": "^(a+)+$"}
    check_schema(schema)

    with pytest.raises(InvalidPayload):
        check_answer(schema=schema, reason="input_required", payload="a" * 50_000 + "b")


def test_a_schema_that_only_refers_to_itself_ends():
    schema = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    check_schema(schema)

    check_answer(schema=schema, reason="input_required", payload={"x": 1})


def test_the_number_of_problems_told_is_bounded():
    schema = {"type": "array", "items": {"type": "string"}}

    with pytest.raises(InvalidPayload) as refused:
        check_answer(schema=schema, reason="input_required", payload=list(range(1_000)))

    assert len(refused.value.detail["problems"]) == 20
