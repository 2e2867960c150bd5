"""Canonical JSON, digests and the gate for agents' schemas, over generated values."""

import json
import math
import time

import ag_ui.core as agui
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from agents.agui import strict_json
from inbox.rules.decisions.consent import (
    VIEW_VERSION,
    canonical_json,
    digest,
    view_digest,
)
from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import check_answer, check_schema
from tests.support import steps
from tests.support.properties.json_values import (
    LARGEST,
    changed,
    generated,
    same,
    shuffled,
    values,
    wild_values,
)

#: Processor time, so that a busy machine makes no difference; the worst seen is a tenth of it.
LONG = 2.0


def leaves(value):
    """Every text, number and constant in a value."""
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, dict):
        return [*value, *(leaf for item in value.values() for leaf in leaves(item))]
    return [value]


def can_be_said(leaf):
    """Return whether strict JSON has a text for it; integers keep all their digits."""
    if isinstance(leaf, str):
        return all(not 0xD800 <= ord(character) <= 0xDFFF for character in leaf)
    return not isinstance(leaf, float) or math.isfinite(leaf)


def is_read_alike(leaf):
    """Whether a number or text also comes back as it was, from any reader and any column."""
    if isinstance(leaf, str):
        return "\0" not in leaf
    is_written_out = isinstance(leaf, float) and leaf.is_integer() and abs(leaf) < 1e21
    return not is_written_out or abs(leaf) <= LARGEST


def has_nul(leaf):
    return isinstance(leaf, str) and "\0" in leaf


@generated(150)
@given(values)
def test_canonical_json_round_trips(value):
    text = canonical_json(value)

    again = strict_json.loads(text)

    assert same(again, value)
    assert canonical_json(again) == text


def text_of_the_standard(value):
    """The text of the library that follows RFC 8785 to the letter, or None."""
    try:
        return rfc8785.dumps(value).decode()
    except (rfc8785.CanonicalizationError, UnicodeError):
        return None


def canonical_or_none(value):
    try:
        return canonical_json(value)
    except ValueError:
        return None


@generated(600)
@given(wild_values)
def test_every_value_has_the_text_of_the_standard_or_one_that_is_read_back(value):
    text, standard = canonical_or_none(value), text_of_the_standard(value)

    assert text == standard or (standard is None and canonical_or_none(json.loads(text)) == text)


@pytest.mark.parametrize(
    "value",
    [
        # RFC 8785, 3.2.3: names are sorted by their UTF-16 units.
        {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7},
        # RFC 8785, 3.2.2: numbers as ECMAScript writes them, and every control character.
        [333333333.33333329, 1e30, 4.50, 2e-3, 1e-27, 1e21, 1e20, 9007199254740992.0, -0.0, 35.0],
        '\u20ac$\x0f\nA\'B"\\\\"/' + "".join(map(chr, range(0x20))) + "\x7f\u2028",
        {"at": "2026-01-02T03:04:05.678901", "hash": "3e5f", "list": "[1.5, 2e3]", ":": '":1.5'},
        [2**53 - 1],
        {"a": -35.0},
        [1, 1e16],
        -0.0,
        1e16,
        ("a", ["b"]),
        object(),
    ],
)
def test_what_libraries_write_otherwise_has_the_text_of_the_standard(value):
    assert canonical_or_none(value) == text_of_the_standard(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([2**53 - 1, 2**53, -(2**64)], "[9007199254740991,9007199254740992,-18446744073709551616]"),
        ({"a": 2**53}, '{"a":9007199254740992}'),
        (float("nan"), "NaN"),
        ([None, float("-inf")], "[null,-Infinity]"),
        ("\ud800", '"\\ud800"'),
        ({"a": "b\udc00"}, '{"a":"b\\udc00"}'),
    ],
)
def test_what_the_standard_has_no_text_for_has_one_of_ours(value, text):
    assert canonical_json(value) == text


@generated(150)
@given(values)
def test_digest_ignores_key_order_spaces_and_escapes(value):
    for text in (
        json.dumps(shuffled(value), ensure_ascii=True, indent=2),
        json.dumps(value, ensure_ascii=False),
    ):
        assert canonical_json(strict_json.loads(text)) == canonical_json(value)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        (100, 1e2),
        (LARGEST, float(LARGEST)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_two_spellings_of_one_value_are_one_text(first, other):
    assert canonical_json(first) == canonical_json(other)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (1, True),
        (0, False),
        (0, None),
        (1, "1"),
        (True, "true"),
        ([], {}),
        ("", None),
        ("é", "e\u0301"),
        ({"a": None}, {}),
        ([1, 2], [2, 1]),
        ([[]], []),
        (LARGEST, LARGEST - 1),
        ({"a": "b"}, {"b": "a"}),
        ("\u20ac", "\\u20ac"),
    ],
)
def test_two_values_that_look_alike_are_two_texts(first, other):
    assert canonical_json(first) != canonical_json(other)
    assert digest(canonical_json(first)) != digest(canonical_json(other))


