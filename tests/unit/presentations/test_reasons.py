"""Names of reasons, for people."""

import pytest

from inbox.rules.presentations.reasons import reason_name
from inbox.rules.text.messages import TranslatableMessage


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("tool_call", "Approval"),
        ("input_required", "Question"),
        ("confirmation", "Confirmation"),
        ("upload_required", "Upload"),
        ("signoff:outcome_unknown", "Outcome unknown"),
        ("acme:policy_hold", "Policy hold"),
        ("inbox:policy_hold", "Policy hold"),
        ("draft:database_modification", "Database modification"),
        ("billing:refundApproval", "Refund Approval"),
        ("legal-review", "Legal review"),
        ("___", "___"),
        (":", ":"),
        ("", ""),
    ],
)
def test_a_reason_has_a_name_in_words(reason, name):
    assert reason_name(reason) == name


def test_only_known_names_are_translated():
    assert isinstance(reason_name("acme:policy_hold"), TranslatableMessage)
    assert not isinstance(reason_name("acme:{0.__class__}"), TranslatableMessage)
