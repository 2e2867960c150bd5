"""Values of agents as facts to read."""

import pytest

from inbox.rules.presentations.values import (
    FIRST_ROWS,
    MORE_ROWS,
    Look,
    currency_decimals,
    money_text,
    rows_from,
    shown_parts,
    view_of,
    with_unit,
)
from inbox.rules.presentations.vocabulary import ValueHint, ValueType, is_currency


@pytest.mark.parametrize(
    ("name", "value", "look"),
    [
        ("city", "Lisbon", Look.TEXT),
        ("note", "two\nlines", Look.BLOCK),
        ("count", 12, Look.NUMBER),
        ("dry_run", False, Look.BOOLEAN),
        ("until", None, Look.EMPTY),
        ("tags", [], Look.EMPTY),
        ("query", "SELECT 1", Look.CODE),
        ("dryRunCommand", "ls", Look.TEXT),
        ("command", "ls", Look.CODE),
        ("patch", "anything", Look.DIFF),
        ("body", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y", Look.DIFF),
        ("tags", ["a", "b"], Look.LIST),
        ("lines", [{"sku": "A", "count": 1}, {"sku": "B"}], Look.TABLE),
        ("lines", [{"sku": "A", "parts": [1]}], Look.LIST),
        ("matrix", [[1, 2], [3, 4]], Look.CODE),
        ("address", {"city": "Lisbon"}, Look.FACTS),
        ("large", {str(number): number for number in range(500)}, Look.CODE),
    ],
)
def test_look_follows_from_name_and_value(name, value, look):
    assert view_of(name, value).look is look


def test_media_type_of_the_schema_says_what_a_text_is():
    views = [
        view_of("text", "# Hi", schema={"contentMediaType": media_type})
        for media_type in ("text/markdown", "application/sql; charset=utf-8", "text/plain", 5)
    ]

    assert [view.look for view in views] == [Look.MARKDOWN, Look.CODE, Look.TEXT, Look.TEXT]


def test_hint_of_the_author_goes_before_name_and_schema():
    hint = ValueHint(label="To pay", type=ValueType.MONEY, unit="EUR")

    view = view_of("query", 12400, hint, {"contentMediaType": "text/markdown"})

    assert (view.label, view.look, view.text, view.unit) == (
        "To pay",
        Look.MONEY,
        "12400.00",
        "EUR",
    )


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("12400", "12400"),
        ("142.5", "142.5"),
        ("-0.125", "-0.125"),
        ("1e3", "1000"),
        ("1234567890123456789.01", "1234567890123456789.01"),
        ("about 5", ""),
        ("", ""),
        ("NaN", ""),
        ("1" * 41, ""),
        ("1e99", ""),
        ("٣", ""),
    ],
)
def test_declared_money_loses_no_digit_and_gets_none(text, money):
    assert money_text(text) == money


@pytest.mark.parametrize(
    ("value", "minor_unit", "unit", "text"),
    [
        (4750, 2, "EUR", "47.50"),
        (5, 2, "USD", "0.05"),
        (-5, 2, "USD", "-0.05"),
        (0, 2, "USD", "0.00"),
        (500, 0, "JPY", "500"),
        (500, None, "JPY", "500"),
        (12400, None, "EUR", "12400.00"),
        (1500, 3, "KWD", "1.500"),
        (1999, None, "credits", "1999"),
        (1999, None, "", "1999"),
        ("0.125", None, "EUR", "0.125"),
        (2**70, 2, "EUR", "11805916207174113034.24"),
    ],
)
def test_money_has_the_decimals_of_its_currency(value, minor_unit, unit, text):
    hint = ValueHint(type=ValueType.MONEY, unit=unit, minor_unit=minor_unit)

    view = view_of("amount", value, hint)

    assert (view.look, view.text, view.unit) == (Look.MONEY, text, unit)


