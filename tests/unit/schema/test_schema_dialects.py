"""Schemas of the drafts 4 to 2020-12: what their authors meant is what answers are checked for."""

import pytest

from agents.json_schema import schema_error, schema_violations
from inbox.rules.schema import schemas
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import named_members, read_schema, schema_problems
from inbox.rules.schema.secrets import MASK, Secrets

DRAFT_4, DRAFT_6, DRAFT_7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 6, 7))
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
TEXT = {"type": "string"}

DIALECTS = [
    pytest.param(
        {"$schema": DRAFT_7, "items": [{"type": "number"}, TEXT], "additionalItems": False},
        [1, "a"],
        [1, "a", 2],
        id="a tuple of draft 7",
    ),
    pytest.param({"items": [{"type": "number"}]}, [1], ["x"], id="a tuple without a dialect"),
    pytest.param(
        {"minimum": 3, "exclusiveMinimum": True}, 4, 3, id="an exclusive minimum of draft 4"
    ),
    pytest.param(
        {"$schema": DRAFT_7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"a": 1, "b": 1},
        {"c": 1},
        id="dependencies of draft 7",
    ),
    pytest.param(
        {
            "$schema": DRAFT_2019,
            "$recursiveAnchor": True,
            "properties": {"next": {"$recursiveRef": "#"}, "n": {"type": "integer"}},
        },
        {"next": {"n": 1}},
        {"next": {"n": "x"}},
        id="recursion of 2019-09",
    ),
    pytest.param(
        {"$defs": {"a": {"$anchor": "A", **TEXT}}, "properties": {"x": {"$ref": "#A"}}},
        {"x": "y"},
        {"x": 1},
        id="an anchor",
    ),
    pytest.param(
        {"$schema": DRAFT_6, "$ref": "#a", "definitions": {"b": {"$id": "#a", **TEXT}}},
        "y",
        1,
        id="an anchor of draft 6",
    ),
    pytest.param(
        {"$id": "https://acme.example/s", "$ref": "https://acme.example/s#/$defs/a",
         "$defs": {"a": TEXT}},
        "y",
        1,
        id="a reference by its own id",
    ),
    pytest.param({"$defs": {"a b": TEXT}, "$ref": "#/$defs/a%20b"}, "y", 1, id="an escaped name"),
    pytest.param(
        {
            "$schema": DRAFT_7,
            "properties": {
                "t": {"items": [TEXT]}, "items": {"$ref": "#/properties/t/items/0"}, "u":
                {"$ref": "#/properties/items"},
            },
        },
        {"u": "y"},
        {"u": 1},
        id="a reference into a tuple",
    ),
    pytest.param(
        {"$dynamicAnchor": "n", "properties": {"k": {"$dynamicRef": "#n"}, "v": TEXT}},
        {"k": {"v": "y"}},
        {"k": {"v": 1}},
        id="a dynamic reference",
    ),
    pytest.param({"enum": [f"v{n}" for n in range(2_500)]}, "v7", "x", id="a long enum"),
    pytest.param({"maximum": 2**63 - 1}, 2**63 - 1, 2**63, id="a bound of 64 bits"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "fits", "differs"), DIALECTS)
def test_a_schema_of_any_draft_means_what_its_draft_says(schema, fits, differs):
    assert schema_problems(schema, fits) == []
    assert schema_problems(schema, differs)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_6, "if": TEXT, "then": False},
        {"$schema": DRAFT_4, "const": 1},
    ],
)
def test_keywords_that_a_draft_does_not_know_check_nothing(schema):
    assert schema_problems(schema, "y") == []


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "https://acme.example/other.json"}, "another document"),
        ({"allOf": [{"$ref": "#"}]}, "itself"),
        ({"properties": {"a": {"$id": "b", "$ref": "#/x"}}}, "several documents"),
        ({"description": "x" * 70_000}, "64 KiB"),
    ],
)
def test_a_legal_schema_that_cannot_be_checked_accepts_answers(schema, reason):
    assert reason in read_schema(schema).unchecked
    assert schema_problems(schema, {"any": 1}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strnig"},
        {"pattern": "("},
        {"pattern": "*"},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "#nowhere"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{}]},
        {"$schema": DRAFT_7, "exclusiveMinimum": True},
    ],
)
def test_what_is_no_schema_of_its_dialect_is_refused(schema):
    with pytest.raises(SchemaRejected, match=r"not a usable JSON Schema|anchor"):
        read_schema(schema)


