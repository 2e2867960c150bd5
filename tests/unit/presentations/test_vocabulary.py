"""The vocabulary with which an author says how to show a request."""

import pytest

from agents.sdk.present import Fact, Present, Section, Value, with_present
from inbox.rules.presentations.vocabulary import (
    DeclaredFact,
    Severity,
    ValueHint,
    ValueType,
    present_of,
    severity_of,
)


def parse(present):
    return present_of({"metadata": {"signoff": {"present": present}}})


def test_what_the_sdk_writes_is_read_back():
    present = Present(
        kind="money",
        title="Pay",
        summary="In short",
        severity="high",
        reversible=False,
        step=(2, 3),
        values={"amount": Value(label="Amount", type="money", unit="EUR", role="amount")},
        facts=[Fact("Rows", 5, unit="rows")],
        sections=[Section("Before", [Fact("Name", "Ana")])],
    )

    parsed = present_of({"metadata": with_present({"beside": 1}, present)})

    assert (parsed.kind, parsed.title, parsed.summary) == ("money", "Pay", "In short")
    assert (parsed.severity, parsed.is_reversible, parsed.step) == (Severity.HIGH, False, (2, 3))
    assert parsed.values == {"amount": ValueHint("Amount", ValueType.MONEY, "EUR", "", "amount")}
    assert parsed.facts == [DeclaredFact("Rows", 5, ValueHint("Rows", unit="rows"))]
    assert [section.title for section in parsed.sections] == ["Before"]
    assert parsed.others == {}


@pytest.mark.parametrize("interrupt", [{}, {"metadata": None}, {"metadata": {"signoff": []}}])
def test_interrupt_without_presentation_has_an_empty_one(interrupt):
    assert present_of(interrupt).others == {}
    assert present_of(interrupt).kind == ""


@pytest.mark.parametrize(
    "present",
    [
        "big",
        {"kind": 5},
        {"severity": "terrible"},
        {"reversible": "yes"},
        {"step": {"number": 4, "total": 3}},
        {"step": {"number": True, "total": 3}},
        {"values": []},
        {"facts": {}},
        {"sections": "x"},
        {"mood": "fine"},
    ],
    ids=str,
)
def test_unknown_words_and_wrong_types_stay_visible(present):
    others = parse(present).others

    assert others == (present if isinstance(present, dict) else {"present": present})


def test_section_without_facts_shows_its_members():
    sections = parse({"sections": [{"title": "More", "text": "x"}, "no section"]}).sections

    assert [section.facts for section in sections] == [
        [DeclaredFact("", {"text": "x"})],
        [DeclaredFact("", "no section")],
    ]


def test_facts_without_label_are_shown_as_they_are():
    assert parse({"facts": [{"value": 1}, "x"]}).facts == [
        DeclaredFact("", {"value": 1}),
        DeclaredFact("", "x"),
    ]


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("HIGH", Severity.HIGH),
        (" moderate ", Severity.MEDIUM),
        ("?", None),
        (5, None),
        (None, None),
    ],
)
def test_severities_have_usual_words(word, severity):
    assert severity_of(word) is severity


def test_presentation_keeps_other_members_of_the_metadata():
    metadata = with_present({"signoff": {"files": []}, "a": 1}, Present(kind="dns"))

    assert metadata == {"a": 1, "signoff": {"files": [], "present": {"kind": "dns"}}}
    assert with_present(None, None) is None
