"""The gate that agent-written schemas pass."""

import contextlib
import sys
import time

import pytest

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import (
    check_answer,
    check_schema,
    find_violations,
    member_schema,
    schema_problems,
)


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
        pytest.param({"allOf": [{}] * 3_000}, id="too many parts"),
        pytest.param({"description": "x" * 70_000}, id="too large"),
    ],
)
def test_an_unusable_schema_is_refused_with_a_reason(schema):
    with pytest.raises(SchemaRejected) as refused:
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


def doubling(levels):
    definitions = {"a0": {"type": "object"}}
    for level in range(1, levels + 1):
        smaller = {"$ref": f"#/$defs/a{level - 1}"}
        definitions[f"a{level}"] = {"allOf": [smaller, smaller]}
    return {"$defs": definitions, "$ref": f"#/$defs/a{levels}"}


BRANCHING = {
    "$defs": {"n": {"anyOf": [{"items": {"$ref": "#/$defs/n"}}, {"items": {"$ref": "#/$defs/n"}}]}},
    "$ref": "#/$defs/n",
}
CIRCLING = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(doubling(22), id="doubles"),
        pytest.param(BRANCHING, id="branches at every level of the value"),
        pytest.param(CIRCLING, id="goes in circles"),
    ],
)
def test_a_small_schema_that_means_endless_work_is_refused(schema):
    with pytest.raises(SchemaRejected):
        check_schema(schema)


def test_a_recursive_schema_that_goes_deeper_each_time_is_usable():
    node = {
        "type": "object",
        "properties": {
            "v": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}},
        },
    }
    schema = {"$defs": {"n": node}, "$ref": "#/$defs/n"}
    check_schema(schema)

    check_answer(schema=schema, reason="input_required", payload={"kids": [{"kids": []}]})


WATCHED = []


def _watch(event, arguments):
    if WATCHED and event in {"open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen"}:
        WATCHED.append((event, arguments[0]))


sys.addaudithook(_watch)  # it cannot be taken away again, so it only looks while it is asked to


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:1/x.json"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": "http://127.0.0.1:1/meta.json", "type": "string"},
        {"$dynamicRef": "http://127.0.0.1:1/x#y"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "json-schema-2020.json"}}},
    ],
)
def test_whatever_a_schema_refers_to_nothing_is_fetched_or_opened(schema):
    WATCHED.append("looking")
    with contextlib.suppress(SchemaRejected):
        check_schema(schema)
    seen = WATCHED[1:]
    WATCHED.clear()

    assert seen == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [{"a": [number]} for number in range(9_000)]),
        ({"multipleOf": 1e-300}, 1e300),
        ({"multipleOf": 0.1}, 9007199254740991),
        ({"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}, "a" * 100_000),
        ({"anyOf": [{"maxLength": number} for number in range(900)]}, "é" * 100_000),
        ({"type": "array", "contains": {"const": 1}}, [[0]] * 9_000),
    ],
)
def test_a_schema_that_passed_checks_any_answer_in_little_time(schema, value):
    check_schema(schema)
    began = time.process_time()
    with contextlib.suppress(InvalidPayload):
        check_answer(schema=schema, reason="input_required", payload=value)
    find_violations(schema=schema, value=value)

    assert time.process_time() - began < 2.0


def test_faults_name_the_branch_they_belong_to():
    schema = {
        "oneOf": [{"type": "string"}, {"properties": {"a": {"minimum": 3}}, "type": "object"}]
    }

    (fault,) = find_violations(schema=schema, value={"a": 1})

    assert [[inner.keyword for inner in branch] for branch in fault.branches] == [
        ["type"],
        ["minimum"],
    ]


def test_large_answer_to_many_branches_is_refused_without_copies():
    schema = {"anyOf": [{"maxLength": number} for number in range(900)]}

    with pytest.raises(InvalidPayload) as refused:
        check_answer(schema=schema, reason="input_required", payload="x" * 2_000_000)

    assert "too large to locate" in refused.value.detail["problems"][0]["message"]
    assert [fault.path for fault in find_violations(schema=schema, value="x" * 2_000_000)] == [()]


def test_the_schema_of_a_property_takes_its_definitions_along():
    schema = {
        "$defs": {"n": {"type": "integer"}},
        "properties": {
            "editedArgs": {"properties": {"n": {"$ref": "#/$defs/n"}}},
            "elsewhere": {"$ref": "#/properties/editedArgs"},
            "any": True,
        },
    }

    alone = member_schema(schema, "editedArgs")

    assert [fault.path for fault in find_violations(schema=alone, value={"n": "x"})] == [("n",)]
    assert member_schema(schema, "elsewhere") is None
    assert member_schema(schema, "any") is None
    assert member_schema(schema, "missing") is None
    assert member_schema(None, "editedArgs") is None


FORMATS = {
    "date": ("2026-02-28", "2026-02-30"),
    "date-time": ("2026-11-22T09:30:00Z", "2026-11-22 09:30"),
    "time": ("10:00:00Z", "25:00:00Z"),
    "duration": ("PT30M", "half an hour"),
    "email": ("ada@example.com", "ada"),
    "idn-email": ("ada@b\u00fccher.example", "ada"),
    "hostname": ("example.com", "-a"),
    "idn-hostname": ("b\u00fccher.example", "-a"),
    "ipv4": ("192.0.2.1", "192.0.2"),
    "ipv6": ("2001:db8::1", "2001:db8"),
    "uri": ("https://example.com/a", "example"),
    "uri-reference": ("/a", "\\"),
    "iri": ("https://b\u00fccher.example/", "a b"),
    "iri-reference": ("/b\u00fccher", "\\"),
    "uri-template": ("/a/{b}", "/a/{b"),
    "uuid": ("01934f5e-7c10-7e4b-9a52-0d6c6a1f0001", "01934f5e"),
    "json-pointer": ("/a/0", "a"),
    "relative-json-pointer": ("1/a", "/a"),
    "regex": ("^a+$", "("),
}


@pytest.mark.parametrize("name", FORMATS)
def test_format_of_an_answer_is_checked(name):
    fits, differs = FORMATS[name]
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": name}}}

    assert schema_problems(schema, {"a": fits}) == []
    assert [pointer for pointer, _ in schema_problems(schema, {"a": differs})] == ["/a"]


@pytest.mark.parametrize("name", ["password", "textarea", "x-own"])
def test_format_that_is_unknown_checks_nothing(name):
    assert schema_problems({"format": name}, "anything") == []
