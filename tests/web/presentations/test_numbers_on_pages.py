"""Numbers and money on the pages of readers in two languages."""

import re

import pytest
from django.utils import translation

from inbox.models import Interrupt
from inbox.web.base.numbers import amount_text
from tests.support.policies.published import publish, rule
from tests.support.requests.programs import CALL, program
from tests.support.steps import answer
from tests.support.web.pages import sent, words
from tests.web.presentations.test_request_facts import propose

__all__ = ["program", "propose"]

EUROS = {"signoff": {"present": {"values": {"amount": {"type": "money", "unit": "EUR"}}}}}
AN_AMOUNT = {"amount": {"type": "money"}}
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
        ("wire", {"amount": 12400, "to": "Ida"}, EUROS, "€12,400.00", "€12,400 "),
        ("refund", {"charge": "ch_17", "amount": 4750}, CENTS, "€47.50", "4,750"),
    ],
)
def test_money_is_what_was_declared(propose, reads_bob, tool, args, metadata, text, absent):
    page = page_words(reads_bob, propose(tool, args, metadata=metadata))

    assert text in page
    assert absent not in page


@pytest.mark.parametrize(
    ("text", "unit", "english", "german"),
    [
        ("142.50", "USD", "$142.50", "142,50\N{NO-BREAK SPACE}$"),
        ("-12400.00", "eur", "-€12,400.00", "-12.400,00\N{NO-BREAK SPACE}€"),
        ("12.00", "CHF", "CHF\N{NO-BREAK SPACE}12.00", "12,00\N{NO-BREAK SPACE}CHF"),
        ("0.1250", "USD", "$0.1250", "0,1250\N{NO-BREAK SPACE}$"),
        ("5", "kg", "5 kg", "5 kg"),
        ("5.5", "XQQ", "5.5 XQQ", "5,5 XQQ"),
        ("5.5", "", "5.5", "5,5"),
        ("1" * 50 + ".25", "USD", "$" + "1" * 50 + ".25", "1" * 50 + ".25\N{NO-BREAK SPACE}$"),
        ("see contract", "USD", "see contract USD", "see contract USD"),
    ],
)
def test_an_amount_has_its_currency_s_sign_and_all_its_digits(text, unit, english, german):
    assert amount_text(text, unit) == english
    with translation.override("de"):
        assert amount_text(text, unit) == german


def test_a_schema_declares_money(propose, reads_bob):
    hint = {"type": "money", "unit": "EUR", "minor_unit": 2}
    schema = {"properties": {"amount": {"type": "integer", "x-present": hint}}}

    page = page_words(reads_bob, propose("refund", {"amount": 4750}, schema=schema))

    assert "€47.50" in page


def test_a_german_reader_sees_german_numbers(propose, reads_bob):
    args = {"amount": 12400, "rate": 0.5, "day": "2026-11-27"}

    page = page_words(in_german(reads_bob), propose("wire", args, metadata=EUROS))

    assert "12.400,00 €" in page
    assert "0,5" in page
    assert "2026-11-27" in page


def test_a_changed_amount_is_marked_in_title_row_fact_and_slot(world, propose, dora, reads_bob):
    publish(world, rule("two", "ask", require={"slots": [{"role": "reviewer"}] * 2}))
    declared = {"title": "Refund $142.50 to Ida", "kind": "money", "values": AN_AMOUNT}
    args = {"to": "Ida", "amount": 142.5, "currency": "USD"}
    interrupt = propose("refund", args, metadata={"signoff": {"present": declared}})
    answer(interrupt, dora, {"approved": True, "editedArgs": {**args, "amount": 112.5}})

    page = reads_bob.open(interrupt)

    new_values = re.findall(r"<ins[^>]*>(.*?)</ins>", page, re.DOTALL)
    marked = [" ".join(re.sub("<[^>]+>", " ", text).split()) for text in new_values]
    in_title, in_fact, in_slot = "to $112.50", "Approved: $112.50", "$112.50"
    in_activity = in_slot
    assert sorted(marked) == [in_slot, in_activity, in_fact, in_title, in_title]
    assert page.count("$142.50") >= 3


def test_a_proposed_amount_keeps_its_currency(propose, dora, reads_bob):
    declared = {"title": "Refund €142.50 to Ida", "kind": "money", "values": AN_AMOUNT}
    args = {"to": "Ida", "amount": 142.5, "currency": "EUR"}
    interrupt = propose("refund", args, metadata={"signoff": {"present": declared}})
    edited = {**args, "amount": 112.5, "currency": "USD"}
    answer(interrupt, dora, {"approved": True, "editedArgs": edited})

    page = words(reads_bob.get(f"/decided/{interrupt.pk}/"))

    assert "Proposed: €142.50 → Approved: $112.50" in page
    assert "$142.50" not in page
    assert "€112.50" not in page


def test_the_currency_of_a_payment_is_displayed_once(propose, reads_bob):
    declared = {"signoff": {"present": {"kind": "money", "values": {"amount": {"type": "money"}}}}}
    args = {"to": "Ida", "amount": 12400, "currency": "EUR"}

    page = reads_bob.open(propose("wire", args, metadata=declared))

    payment = page.partition('class="payment"')[2]
    assert "€12,400.00" in payment
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
    assert "47,50 €" in page
    assert "124,00 €" in page
