"""Answers that say yes: a requester may not give them to what their own run asks."""

import pytest

from inbox.rules.decisions.approvals import approves
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus


def says_yes(payload: object) -> bool:
    entry = ResumeEntry("i", EntryStatus.RESOLVED, payload)
    return approves(entry, is_proposal=False)


@pytest.mark.parametrize(
    "answer",
    [
        *("yes", "Yes.", "Yes please", "yes, do it!", "OK go ahead", "Sure", "go ahead", "LGTM"),
        *("Approved - thanks", "please proceed", "Looks good to me, approve", "Ja bitte"),
        *("\N{THUMBS UP SIGN} yes", " yes\nplease ", "Confirmed by me", "allow this"),
        *({"answer": "Yes please"}, [{"decision": "ok, do it"}], True),
    ],
)
def test_answer_that_says_yes_is_consent(answer):
    assert says_yes(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("no", "No, thanks", "", "Lisbon", "Allow list for staging", "Continue in room 4"),
        *("The yes camp", "Japan", "please", "thank you", 1, None, False, {"answer": "no"}, []),
        *("not yes", "I agree with nobody"),
    ],
)
def test_other_answer_is_no_consent(answer):
    assert not says_yes(answer)
