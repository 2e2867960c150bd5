"""Asking back: where agents listen, and which answers are questions."""

import pytest

from agents.agui.interrupts import approval_schema
from inbox.rules.decisions.feedback import check_feedback, feedback_of, offers_feedback
from inbox.rules.decisions.outcomes import Outcome, outcome_of
from inbox.rules.errors import InvalidPayload

LISTENS = approval_schema(feedback={"type": "string"})
QUESTION = {"approved": False, "feedback": "Why so much?"}


@pytest.mark.parametrize(
    ("schema", "listens"),
    [
        (LISTENS, True),
        (approval_schema(feedback={"type": ["string", "null"]}), True),
        (None, False),
        (approval_schema(), False),
        (approval_schema(feedback={"type": "object"}), False),
        (approval_schema(feedback=False), False),
        ({"type": "object", "properties": {"feedback": {"type": "string"}}}, False),
    ],
)
def test_an_agent_listens_if_its_schema_has_a_text_for_feedback(schema, listens):
    assert offers_feedback(schema) is listens


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (QUESTION, "Why so much?"),
        ({"approved": False, "feedback": "  "}, ""),
        ({"approved": False, "feedback": 1}, ""),
        ({"approved": True, "feedback": "Fine"}, ""),
        ({"feedback": "Why?"}, ""),
        ({"approved": False}, ""),
        (False, ""),
        (None, ""),
    ],
)
def test_only_a_denial_with_a_text_is_a_question(payload, text):
    assert feedback_of(payload) == text


def test_a_question_that_the_agent_would_not_read_is_refused():
    check_feedback(schema=LISTENS, payload=QUESTION)
    check_feedback(schema=None, payload={"approved": False})
    for schema in (None, approval_schema()):
        with pytest.raises(InvalidPayload, match="takes no questions"):
            check_feedback(schema=schema, payload=QUESTION)


def test_a_question_is_no_rejection():
    payload = '{"approved": false, "feedback": "Why?"}'

    outcome = outcome_of(status="resolved", reason="tool_call", payload=payload)

    assert outcome is Outcome.SENT_BACK
