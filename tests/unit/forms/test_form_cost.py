"""However nasty a schema that passed the gate, a form of it costs little."""

import json
import time

import pytest
from django.http import QueryDict

from inbox.forms.form import build_form
from inbox.forms.planner import MAX_FIELDS, Planner
from inbox.forms.schema_resolver import MAX_STEPS
from inbox.forms.values import ABSENT
from inbox.rules.schema.schemas import check_schema
from tests.support.forms.form_page import open_page

#: Seconds of processor time. The worst schema takes 2.5 on a quiet machine and 4.4 on a busy one;
#: work without bounds takes minutes. The next test counts the steps.
LONG = 20.0
#: Parts of schemas that a plan may look at; the last one is still looked at whole.
MOST_STEPS = 25_000


def rows(schema):
    return {"type": "array", "items": schema}


BIG = {"items": [{"a": "y" * 100, "b": number} for number in range(9_000)]}
OBJECTS = [{"k": "x" * 500, "n": number} for number in range(100)]
TREE = {"type": "object", "properties": {name: {"$ref": "#/$defs/t"} for name in "abc"}}
SHARED = {f"k{number}": {} for number in range(40)}
NASTY = {
    "500 types against a large value": (
        {"anyOf": [{"type": "string", "maxLength": number} for number in range(500)]},
        BIG,
    ),
    "400 branches that lack something": (
        {"anyOf": [{"type": "object", "required": [f"z{number}"]} for number in range(400)]},
        BIG,
    ),
    "an enum of objects against a large value": ({"enum": [{} for _ in range(1_900)]}, BIG),
    "an enum of large objects in every row": (rows({"enum": OBJECTS}), [OBJECTS[3]] * 280),
    "two enums that have to be compared in every row": (
        rows({"allOf": [{"enum": OBJECTS[:50]}, {"enum": OBJECTS[50:]}]}),
        [OBJECTS[3]] * 280,
    ),
    "1,800 properties in every row": (
        {
            "$defs": {"p": {"properties": {f"k{number}": {} for number in range(1_800)}}},
            **rows({"$ref": "#/$defs/p"}),
        },
        [{}] * 100,
    ),
    "100 branches in every row": (
        rows(
            {"oneOf": [{"properties": {"t": {"const": n}}, "required": ["t"]} for n in range(100)]}
        ),
        [{"t": 99}] * 140,
    ),
    "branches with constants against a large value": (
        {"anyOf": [{"type": "string"}, *({"const": {"n": number}} for number in range(250))]},
        BIG,
    ),
    "branches told apart by their last field": (
        rows({"oneOf": [{"properties": {**SHARED, "t": {"const": n}}} for n in range(40)]}),
        [{**dict.fromkeys(SHARED, 1), "t": 39}] * 7,
    ),
    "a long select in every row": (rows({"enum": [f"o{n}" for n in range(1_900)]}), ["o5"] * 280),
    "60,000 characters of a default in every row": (
        rows({"type": "string", "default": "d" * 60_000}),
        ["a"] * 280,
    ),
    "texts full of what cannot be seen": (rows({"type": "string"}), ["é\u200b" * 500] * 280),
    "a tree that has to be there": (
        {
            "$defs": {"t": {**TREE, "required": list("abc")}},
            "properties": {"x": {"$ref": "#/$defs/t"}},
        },
        ABSENT,
    ),
    "everything wrong": (
        rows({"properties": {"a": {"type": "integer"}}}),
        [{"a": "z" * 100, "b": "q" * 500}] * 1_500,
    ),
    "deep": ({}, json.loads("[" * 31 + "]" * 31)),
}


@pytest.mark.parametrize("name", NASTY)
def test_hostile_schema_is_refused_or_handled_within_the_time_limit(name):
    schema, value = NASTY[name]
    began = time.process_time()
    try:
        check_schema(schema)
    except ValueError:
        return
    form = build_form(schema=schema, value=value, name="args")
    page = open_page(form)
    post = page.post()

    reading = form.read(post)
    checked = form.read(QueryDict(post.urlencode() + "&args.tab=json&args.json=[[1]]"))

    assert reading.problems == [] or value is ABSENT
    assert checked.value == [[1]]
    assert len(list(page.pairs())) < 1_000
    assert time.process_time() - began < LONG


@pytest.mark.parametrize("name", NASTY)
def test_the_work_of_a_plan_is_counted_and_ends(name):
    schema, value = NASTY[name]
    planner = Planner(schema, None)

    root = planner.plan(schema, value, name="args", label="Args", required=True)

    kinds = [node.kind for node in root.walk() if node.kind != "many"]
    assert MAX_STEPS - planner.schemas.budget.left <= MOST_STEPS
    assert len(kinds) <= MAX_FIELDS + 1


def test_what_does_not_fit_is_asked_for_as_json_and_can_still_be_answered():
    value = [{"a": number} for number in range(301)]
    form = build_form(schema=None, value=value, name="args")
    page = open_page(form)

    assert [node.kind for node in form.root.walk()] == ["json"]
    assert form.read(page.fill("args", "[1]").post()).value == [1]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ({"type": ["string", "null"]}, None),
        ({"type": "boolean"}, True),
        ({"enum": list(range(10))}, 1),
        ({"type": "array", "items": {"type": "string"}}, []),
    ],
)
def test_two_full_forms_of_a_page_fit_into_one_post(member, value, settings):
    names = [f"k{number}" for number in range(299)]
    schema = {"type": "object", "properties": dict.fromkeys(names, member)}
    form = build_form(schema=schema, value=dict.fromkeys(names, value), name="args")

    assert form.root.kind == "group"
    assert 2 * len(list(open_page(form).pairs())) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/properties/nowhere"}}},
        {"$ref": "http://127.0.0.1:1/x.json"},
        {"properties": {"a": {"pattern": "("}}},
        {"minLength": "x"},
    ],
)
def test_a_schema_that_would_not_pass_the_gate_is_not_used(schema):
    form = build_form(schema=schema, value={"a": "x"}, name="args")

    assert form.read(open_page(form).fill("args/a", "y").post()).value == {"a": "y"}
