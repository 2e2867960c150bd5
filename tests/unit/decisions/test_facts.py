"""What an agent tells beside its question, as labelled facts."""

import pytest

from inbox.rules.runs.proposals import proposal_of
from inbox.rules.schema.secrets import MASK
from inbox.web.decisions.facts import facts_of


def facts(metadata, **more):
    interrupt = {"reason": "confirmation", "metadata": metadata, **more}
    return [
        (fact.label, fact.text, fact.look) for fact in facts_of(interrupt, proposal_of(interrupt))
    ]


@pytest.mark.parametrize("metadata", [None, {}, [], "high", {"signoff": {"viewDigest": "x"}}])
def test_metadata_that_tell_nothing_are_no_facts(metadata):
    assert facts(metadata) == []


def test_each_kind_of_value_has_its_look():
    metadata = {
        "subject": "Payments",
        "affectedRows": 42,
        "reversible": False,
        "note": None,
        "sql": "DELETE FROM users",
        "tags": ["a", "b"],
        "limits": {"eur": {"daily": 5}},
        "sizes": [1, 2],
        "riskLevel": "Medium",
        "message": "the question again",
    }

    assert facts(metadata, message="the question again") == [
        ("Risk level", "Medium", "badge"),
        ("Subject", "Payments", "text"),
        ("Affected rows", "42", "text"),
        ("Reversible", "No", "text"),
        ("Note", "No value", "text"),
        ("Sql", "DELETE FROM users", "code"),
        ("Tags", "a\nb", "text"),
        ("Limits / Eur / Daily", "5", "text"),
        ("Sizes", "[\n  1,\n  2\n]", "code"),
    ]


def test_other_words_of_the_agent_are_facts():
    """What is consented to stands on the page, under whatever name."""
    draft = {"draft": {"payload": {"description": "Drops users", "amount": 5}}, "amount": 7}

    assert facts({"prompt": "Go on?", **draft}) == [
        ("Prompt", "Go on?", "text"),
        ("Amount", "7", "text"),
        ("Description", "Drops users", "text"),
        ("draft amount", "5", "text"),
    ]


@pytest.mark.parametrize("beside", [{}, {"value": {"amount": 5}}, {"raw": {"amount": 5}}])
def test_what_a_framework_tells_beside_its_words_is_shown(beside):
    rows = facts({"langgraph": {"checkpointId": "ckpt-xyz", **beside}})

    assert ("Langgraph / Checkpoint id", "ckpt-xyz", "text") in rows
    assert (("Amount", "5", "text") in rows) == bool(beside)


def test_secrets_are_masked_and_hidden_characters_spelled_out():
    assert facts({"password": "correct horse", "to": "a\u202eb"}) == [
        ("Password", MASK, "text"),
        ("To", "a⟨U+202E⟩b", "text"),
    ]


def test_many_facts_are_one_block_of_json():
    ((label, text, look),) = facts({f"name{number}": number for number in range(61)})

    assert (label, look) == ("Details", "code")
    assert '"name60": 60' in text


@pytest.mark.parametrize(
    ("payload", "expected"),
    [(None, []), ("Go on?", []), ([1], [("Payload", "[\n  1\n]", "code")])],
)
def test_a_payload_of_the_draft_that_is_no_object_is_shown(payload, expected):
    assert facts({"draft": {"reason": "hold", "payload": payload}}) == expected


def test_what_stands_in_the_form_is_no_fact():
    value = {"kind": "refund_approval", "amount": 47.5, "order": "A1"}
    schema = {"properties": {"approved": {"type": "boolean"}, "amount": {"type": "number"}}}
    interrupt = {"reason": "langgraph:refund_approval", "responseSchema": schema}

    assert facts({"langgraph": {"value": value}}, **interrupt) == [("Order", "A1", "text")]
    assert facts({"langgraph": {"raw": value}}, **interrupt) == [("Order", "A1", "text")]
