"""What differs between two JSON values."""

import time
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.value_diff import (
    MAX_CHANGES,
    ChangeKind,
    changes_between,
    word_pieces,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab \n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.5}, [(("a",), "changed")]),
        ({"a": True}, {"a": 1}, [(("a",), "changed")]),
        ({"a": "x"}, {"a": None}, [(("a",), "changed")]),
        ({"a": ""}, {}, [(("a",), "removed")]),
        ({}, {"a": None}, [(("a",), "added")]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [(("a", "c"), "changed")]),
        ([1, 2, 3], [0, 1, 2, 3], [((0,), "added")]),
        ([1, 2, 3], [1, 3], [((1,), "removed")]),
        ([{"q": 1}, {"q": 2}], [{"q": 1}, {"q": 5}], [((1, "q"), "changed")]),
        ([1], {"0": 1}, [((), "changed")]),
    ],
)
def test_each_place_that_differs_is_one_change(before: Any, after: Any, expected: Any) -> None:
    changes = [(change.path, change.kind.value) for change in changes_between(before, after)]

    assert changes == expected


def test_a_changed_text_says_which_words_went_and_came() -> None:
    pieces = word_pieces("Your refund We sent a mail", "Your refund for order #88121")

    assert [(piece.tag, piece.text) for piece in pieces] == [
        ("", "Your refund "),
        ("del", "We sent a mail"),
        ("ins", "for order #88121"),
    ]


@given(before=VALUES, after=VALUES)
def test_there_are_changes_exactly_where_the_canonical_texts_differ(
    before: Any, after: Any
) -> None:
    assert bool(changes_between(before, after)) == (canonical_json(before) != canonical_json(after))


@given(before=st.text("ab .\n"), after=st.text("ab .\n"))
def test_the_pieces_of_a_text_make_up_both_texts(before: str, after: str) -> None:
    pieces = word_pieces(before, after)

    assert "".join(piece.text for piece in pieces if piece.tag != "ins") == before
    assert "".join(piece.text for piece in pieces if piece.tag != "del") == after


def test_a_long_text_is_compared_in_bounded_time() -> None:
    before = " ".join(str(number * 7 % 9_973) for number in range(40_000))
    after = " ".join(str(number * 11 % 9_967) for number in range(40_000))

    started = time.process_time()
    word_pieces(before, after)

    assert time.process_time() - started < 5


def test_very_many_long_texts_are_compared_in_bounded_time() -> None:
    numbers = Random(7)
    before, after = (
        [" ".join(str(numbers.randrange(10_000)) for _ in range(800)) for _ in range(150)]
        for _ in range(2)
    )

    started = time.process_time()
    changes = changes_between(before, after)

    assert time.process_time() - started < 5
    assert len(changes) == len(before)


def test_a_value_with_very_many_differences_lists_the_first_of_them() -> None:
    changes = changes_between({str(key): 0 for key in range(2_000)}, {})

    assert len(changes) == MAX_CHANGES
    assert {change.kind for change in changes} == {ChangeKind.REMOVED}