ECMASCRIPT = [
    *(r"^\p{L}+$", r"(?<year>\d{4})-\d\d", r"^[^]*$", r"^\cJ$", r"(?<=a+)b", r"^a\/b\-c$"),
    *(r"^[^[\]]+$", r"[\w-.]+", r"\u{1F600}", r"^{.*}$", r"(?<x>a)\k<x>", "a{1,100000}", r"[]"),
    *(r"^(?!x)[\p{L}\d]+(?<!y)$", r"\u00e9", r"^\S+@\S+$", r"(?:a|b)*?c", r"[\]\\]"),
]


@pytest.mark.parametrize("pattern", ECMASCRIPT)
def test_patterns_of_ecmascript_are_accepted_in_both_processes(pattern):
    schema = {"properties": {"a": {"type": "string", "pattern": pattern}}}

    assert read_schema(schema).unchecked == ""
    assert schema_error(schema) is None
    assert isinstance(schema_violations(schema, {"a": "é"}), list)


def test_the_worker_fetches_no_document_that_a_schema_names(monkeypatch):
    def fetch(*arguments, **_options):
        raise AssertionError(arguments)

    monkeypatch.setattr("urllib.request.urlopen", fetch)

    assert schema_violations({"$ref": "http://127.0.0.1:1/x.json"}, 1) == []


def test_the_worker_reads_the_dialect_that_a_schema_declares():
    schema = {"$schema": DRAFT_7, "items": [{"type": "number"}]}

    assert schema_violations(schema, [1]) == []
    assert schema_violations(schema, ["x"])


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"$anchor": "A", "writeOnly": True}}, "properties": {"x": {"$ref": "#A"}}},
        {
            "$id": "https://acme.example/s",
            "$defs": {"a": {"writeOnly": True}},
            "properties": {"x": {"$ref": "https://acme.example/s#/$defs/a"}},
        },
        {"properties": {"x": {"items": [{"writeOnly": True}]}}},
    ],
)
def test_secrets_are_masked_behind_references_of_every_kind(schema):
    value = ["hunter2"] if "items" in str(schema) else "hunter2"

    assert MASK in str(Secrets(schema).masked({"x": value}))


def test_members_are_known_behind_an_anchor():
    schema = {"$ref": "#A", "$defs": {"a": {"$anchor": "A", "properties": {"editedArgs": {}}}}}

    assert named_members(schema) == {"editedArgs"}


@pytest.mark.parametrize("draft", [DRAFT_4, DRAFT_6, DRAFT_7])
def test_a_limit_beside_a_reference_counts_in_every_draft(draft):
    number = {"$ref": "#/definitions/n", "maximum": 100, "title": "Amount"}
    schema = {"$schema": draft, "properties": {"a": number}, "definitions": {"n": {}}}

    assert schema_problems(schema, {"a": 100}) == []
    assert schema_problems(schema, {"a": 5000})


def test_a_guessed_draft_drops_no_keyword():
    limits = {"minimum": 0, "exclusiveMinimum": True}
    schema = {"properties": {"a": {"const": 1}, "b": limits}}

    assert schema_problems(schema, {"a": 1, "b": 1}) == []
    assert schema_problems(schema, {"a": 2})
    assert schema_problems(schema, {"b": 0})


def test_references_through_members_named_as_keywords_are_found():
    tuple_of_one = {"items": [TEXT]}
    schema = {
        "$schema": DRAFT_7,
        "properties": {
            "properties": tuple_of_one,
            "copy": {"$ref": "#/properties/properties/items/0"},
        },
    }

    assert schema_problems(schema, {"copy": "x"}) == []
    assert schema_problems(schema, {"copy": 1})


def test_a_pattern_of_unclosed_groups_is_rejected():
    # Each "(?<" may begin a group: reading to the end of the pattern for each took 19 s.
    with pytest.raises(SchemaRejected):
        read_schema({"properties": {"a": {"pattern": "(?<" * 20_000}}})


def test_schema_of_an_older_draft_is_converted_once(monkeypatch):
    schema = {
        "$schema": DRAFT_7,
        "properties": {f"b{n}": {"items": [TEXT]} for n in range(200, 0, -1)},
    }
    first = read_schema(schema).schema
    first["properties"].clear()  # a reader may change what it has read

    conversions = []
    monkeypatch.setattr(schemas, "in_newest_draft", conversions.append)
    second = read_schema(schema).schema

    assert conversions == []
    assert [*second["properties"]] == [*schema["properties"]]
