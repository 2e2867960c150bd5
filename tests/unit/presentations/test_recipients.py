"""Recipients outside of the company."""

import pytest

from inbox.rules.presentations.recipients import outside_addresses


@pytest.mark.parametrize(
    ("value", "outside"),
    [
        ("ana@example.com", []),
        ("Ana <ana@MAIL.example.com.>", []),
        ("ana@example.com, eve@evil.test", ["eve@evil.test"]),
        (["a@example.com", "b@notexample.com", 5, {}], ["b@notexample.com"]),
        ("#channel", []),
        (None, []),
        ("@channel", []),
        ({"to": "x@y.test"}, ["x@y.test"]),
        ([{"name": "Eve", "email": "eve@evil.test"}], ["eve@evil.test"]),
        ("(eve@evil.test", ["eve@evil.test"]),
        ("ana@example.com <eve@evil.test>", ["eve@evil.test"]),
        ("eve@evil.test@example.com", ["eve@evil.test@example.com"]),
        ("eve@[192.0.2.1]", ["eve@"]),
    ],
    ids=str,
)
def test_addresses_of_other_domains_are_outside(value, outside):
    assert outside_addresses(value, {"example.com"}) == outside


def test_without_company_domains_nothing_is_outside():
    assert outside_addresses("eve@evil.test", set()) == []


def test_display_name_does_not_hide_the_domain():
    assert outside_addresses('"a@example.com" <eve@evil.test>', {"example.com"}) == [
        "eve@evil.test"
    ]
