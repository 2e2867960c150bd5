"""Values that an agent says beside its question, by name."""

import pytest

from inbox.rules.presentations.metadata_values import Risk, metadata_values, risk_of
from inbox.rules.presentations.vocabulary import Present, Severity
from inbox.rules.runs.proposals import proposal_of
from inbox.rules.schema.secrets import MASK


def values(metadata, **more):
    interrupt = {"reason": "confirmation", "metadata": metadata, **more}
    return dict(metadata_values(interrupt, proposal_of(interrupt)))


@pytest.mark.parametrize("metadata", [None, {}, [], "high", {"signoff": {"viewDigest": "x"}}])
def test_metadata_without_values_of_the_agent_are_empty(metadata):
    assert values(metadata) == {}


def test_message_risk_and_reversibility_are_left_out():
    metadata = {"affectedRows": 42, "reversible": False, "riskLevel": "Medium", "message": "Go?"}

    assert values(metadata, message="Go?") == {"affectedRows": 42}


def test_risk_in_unknown_words_stays_a_fact():
    assert values({"risk": "some", "reversible": "maybe"}) == {
        "risk": "some",
        "reversible": "maybe",
    }


@pytest.mark.parametrize(
    ("metadata", "risk"),
    [
        ({"risk": "high", "reversible": False}, Risk(Severity.HIGH, False)),
        ({"draft": {"payload": {"riskLevel": "low"}}}, Risk(Severity.LOW, None)),
        ({"severity": "severe", "isReversible": True}, Risk(Severity.CRITICAL, True)),
        ({"risk": 5}, Risk()),
        (None, Risk()),
    ],
    ids=str,
)
def test_risk_is_read_from_usual_names(metadata, risk):
    assert risk_of({"metadata": metadata}, Present()) == risk


def test_declared_risk_goes_before_usual_names():
    present = Present(severity=Severity.LOW, is_reversible=True)

    assert risk_of({"metadata": {"risk": "high", "reversible": False}}, present) == Risk(
        Severity.LOW, True
    )


def test_values_of_the_draft_are_at_the_top_level():
    draft = {"draft": {"payload": {"description": "Drops users", "amount": 5}}, "amount": 7}

    assert values({"prompt": "Go on?", **draft}) == {
        "prompt": "Go on?",
        "amount": 7,
        "description": "Drops users",
        "draft amount": 5,
    }


@pytest.mark.parametrize("beside", [{}, {"value": {"amount": 5}}, {"raw": {"amount": 5}}], ids=str)
def test_members_beside_the_value_of_langgraph_are_kept(beside):
    by_name = values({"langgraph": {"checkpointId": "ckpt-xyz", **beside}})

    assert by_name["langgraph"] == {"checkpointId": "ckpt-xyz"}
    assert ("amount" in by_name) == bool(beside)


def test_secrets_are_masked():
    assert values({"password": "correct horse"}) == {"password": MASK}


@pytest.mark.parametrize(
    ("payload", "expected"), [(None, {}), ("Go on?", {}), ([1], {"payload": [1]})], ids=str
)
def test_payload_of_the_draft_that_is_no_object_is_kept(payload, expected):
    assert values({"draft": {"reason": "hold", "payload": payload}}) == expected


def test_values_with_a_field_in_the_form_are_left_out():
    value = {"kind": "refund_approval", "amount": 47.5, "order": "A1"}
    schema = {"properties": {"approved": {"type": "boolean"}, "amount": {"type": "number"}}}
    interrupt = {"reason": "langgraph:refund_approval", "responseSchema": schema}

    assert values({"langgraph": {"value": value}}, **interrupt) == {"order": "A1"}
    assert values({"langgraph": {"raw": value}}, **interrupt) == {"order": "A1"}


def test_nulls_say_nothing_and_are_left_out():
    langgraph = {"value": {"amount": 7, "note": None}, "ns": None, "resumable": None, "when": None}

    assert values({"langgraph": langgraph, "trace": None, "retries": 0}) == {
        "retries": 0,
        "amount": 7,
    }
