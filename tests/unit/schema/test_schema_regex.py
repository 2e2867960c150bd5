"""Patterns that no linear-time engine compiles are not run; everything else is still checked."""

import pytest

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schema_regex import is_pattern_checked
from inbox.rules.schema.schemas import check_answer, check_schema

AHEAD = "^(?!admin)[a-z]+$"


def is_accepted(schema, value):
    check_schema(schema)
    try:
        check_answer(schema=schema, reason="input_required", payload=value)
    except InvalidPayload:
        return False
    return True


@pytest.mark.parametrize("pattern", [AHEAD, r"^(a|b)\1$", "(?<!x)y", "(?<=x)y"])
def test_a_pattern_for_a_backtracking_engine_is_accepted_and_not_run(pattern):
    schema = {"type": "string", "pattern": pattern, "maxLength": 5}

    assert not is_pattern_checked(pattern)
    assert is_accepted(schema, "12345")
    assert not is_accepted(schema, "123456")


def test_a_catastrophic_pattern_with_look_ahead_costs_nothing():
    schema = {"type": "string", "pattern": "^(?!x)(a+)+$"}

    assert is_accepted(schema, "a" * 50_000 + "b")


@pytest.mark.parametrize("pattern", ["(", "[a-", "*"])
def test_what_is_no_pattern_at_all_is_refused(pattern):
    with pytest.raises(SchemaRejected):
        check_schema({"type": "string", "pattern": pattern})


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"not": {"pattern": AHEAD}}, id="under not"),
        pytest.param({"if": {"pattern": AHEAD}, "then": False}, id="under if"),
        pytest.param(
            {"$defs": {"p": {"pattern": AHEAD}}, "not": {"$ref": "#/$defs/p"}}, id="by ref"
        ),
        pytest.param(
            {"oneOf": [{"pattern": AHEAD}, {"type": "string"}]}, id="tells branches apart"
        ),
    ],
)
def test_leaving_a_pattern_out_never_refuses_what_the_agent_allows(schema):
    assert is_accepted(schema, "x1")


def test_more_items_than_meant_may_count_where_a_pattern_is_not_checked():
    schema = {"contains": {"pattern": AHEAD}, "minContains": 1, "maxContains": 1}

    assert is_accepted(schema, ["ab", "1"])


def test_key_under_an_unchecked_pattern_must_match_one_of_its_schemas():
    schema = {
        "type": "object",
        "patternProperties": {"^(?!x-)": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }

    assert is_accepted(schema, {"a": "text", "x-a": 1})
    assert not is_accepted(schema, {"a": [1]})


def test_an_unchecked_pattern_for_names_opens_nothing_that_was_closed():
    closed = {"patternProperties": {AHEAD: {"type": "string"}}, "additionalProperties": False}

    assert is_accepted(closed, {"a": "text"})
    assert not is_accepted(closed, {"a": 1})


def test_unchecked_name_pattern_with_unevaluated_properties_is_refused():
    schema = {"allOf": [{"patternProperties": {AHEAD: {}}}], "unevaluatedProperties": False}

    with pytest.raises(SchemaRejected):
        check_schema(schema)


def test_data_that_looks_like_a_schema_is_left_alone():
    schema = {"properties": {"x": {"const": {"pattern": AHEAD}}, "y": {"pattern": AHEAD}}}

    assert is_accepted(schema, {"x": {"pattern": AHEAD}})
    assert not is_accepted(schema, {"x": {}})
