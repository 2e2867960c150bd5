"""Numbers in the format of a reader."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.rules.text.numbers import FORMATS, AmbiguousNumber, NotANumber, NumberFormat

ENGLISH, GERMAN = NumberFormat(), NumberFormat(",", ".")


@pytest.mark.parametrize(
    ("numbers", "typed", "text"),
    [
        (GERMAN, "12,50", "12.50"),
        (GERMAN, "1.250,00", "1250.00"),
        (GERMAN, "1.250.000", "1250000"),
        (GERMAN, "1250", "1250"),
        (GERMAN, "-1,5e3", "-1.5e3"),
        (GERMAN, "0,5", "0.5"),
        (ENGLISH, "12.50", "12.50"),
        (ENGLISH, "1,250.00", "1250.00"),
        (ENGLISH, "1,250,000", "1250000"),
        (ENGLISH, "1.250", "1.250"),
    ],
)
def test_numbers_are_read_in_the_readers_format(numbers, typed, text):
    assert numbers.read(typed) == text


@pytest.mark.parametrize(
    ("numbers", "typed", "readings"),
    [
        (GERMAN, "1.250", ("1250", "1,25")),
        (ENGLISH, "1,250", ("1250", "1.25")),
        (GERMAN, "-12.000", ("-12000", "-12")),
        (ENGLISH, "999,125", ("999125", "999.125")),
    ],
)
def test_what_can_be_read_in_two_ways_names_both(numbers, typed, readings):
    with pytest.raises(AmbiguousNumber) as error:
        numbers.read(typed)

    assert error.value.readings == readings
    assert [numbers.read(reading) for reading in readings]


@pytest.mark.parametrize(
    ("numbers", "typed"),
    [
        *[(GERMAN, text) for text in ("12.50", "1.25", "1.2500", "0.250", "1.250.00", "1 2")],
        *[(ENGLISH, text) for text in ("12,50", "1,25", "1.2.3", "01", "+1", ".5", "5.", "")],
        *[(GERMAN, text) for text in ("1,250.00", "1.50,00", "\u0661", "0x10", "1_000", "--1")],
    ],
)  # fmt: skip
def test_what_is_no_number_in_the_format_is_refused(numbers, typed):
    with pytest.raises(NotANumber):
        numbers.read(typed)


@pytest.mark.parametrize(
    ("text", "english", "german"),
    [
        ("4750", "4,750", "4.750"),
        ("12400.00", "12,400.00", "12.400,00"),
        ("-1234567.891", "-1,234,567.891", "-1.234.567,891"),
        ("999", "999", "999"),
        ("1e+21", "1e+21", "1e+21"),
        ("0.125", "0.125", "0,125"),
        ("about 5000", "about 5000", "about 5000"),
        ("2026-11-27", "2026-11-27", "2026-11-27"),
        ("9" * 41, "9" * 41, "9" * 41),
    ],
)
def test_numbers_are_displayed_in_groups(text, english, german):
    assert (ENGLISH.write_grouped(text), GERMAN.write_grouped(text)) == (english, german)


@given(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(), st.sampled_from([*FORMATS])
)
def test_what_a_field_holds_is_read_back_as_it_was(number, code):
    text = json.dumps(number)

    assert FORMATS[code].read(FORMATS[code].write(text)) == text