@pytest.mark.parametrize(
    ("unit", "decimals"),
    [("EUR", 2), ("usd", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("CUP", 2), ("€", 2)],
)
def test_codes_of_iso_4217_are_currencies(unit, decimals):
    assert is_currency(unit)
    assert currency_decimals(unit) == decimals


@pytest.mark.parametrize("unit", ["ABC", "row", "top", "all", "XXX", "XAU", "KGS2", "", "$$"])
def test_other_units_of_three_letters_are_no_currencies(unit):
    assert not is_currency(unit)
    assert currency_decimals(unit) == 0


def test_a_fraction_of_the_smallest_unit_is_displayed_as_it_is():
    hint = ValueHint(type=ValueType.MONEY, unit="EUR", minor_unit=2)

    assert view_of("amount", 47.5, hint).look is Look.NUMBER


@pytest.mark.parametrize("name", ["amount", "total", "price", "sum", "cost"])
def test_no_name_makes_money_of_a_number(name):
    view = with_unit(view_of(name, 4750), "EUR")

    assert (view.look, view.text, view.unit) == (Look.NUMBER, "4750", "")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_displayed_as_a_text(value):
    assert view_of("amount", value).look is Look.TEXT


def test_table_has_each_member_as_a_column():
    view = view_of("lines", [{"sku": "A", "count": 1}, {"count": 2, "iban": None}])

    assert view.columns == ["SKU", "Count", "IBAN"]
    assert [[cell and cell.text for cell in row] for row in view.rows] == [
        ["A", "1", None],
        [None, "2", "null"],
    ]


def test_invisible_characters_are_escaped_in_each_look():
    value = {"a": "x\u202ey", "b": ["x\u202ey"], "c": [{"d": "x\u202ey"}], "e\u202e": 1}

    text = repr(view_of("value", value))

    assert "\u202e" not in text
    assert text.count("⟨U+202E⟩") >= 4


def test_deep_and_large_values_are_shown_as_json():
    deep: dict = {}
    for _ in range(50):
        deep = {"in": deep}
    views = [
        view_of("deep", {"a": {"b": {"c": {"d": 1}}}}),
        view_of("deepest", deep),
        view_of("wide", [{"a": number} for number in range(201)]),
        view_of("hollow", [[] for _ in range(500)]),
    ]

    assert views[0].items[0].items[0].items[0].look is Look.CODE
    assert [view.look for view in views[1:]] == [Look.FACTS, Look.CODE, Look.CODE]


LINES = [{"sku": f"A{number}", "count": number} for number in range(200)]


def test_long_list_of_like_objects_is_a_table_of_its_first_rows():
    view = view_of("lines", LINES, at="/more?at=%2Flines")

    assert view.look is Look.TABLE
    assert [row[0].text for row in view.rows] == [f"A{number}" for number in range(FIRST_ROWS)]
    assert (view.rest_count, view.rest_at) == (200 - FIRST_ROWS, "/more?at=%2Flines")


@pytest.mark.parametrize("place", ["order", "or/der~1"])
def test_long_table_inside_an_object_names_its_place(place):
    view = view_of("a", {place: {"lines": LINES}, "vat": 7}, at="/more?at=%2Fa")

    table = view.items[0].items[0]
    path = {"order": "%2Forder%2Flines", "or/der~1": "%2For~1der~01%2Flines"}[place]
    assert (view.look, table.look) == (Look.FACTS, Look.TABLE)
    assert table.rest_at == f"/more?at=%2Fa{path}"
    assert shown_parts(view) == 2 * FIRST_ROWS + 1


def test_long_table_that_cannot_be_loaded_later_is_json():
    assert view_of("lines", LINES).look is Look.CODE


def test_table_of_few_values_has_all_its_rows():
    sparse = [{f"c{number % 8}": number} for number in range(100)]

    for view in (view_of("a", sparse), view_of("a", LINES[:50], at="/more")):
        assert (len(view.rows), view.rest_count) == ({8: 100, 2: 50}[len(view.columns)], 0)


@pytest.mark.parametrize("value", [LINES, [1, 2, 3], {"a": 1}, None, []])
def test_rows_from_a_place_are_those_of_the_table_below_it(value):
    view = rows_from(value, 150)

    is_table = value is LINES
    assert [row[1].text for row in view.rows] == [*map(str, range(150, 200))] * is_table
    assert view.rest_count == 0
    assert rows_from(value, 10).rest_count == (190 - MORE_ROWS) * is_table


def test_preview_of_a_long_text_has_its_first_lines():
    view = view_of("note", "\n".join(map(str, range(1000))))

    assert (view.preview, view.line_count) == ("0\n1\n2\n3\n4", 1000)
