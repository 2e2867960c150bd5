"""The result of a tool call as one line of words."""

import json

import pytest
from django.utils import translation

from inbox.web.audit.result_words import result_words


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"id": "rf_9021", "status": "refunded"}, "Refunded, rf_9021"),
        ({"refunded": True, "id": "rf_9021"}, "Refunded, rf_9021"),
        ({"sent": True}, "Sent"),
        ({"sent": False}, "Sent: no"),
        ({"amount": 1200, "currency": "EUR"}, "Amount 1,200, EUR"),
        ({"error": "card declined", "id": "rf_1"}, "Card declined, rf_1"),
        ({"content": [{"type": "text", "text": "Merged 4be02c1"}]}, "Merged 4be02c1"),
        ([1, 2, 3], "3 items"),
        ([], "0 items"),
        ([{"status": "changed"}], "Changed"),
        ("Sent", "Sent"),
        (True, "Yes"),
        ({"ok": True}, "Ok"),
        ({"ok": False, "error": "not encoded"}, "Not encoded"),
        ({"file": "orders-10.csv", "rows": 1200}, "orders-10.csv, Rows 1,200"),
        (7, "7"),
        (None, ""),
        ({}, ""),
        ({"type": "done"}, "Done"),
        ({"a": {"b": {"c": None}}}, ""),
        ({"password": "canary", "user": "kim"}, "Kim"),
        ({"api_key": "canary"}, ""),
    ],
)
def test_a_result_is_said_in_words(result, words):
    assert result_words(json.dumps(result)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mail   sent\nto Kim", "Mail sent to Kim"),
        ("[INFO] sent", "[INFO] sent"),
        ("", ""),
        ('{"cut off": "in the mid', ""),
        ("[" * 5_000, ""),
        (json.dumps({"rows": ["x" * 50] * 1_000}), ""),
        ("pay\u202edne", "pay⟨U+202E⟩dne"),
    ],
)
def test_a_result_is_never_displayed_as_json(text, words):
    assert result_words(text).lower() == words.lower()


@pytest.mark.parametrize("depth", [450, 600, 800, 5_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_deeply_nested_json_is_its_leaf_or_nothing(depth, begin, end):
    assert result_words(begin * depth + "1" + end * depth) in ("", "1", "A 1")


def test_a_long_text_is_cut():
    assert len(result_words("word " * 100)) <= 80
    assert len(result_words(json.dumps({"message": "word " * 100, "id": "i" * 900}))) <= 85


def test_what_follows_a_secret_name_in_a_text_is_left_out():
    text = 'log: {"password": "canary"}'

    assert "canary" not in result_words(text)
    assert "canary" not in result_words(json.dumps({"message": text}))


def test_numbers_are_in_the_format_of_the_reader():
    with translation.override("de"):
        assert result_words('{"amount": 1200.5}') == "Amount 1.200,5"