@generated(300)
@given(st.data())
def test_the_digest_differs_when_a_value_does(data):
    value = data.draw(values)
    other = data.draw(changed(value))

    assert digest(canonical_json(value)) != digest(canonical_json(other))


@generated(400)
@given(wild_values)
def test_strict_json_accepts_exactly_what_can_be_held_and_read_alike(value):
    is_held = all(map(can_be_said, leaves(value)))
    text = canonical_json(value)
    try:
        read = strict_json.loads(json.dumps(value))
    except strict_json.JsonRejected:
        is_accepted = False
    else:
        is_accepted = True
        # A whole double of 2^53 or more is written with the digits of an integer.
        if all(map(is_read_alike, leaves(value))):
            assert same(strict_json.loads(text), read)

    assert is_accepted == (is_held and not any(map(has_nul, leaves(value))))


@generated(400)
@given(st.binary(max_size=12) | st.text('[]{}":,01e+-.\\untrfals \0', max_size=14))
def test_any_bytes_are_refused_or_have_a_canonical_form(data):
    try:
        value = strict_json.loads(data)
    except strict_json.JsonRejected:
        return

    assert same(strict_json.loads(canonical_json(value)), value)


# What a decision consents to


def digest_of(view):
    return view_digest(version=VIEW_VERSION, **view)


@generated(150)
@given(st.data())
def test_the_view_digest_differs_for_any_change_of_what_is_shown(data):
    interrupt = data.draw(st.dictionaries(st.sampled_from("abc"), values, max_size=3))
    view = {"interrupt": interrupt, "tool": "pay", "args": canonical_json(data.draw(values))}
    field = data.draw(st.sampled_from(sorted(view)))
    other = {**view, field: data.draw(st.none() | changed(view[field]))}

    assert digest_of(other) != digest_of(view)
    assert digest_of({**view, "interrupt": shuffled(interrupt)}) == digest_of(view)


VIEWS = {
    "as it was": ({}, "pay", '{"a": 1}'),
    "message": ({"message": "Pay?"}, "pay", '{"a": 1}'),
    "another message": ({"message": "Pay!"}, "pay", '{"a": 1}'),
    "schema": ({"response_schema": {"type": "object"}}, "pay", '{"a": 1}'),
    "metadata": ({"metadata": {"risk": 1}}, "pay", '{"a": 1}'),
    "metadata of another type": ({"metadata": {"risk": True}}, "pay", '{"a": 1}'),
    "expiry": ({"expires_at": "2999-01-01T00:00:00Z"}, "pay", '{"a": 1}'),
    "reason": ({"reason": "confirmation"}, "pay", '{"a": 1}'),
    "tool": ({}, "refund", '{"a": 1}'),
    "value of an argument": ({}, "pay", '{"a": 2}'),
    "type of an argument": ({}, "pay", '{"a": "1"}'),
    "one more argument": ({}, "pay", '{"a": 1, "b": null}'),
}


def test_view_digest_is_unique_and_stable(world, as_agent):
    waiting = []

    async def play(run_input, ctx):
        more, name, args = waiting[-1]
        yield agui.ToolCallStartEvent(tool_call_id="c1", tool_call_name=name)
        yield agui.ToolCallArgsEvent(tool_call_id="c1", delta=args)
        yield agui.ToolCallEndEvent(tool_call_id="c1")
        about = {"id": "i", "reason": "tool_call", "tool_call_id": "c1"}
        interrupt = agui.Interrupt(**about | more)
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome={"type": "interrupt", "interrupts": [interrupt]},
        )

    agent = as_agent(play)

    # The default expiry would make the same view another one by its time.
    type(world.team).objects.update(request_expiry_hours=0)

    def digest_of(view):
        waiting.append(view)
        (interrupt,) = steps.open_interrupts(steps.start(world, "", agent=agent))
        return interrupt.view_digest

    digests = {name: digest_of(view) for name, view in VIEWS.items()}

    assert len(set(digests.values())) == len(VIEWS)
    assert digest_of(({}, "pay", '{ "a":1.0 }')) == digests["as it was"]


# Schemas from agents

TARGETS = ["#", "#/$defs/a", "#/$defs/b", "#/$defs/nowhere", "#/properties/a", "#/%24defs/a", "#x"]
references = st.builds(
    lambda keyword, target: {keyword: target},
    st.sampled_from(["$ref", "$ref", "$dynamicRef"]),
    st.sampled_from([*TARGETS, "http://127.0.0.1:1/x", "file:///etc/passwd", ""]),
)
plain = st.sampled_from(
    [
        {},
        True,
        False,
        {"type": "string", "pattern": "^(a+)+$"},
        {"type": "integer", "minimum": 0},
        {"enum": [1, "a", None]},
        {"const": {"a": [1]}},
        {"type": ["object", "array"]},
        {"$anchor": "x", "type": "string"},
        {"multipleOf": 1e-300},
        {"minLength": 2, "maxItems": 1, "uniqueItems": True},
    ]
)
broken = st.sampled_from(
    [
        {"type": "nothing"},
        {"pattern": "("},
        {"pattern": "(?=a)b"},
        {"pattern": "((a{1,1000}){1,1000}){1,1000}"},
        {"properties": []},
        {"required": "a"},
        {"minimum": "1"},
        {"$id": "x"},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"const": float("nan")},
        {"enum": [2**60]},
        {"title": "\ud800"},
    ]
)


