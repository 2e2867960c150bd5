"""The title of a request with the values that a person has changed."""

from typing import Any

import pytest

from inbox.rules.decisions.change_summary import summary_of
from inbox.rules.presentations.changed_title import mark_changes


def marked(title: str, before: Any, after: Any) -> str:
    parts = mark_changes(title, summary_of({"value": before}, {"value": after})).parts
    return "".join(f"[{part.was}|{part.text}]" if part.was else part.text for part in parts)


@pytest.mark.parametrize(
    ("title", "before", "after", "expected"),
    [
        ("Refund $142.50 for #7", 142.5, 112.5, "Refund [$142.50|$112.50] for #7"),
        ("Pay 1.250,00 € to Ida", 1250, 90, "Pay [1.250,00 €|90,00 €] to Ida"),
        ("Pay EUR 12,400 now", 12400, 1031.5, "Pay [EUR 12,400|EUR 1,031.5] now"),
        ("Pay $900", 900, 12400, "Pay [$900|$12,400]"),
        ("Deploy to eu-west?", "eu-west", "eu-north", "Deploy to [eu-west|eu-north]?"),
    ],
)
def test_the_new_value_stands_beside_the_old_one(
    title: str, before: Any, after: Any, expected: str
) -> None:
    assert marked(title, before, after) == expected


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        ("Order 142 of 142 boxes", 142, 1),  # no currency: another number by chance
        ("Refund $142.50, not $142.50", 142.5, 1),
        ("Refund $142.505", 142.5, 1),
        ("Refund $142.50", 142.5, -5),
        ("Refund $1e5", 1e5, 1e25),
        ("Refund $142.50", True, 1),
        ("Credit -$142.50", 142.5, 1),
        ("Delete 88 of 8812", "8812", "8813"),
        ("Ask Anna or Ann", "An", "Bo"),
    ],
)
def test_a_number_that_may_be_another_one_is_left(title: str, before: Any, after: Any) -> None:
    assert marked(title, before, after) == title


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        ("Refund $100", {"amount": 100, "quantity": 100}, {"amount": 100, "quantity": 50}),
        ("Refund $30", {"amount": 3000, "nights": 30}, {"amount": 3000, "nights": 20}),
        ("Refund $30", {"amount": "30.00", "nights": 30}, {"amount": "30.00", "nights": 20}),
        ("Mail from Alice", {"from": "Alice", "to": "Alice"}, {"from": "Alice", "to": "Bob"}),
    ],
)
def test_a_value_that_looks_like_another_one_is_not_marked(
    title: str, before: Any, after: Any
) -> None:
    marked_title = mark_changes(title, summary_of(before, after))

    assert [part.text for part in marked_title.parts] == [title]
    assert len(marked_title.changes.lines) == 1


def test_an_amount_in_another_currency_is_left_for_the_summary() -> None:
    before, after = {"amount": 100, "currency": "EUR"}, {"amount": 50, "currency": "USD"}

    marked_title = mark_changes("Pay 100 EUR", summary_of(before, after))

    assert [(part.was, part.text) for part in marked_title.parts] == [
        ("", "Pay 100 "),
        ("EUR", "USD"),
    ]
    assert [line.name for line in marked_title.changes.lines] == ["amount"]


def test_changes_that_the_title_does_not_show_are_left_for_the_summary() -> None:
    changes = summary_of({"amount": 5, "note": "a"}, {"amount": 4, "note": "b"})

    left = mark_changes("Pay €5", changes).changes

    assert [line.name for line in left.lines] == ["note"]


def test_invisible_characters_of_a_title_stay_visible() -> None:
    (part,) = mark_changes("Pay\u202e 5", summary_of({}, {})).parts

    assert "\u202e" not in part.text
