"""Filters as they stand in addresses, and what makes requests alike."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.decisions.list_filters import (
    MAX_NAME_CHARACTERS,
    MAX_SEARCH_CHARACTERS,
    InterruptFilter,
    ListState,
    Sort,
)
from inbox.rules.decisions.similarity import (
    SEARCH_CHARACTERS,
    differing_paths,
    flatten_arguments,
    search_text_of,
    similarity_key,
)

TEXT = st.text(st.sampled_from("aZ0 %_\\&=+?#/\0éß\u202e\n"), max_size=12)
NAMES = ("state", "agent", "tool", "reason", "team", "mine", "expiring", "q", "sort")
FILTERS = st.builds(
    lambda query, state: InterruptFilter.from_query(query, state=state)[0],
    st.dictionaries(
        st.sampled_from(
            ["state", "agent", "tool", "reason", "team", "mine", "expiring", "q", "sort"]
        ),
        st.one_of(st.sampled_from([*ListState, *Sort, "1"]), TEXT),
    ),
    st.sampled_from([ListState.OPEN, ListState.DECIDED]),
)


@given(FILTERS)
def test_a_filter_is_read_from_its_own_address_as_it_was(filters):
    query = dict(parse_qsl(filters.to_query()))

    assert InterruptFilter.from_query(query, state=filters.kind) == (filters, [])


@pytest.mark.parametrize(
    ("query", "ignored"),
    [
        ({"state": "nonsense"}, ["state"]),
        ({"sort": "1; DROP TABLE"}, ["sort"]),
        ({"mine": "yes"}, ["mine"]),
        ({"agent": "a" * (MAX_NAME_CHARACTERS + 1)}, ["agent"]),
        ({"tool": "a\0b"}, ["tool"]),
        ({"expiring": "0", "reason": "x" * 10_000}, ["reason", "expiring"]),
        ({"state": "", "agent": "", "q": "", "sort": "", "mine": ""}, []),
        ({"unknown": "x"}, []),
    ],
)
def test_nonsense_is_ignored_and_named(query, ignored):
    assert InterruptFilter.from_query(query) == (InterruptFilter(), ignored)


def test_a_search_that_is_too_long_is_cut_and_said_to_be():
    filters, ignored = InterruptFilter.from_query({"q": "word " * 2_500})

    assert ignored == ["q"]
    assert 0 < len(filters.text) <= MAX_SEARCH_CHARACTERS


def test_what_is_decided_does_not_expire():
    assert InterruptFilter(state=ListState.DECIDED, sort=Sort.DUE).sort is Sort.NEW


@pytest.mark.parametrize("name", ["agent", "tool", "text", "mine", "state"])
def test_a_filter_without_one_thing_has_the_others_still(name):
    filters = InterruptFilter(state=ListState.EXPIRED, agent="a", tool="t", text="x", mine=True)

    less = filters.without(name)

    assert less != filters
    assert filters.without(name).without(name) == less
    assert (less.agent == "a") == (name != "agent")
    assert less.kind is ListState.DECIDED


# -- alike ----------------------------------------------------------------------------------------

ARGS = {"to": "dana", "amount": {"value": 1, "currency": "EUR"}, "items": [{"id": 1}]}


def shape(args, **other):
    return similarity_key(**{"agent": "a", "tool": "t", "args": args, "schema": None, **other})


@pytest.mark.parametrize(
    "args",
    [
        {"items": [{"id": 7}, {"id": 8}], "amount": {"currency": "USD", "value": 2.5}, "to": ""},
        {**ARGS, "to": "x" * 10_000},
    ],
)
def test_other_values_are_the_same_shape(args):
    assert shape(args) == shape(ARGS)


@pytest.mark.parametrize(
    "args",
    [
        {**ARGS, "to": None},
        {**ARGS, "to": 1},
        {**ARGS, "amount": {"value": "1", "currency": "EUR"}},
        {**ARGS, "items": []},
        {**ARGS, "items": [{"id": True}]},
        {**ARGS, "extra": None},
        {name: value for name, value in ARGS.items() if name != "to"},
    ],
)
def test_other_names_or_types_are_another_shape(args):
    assert shape(args) != shape(ARGS)


def test_another_agent_tool_or_question_is_another_shape():
    others = [shape(ARGS, agent="b"), shape(ARGS, tool="u"), shape(ARGS, schema={"type": "object"})]

    assert len({shape(ARGS), *others}) == 4


def test_values_differ_place_by_place():
    first, two = (
        flatten_arguments(ARGS),
        flatten_arguments({**ARGS, "to": "eli", "amount": {"value": True}}),
    )

    assert list(first) == ["to", "amount.value", "amount.currency", "items"]
    assert differing_paths([first, two]) == ["to", "amount.value", "amount.currency"]
    assert differing_paths([first, first]) == []
    assert differing_paths([{"a": 1}, {"a": True}]) == ["a"]


def test_a_name_with_a_dot_is_not_taken_for_a_place():
    assert set(flatten_arguments({"a.b": 1, "a": {"b": 2}})) == {"a\\.b", "a.b"}


@pytest.mark.parametrize(
    "args",
    [
        {"": "mallory", "amount": 1},
        {"": {"amount": "mallory"}, "amount": 1},
        {'""': 1, "": "mallory"},
        {"": {"": 1}, '"".""': "mallory"},
        {"a": {"": "mallory"}, "a.": 1},
    ],
)
def test_a_name_without_characters_hides_no_value(args):
    leaves = flatten_arguments(args)

    assert "mallory" in leaves.values()
    assert len(leaves) == 2
    assert "" not in leaves


def test_a_search_text_has_names_and_values_and_is_bounded():
    text = search_text_of("Straße", args={"Key": ["VALUE", 1.5, None, True, {"x": ""}]})

    assert text == "strasse key value 1.5 true x"
    assert len(search_text_of("ß" * SEARCH_CHARACTERS)) == SEARCH_CHARACTERS