def grown(inner):
    """A schema around schemas."""
    several = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from("ab"), inner, min_size=1)
    return st.one_of(
        st.builds(
            lambda keyword, items: {keyword: items},
            st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]),
            several,
        ),
        st.builds(
            lambda keyword, names: {keyword: names},
            st.sampled_from(["properties", "patternProperties", "dependentSchemas"]),
            by_name,
        ),
        st.builds(
            lambda keyword, item: {keyword: item},
            st.sampled_from(
                ["items", "not", "if", "contains", "additionalProperties", "unevaluatedProperties"]
            ),
            inner,
        ),
    )


parts = st.recursive(plain | references, grown, max_leaves=6)
schemas = st.builds(
    lambda part, definitions: {**(part if isinstance(part, dict) else {}), "$defs": definitions},
    parts,
    st.dictionaries(st.sampled_from("ab"), parts | broken, max_size=2),
) | st.dictionaries(st.sampled_from(["allOf", "properties", "type", "x"]), values | broken)


def is_usable(schema):
    """Whether the gate lets the schema pass; anything but SchemaRejected is a failure."""
    try:
        check_schema(schema)
    except SchemaRejected:
        return False
    return True


def schema_problems(schema, payload, reason="input_required"):
    try:
        check_answer(schema=schema, reason=reason, payload=payload)
    except InvalidPayload as error:
        return error.detail["problems"]
    return []


def nested(depth):
    """Values as deep as they may get, of objects and of arrays."""
    as_object = as_array = "a"
    for _ in range(depth):
        as_object, as_array = {"a": as_object, "b": 1}, [as_array, 1]
    return [as_object, as_array]


@generated(300)
@given(schemas, st.lists(values, max_size=2))
def test_a_schema_is_refused_or_checks_any_answer_in_little_time(schema, payloads):
    began = time.process_time()
    if is_usable(schema):
        for payload in [*payloads, *nested(8), *nested(32)]:
            schema_problems(schema, payload)
            schema_problems(schema, payload, reason="tool_call")

    assert time.process_time() - began < LONG


def tower(width, height, *, keyword="allOf", refer="#/$defs/d{}", name=None):
    """Each floor refers to the next one `width` times: `width ** height` checks of one value."""
    floors = {
        f"d{floor}": {
            keyword: [{"$ref": refer.format(floor + 1)} for _ in range(width)],
            **({name: f"d{floor}"} if name else {}),
        }
        for floor in range(height)
    }
    top = {"type": "string", **({name: f"d{height}"} if name else {})}
    return {"$ref": refer.format(0), "$defs": {**floors, f"d{height}": top}}


@generated(60)
@given(st.integers(1, 4), st.integers(1, 200), st.sampled_from(["allOf", "anyOf", "oneOf"]))
def test_a_tower_of_references_passes_only_if_it_is_cheap(width, height, keyword):
    schema = tower(width, height, keyword=keyword)
    began = time.process_time()

    if is_usable(schema):
        assert width**height <= 2_000
        schema_problems(schema, "a")

    assert time.process_time() - began < LONG


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_low_tower_passes_and_a_high_one_does_not(keyword):
    assert is_usable(tower(2, 5, keyword=keyword))
    assert not is_usable(tower(2, 30, keyword=keyword))


@pytest.mark.parametrize(
    ("refer", "name"),
    [
        pytest.param("#d{}", "$anchor", id="anchor"),
        pytest.param("#d{}", "$dynamicAnchor", id="dynamic anchor"),
        pytest.param("#/%24defs/d{}", None, id="percent encoded"),
        pytest.param("#/$defs/%64{}", None, id="percent encoded name"),
    ],
)
def test_a_high_tower_does_not_pass_however_its_references_are_spelled(refer, name):
    assert not is_usable(tower(2, 40, refer=refer, name=name))


def test_what_is_left_unevaluated_is_counted_as_often_as_it_is_looked_at():
    floors = {
        f"d{floor}": {
            "unevaluatedProperties": {"type": "integer"},
            "allOf": [{"$ref": f"#/$defs/d{floor + 1}"}],
        }
        for floor in range(40)
    }

    assert not is_usable({"$ref": "#/$defs/d0", "$defs": {**floors, "d40": {"type": "object"}}})


def test_a_schema_deeper_than_the_stack_is_refused():
    deep = []
    for _ in range(5_000):
        deep = [deep]

    assert not is_usable({"default": deep})


@pytest.mark.parametrize("branches", [1, 2, 3])
def test_a_schema_that_contains_itself_passes_only_if_it_does_not_branch(branches):
    names = "abc"[:branches]
    schema = {"properties": {name: {"$ref": "#"} for name in names}}

    assert is_usable(schema) == (branches == 1)
