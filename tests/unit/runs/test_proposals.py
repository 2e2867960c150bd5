"""What agents of older dialects propose without a tool call, and how changes of it are told."""

import pytest

from inbox.rules.runs.proposals import proposal_of

APPROVED = {"approved": {"type": "boolean"}}
VALUE = {"kind": "refund_approval", "amount": 47.5, "reason": "Duplicate charge"}


def refund(**properties):
    return {
        "reason": "langgraph:refund_approval",
        "metadata": {"langgraph": {"value": VALUE}},
        "responseSchema": {"properties": {**APPROVED, **properties}},
    }


def email(**properties):
    args = {"to": "a@b.com", "subject": "Hi"}
    payload = {"proposal": {"tool": "sendEmail", "args": args}}
    return {
        "reason": "draft:human_approval",
        "metadata": {"draft": {"payload": payload}},
        "responseSchema": {"properties": {**APPROVED, **properties}},
    }


@pytest.mark.parametrize(
    "interrupt",
    [
        {},
        {"reason": "confirmation", "responseSchema": {"type": "boolean"}},
        refund(),
        {**refund(amount={}), "reason": "tool_call"},
        {**refund(amount={}), "responseSchema": {"properties": {"amount": {}}}},
        {**email(), "metadata": {"draft": {"payload": {"proposal": "sendEmail"}}}},
        {**email(), "metadata": {"draft": "sendEmail"}},
        {**email(), "metadata": None},
    ],
)
def test_what_proposes_nothing_has_no_proposal(interrupt):
    assert proposal_of(interrupt) is None


def test_values_that_the_schema_names_can_be_changed_beside_the_approval():
    proposal = proposal_of(refund(amount={"type": "number"}))

    assert dict(proposal.values) == {"amount": 47.5}
    assert proposal.edits({"amount": 47.50}) == {}
    assert proposal.edits({"amount": 35}) == {"amount": 35}
    assert proposal.edited_by({"approved": True, "amount": 35, "other": 1}) == {"amount": 35}
    assert proposal.edited_by({"approved": False, "amount": 35}) == {"amount": 47.5}


def test_arguments_of_the_draft_are_changed_in_modifications():
    proposal = proposal_of(email(modifications={"type": "object"}))

    assert (proposal.name, proposal.is_editable) == ("sendEmail", True)
    assert proposal.edits({"to": "a@b.com", "subject": "Hello", "dryRun": True}) == {
        "modifications": {"subject": "Hello", "dryRun": True}
    }
    changed = {"approved": True, "modifications": {"subject": "Hello"}}
    assert proposal.edited_by(changed) == {"to": "a@b.com", "subject": "Hello"}


def test_without_modifications_in_the_schema_a_proposal_is_fixed():
    assert proposal_of(email()).is_editable is False
