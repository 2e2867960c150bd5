"""JSON from outside: what everybody reads alike passes, the rest is refused with a reason."""

import json
import math
import re
from contextlib import suppress

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.agui.strict_json import JsonRejected, Limits, dumps, loads, loads_arguments
from inbox.rules.decisions.consent import canonical_json

KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda number: not 2**53 <= abs(number) < 1e21
    )
    | KEYS
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5)
)


@settings(max_examples=50)
@given(DOCUMENTS)
def test_ordinary_json_comes_out_as_json_loads_reads_it(document):
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False, indent=1)):
        assert loads(text, limits=Limits(max_depth=1000)) == document
        assert loads(text.encode(), limits=Limits(max_depth=1000)) == document


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_json_rejected(data):
    with suppress(JsonRejected):
        loads(data)


@given(st.text(st.sampled_from('{}[]",:\\u0d8190eE-+. NaInfitytrue'), max_size=40))
def test_no_text_made_of_json_pieces_raises_anything_but_json_rejected(text):
    with suppress(JsonRejected):
        loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Not JSON"),
        ("{", "Not JSON"),
        ("[1,]", "Not JSON"),
        ("{'a': 1}", "Not JSON"),
        ('{"a": 1} {"b": 2}', "Not JSON"),
        ("\ufeff{}", "Not JSON"),
        ('"a\nb"', "Not JSON"),
        ("01", "Not JSON"),
        ('{"a": 1, "b": 2, "a": 1}', 'The key "a" appears twice'),
        ('[{"x": {"a": 1, "\\u0061": 2}}]', 'The key "a" appears twice'),
        ("NaN", "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ("1e999", "too large for a double"),
        ("[-1e999]", "too large for a double"),
        ("1" * 5000, "too many digits"),
        ('"\\u0000"', "NUL"),
        ('{"a\\u0000": 1}', "NUL"),
        ('"\\ud800"', "lone surrogate"),
        ('"\\ude00\\ud83d"', "lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
        ('"\ud800"', "lone surrogate"),
    ],
)
def test_ambiguous_json_is_refused_with_a_reason(text, reason):
    with pytest.raises(JsonRejected, match=re.escape(reason)):
        loads(text)


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b"\xff\xfe[\0]\0"])
def test_bytes_that_are_no_utf_8_are_refused(data):
    with pytest.raises(JsonRejected, match="UTF-8"):
        loads(data)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", 2**53 - 1),
        ("9007199254740993123", 9007199254740993123),
        ("-" + "7" * 4_000, -int("7" * 4_000)),
        ("-9007199254740991", 1 - 2**53),
        ("9007199254740991.0", 2**53 - 1),
        ("1e21", 1e21),
        ("1e308", 1e308),
        ("-0.0", -0.0),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\\\u0000"', "\\u0000"),
        ('"[[[["', "[[[["),
        ("  null\n", None),
    ],
)
def test_what_only_looks_dangerous_passes(text, value):
    assert loads(text) == value


ARGUMENTS = [
    ('{"a": NaN, "b": [-Infinity, 1e999]}', '{"a":NaN,"b":[-Infinity,Infinity]}'),
    ('{"a": "x\\u0000\\ud800"}', '{"a":"x\\u0000\\ud800"}'),
    ('{"a": "\ud800"}', '{"a":"\\ud800"}'),
    ('{"\\udfff": 1, "\U0001f600": 2}', '{"\U0001f600":2,"\\udfff":1}'),
    ('{"n": 9007199254740993123, "x": 1e20}', '{"n":9007199254740993123,"x":1' + "0" * 20 + "}"),
    ("[" + "9" * 4_300 + "]", "[" + "9" * 4_300 + "]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), ARGUMENTS)
def test_arguments_that_json_cannot_say_have_one_canonical_text(text, canonical):
    value = loads_arguments(text)

    assert canonical_json(value) == canonical
    assert canonical_json(json.loads(canonical)) == canonical
    assert canonical.encode()


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "[" * 40 + "]" * 40, '{"a": 1', "1" * 5_000])
def test_arguments_that_no_parser_reads_are_refused(text):
    with pytest.raises(JsonRejected):
        loads_arguments(text)


@settings(max_examples=200)
@given(DOCUMENTS)
def test_a_value_of_rfc_8785_keeps_its_canonical_text(document):
    assert canonical_json(document).encode() == rfc8785.dumps(document)


@settings(max_examples=50)
@given(DOCUMENTS)
def test_what_passes_has_a_canonical_text_that_passes_too(document):
    canonical = rfc8785.dumps(loads(json.dumps(document), limits=Limits(max_depth=1000)))

    assert rfc8785.dumps(loads(canonical, limits=Limits(max_depth=1000))) == canonical


def test_depth_is_counted_in_levels_and_the_limit_itself_passes():
    loads("[" * 32 + "]" * 32)

    with pytest.raises(JsonRejected, match="at most 32 levels"):
        loads("[" * 33 + "]" * 33)


def test_many_brackets_side_by_side_are_not_deep():
    assert len(loads("[" + ",".join(["{}"] * 500) + "]")) == 500


def test_brackets_inside_texts_are_not_depth():
    text = json.dumps(["[{" * 100, '"[[\\', "]]}"] * 10)

    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["[" * 1_000_000, '{"a":' * 200_000, '["' + '\\"' * 900_000, "[" * 40 + '"]' * 9]
)
def test_hostile_nesting_is_refused_before_it_is_parsed(text):
    with pytest.raises(JsonRejected):
        loads(text)


def test_nodes_are_values_and_the_limit_itself_passes():
    assert len(loads(json.dumps([0] * 9_999))) == 9_999

    with pytest.raises(JsonRejected, match="More than 10000 values"):
        loads(json.dumps([0] * 10_000))


def test_keys_are_not_counted_as_values():
    assert loads(r'{"\u0061": 1, "b": 2}', limits=Limits(max_nodes=3)) == {"a": 1, "b": 2}


def test_size_is_counted_in_bytes():
    assert loads('"é"', limits=Limits(max_bytes=4)) == "é"

    with pytest.raises(JsonRejected, match="4 bytes of JSON; at most 3"):
        loads('"é"', limits=Limits(max_bytes=3))


def test_the_default_size_is_two_mebibytes():
    text = json.dumps("x" * (2 * 1024 * 1024))

    with pytest.raises(JsonRejected, match="2097152"):
        loads(text)


@settings(max_examples=50)
@given(DOCUMENTS)
def test_what_is_written_is_read_back(document):
    assert loads(dumps(document), limits=Limits(max_depth=1000)) == document


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_json_does_not_have_are_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"a": number})
