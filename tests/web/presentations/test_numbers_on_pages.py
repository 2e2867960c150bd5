"""Numbers and money on the pages of readers in two languages."""

import re

import pytest
from django.utils import translation

from inbox.models import Interrupt
from tests.support.requests.programs import CALL, program
from tests.support.web.pages import sent, words
from tests.web.presentations.test_request_facts import propose

__all__ = ["program", "propose"]

EUROS = {"signoff": {"present": {"values": {"amount": {"type": "money", "unit": "EUR"}}}}}
CENTS = {
    "signoff": {
        "present": {"values": {"amount": {"type": "money", "unit": "EUR", "minor_unit": 2}}}
    }
}
FORM = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["order", "amount"],
}


@pytest.fixture(autouse=True)
def _language_of_other_tests():
    """Restore the language that a German page leaves active in this thread."""
    with translation.override("en"):
        yield


def in_german(reader):
    reader.client.cookies["django_language"] = "de"
    return reader


def page_words(reader, interrupt):
    """The words of the request, without those of the list and of the agent's message."""
    page = reader.get(f"/interrupts/{interrupt.pk}/")
    page.content = page.content.partition(b'id="detail"')[2]
    return words(page).partition(" says ")[0]


@pytest.mark.parametrize(
    ("tool", "args", "metadata", "text", "absent"),
    [
        ("refund", {"charge": "ch_17", "amount": 4750}, None, "4,750", "4,750.00"),
        ("charge", {"amount": 1999, "currency": "usd"}, None, "1,999", "1,999.00"),
        ("transfer", {"amount": 500, "currency": "JPY"}, None, "500", "500.00"),
        ("pay", {"total": "0.125"}, None, "0.125", "0.13"),
        ("wire", {"amount": 12400, "to": "Ida"}, EUROS, "12,400.00 EUR", "12,400 EUR"),
        ("refund", {"charge": "ch_17", "amount": 4750}, CENTS, "47.50 EUR", "4,750"),
    ],
)
def test_money_is_what_was_declared(propose, reads_bob, tool, args, metadata, text, absent):
    page = page_words(reads_bob, propose(tool, args, metadata=metadata))

    assert text in page
    assert absent not in page


def test_a_schema_declares_money(propose, reads_bob):
    hint = {"type": "money", "unit": "EUR", "minor_unit": 2}
    schema = {"properties": {"amount": {"type": "integer", "x-present": hint}}}

    page = page_words(reads_bob, propose("refund", {"amount": 4750}, schema=schema))

    assert "47.50 EUR" in page


def test_a_german_reader_sees_german_numbers(propose, reads_bob):
    args = {"amount": 12400, "rate": 0.5, "day": "2026-11-27"}

    page = page_words(in_german(reads_bob), propose("wire", args, metadata=EUROS))

    assert "12.400,00 EUR" in page
    assert "0,5" in page
    assert "2026-11-27" in page


def test_the_currency_of_a_payment_is_displayed_once(propose, reads_bob):
    declared = {"signoff": {"present": {"kind": "money", "values": {"amount": {"type": "money"}}}}}
    args = {"to": "Ida", "amount": 12400, "currency": "EUR"}

    page = reads_bob.open(propose("wire", args, metadata=declared))

    payment = page.partition('class="payment"')[2]
    assert re.search(r'12,400.00\s*<span class="value-unit">EUR</span>', payment)
    assert 'name="args/currency"' in payment
    (quiet,) = re.findall(r'data-value hidden>.*?value-label">([^<]*)<', payment, re.DOTALL)
    assert quiet == "Currency"


@pytest.mark.parametrize(
    ("typed", "amount"),
    [("12,50", 12.5), ("1.250,00", 1250), ("1.250", None), ("12.50", None), ("4750,5", 4750.5)],
)
def test_a_german_reader_enters_german_numbers(propose, reads_bob, typed, amount):
    interrupt = propose("refund", {"order": "A-1", "amount": 4750.5}, schema=FORM)
    assert 'value="4750,5"' in in_german(reads_bob).open(interrupt)

    answer = reads_bob.send(interrupt, "approve", {"args/amount": typed})

    if amount is None:
        assert not interrupt.decisions.exists()
        assert "1250" in answer.content.decode()
    else:
        edited = sent(interrupt).get("editedArgs", {"order": "A-1", "amount": 4750.5})
        assert edited == {"order": "A-1", "amount": amount}


def test_a_number_is_read_as_the_page_wrote_it_after_a_new_language(propose, reads_bob):
    interrupt = propose("refund", {"order": "A-1", "amount": 4750.5}, schema=FORM)
    post = in_german(reads_bob).form(interrupt).post().copy()
    post["args/amount"] = "4750,25"
    reads_bob.client.cookies["django_language"] = "en"

    reads_bob.post(interrupt, post, "approve")

    assert sent(interrupt)["editedArgs"]["amount"] == 4750.25


def test_bulk_review_shows_numbers_as_their_pages_do(program, reads_bob):
    for amount in (4750, 12400):
        program.ask(args={"charge": "ch_17", "amount": amount}, metadata=CENTS)
    first = Interrupt.objects.first()

    page = words(in_german(reads_bob).get(f"/similar/{first.pk}/"))

    assert CALL["tool"] in page
    assert "47,50 EUR" in page
    assert "124,00 EUR" in page
