"""Questions whose agents send no response schema."""

import pytest

from inbox.rules.errors import InvalidPayload
from inbox.rules.runs.contract import InterruptState, ResumeEntry, check_payload
from inbox.rules.runs.questions import with_answer_schema
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.schema.schemas import YES_NO_OR_TEXT


def langgraph(value, **members):
    message = value if isinstance(value, str) else value.get("message") or value.get("question")
    return {
        "id": "i-1",
        "reason": "langgraph:interrupt",
        **({"message": message} if message else {}),
        "metadata": {"langgraph": {"value": value}},
        **members,
    }


@pytest.mark.parametrize(
    "interrupt",
    [
        langgraph("Do you approve the transfer of 900 EUR?"),
        langgraph({"question": "Do you approve this action?", "details": "Transfer 900 EUR"}),
        langgraph({"message": "Approve the transfer?", "action": "transfer", "amount": 900}),
        langgraph({"type": "purchase_approval", "message": "Buy 40 chairs?"}),
        langgraph({"kind": "confirm", "text": "40 chairs"}),
        {"id": "i", "reason": "input_required", "message": "Shall I send the letter?"},
        {"id": "i", "reason": "acme:permission", "message": "Write to /etc"},
        {"id": "i", "reason": "acme:step", "message": "OK to proceed?"},
    ],
)
def test_a_question_that_asks_to_approve_takes_yes_and_no(interrupt):
    assert with_answer_schema(interrupt)["responseSchema"] == YES_NO_OR_TEXT


@pytest.mark.parametrize(
    "interrupt",
    [
        langgraph("Which invoice should I confirm?"),
        langgraph("Should I take the train or the plane?"),
        langgraph({"question": "What is your name?"}),
        langgraph("Your address, please"),
        {"id": "i", "reason": "tool_call", "message": "Approve the refund?"},
        {"id": "i", "reason": "confirmation", "message": "Approve the refund?"},
        {"id": "i", "reason": "signoff:outcome_unknown", "message": "Proceed?"},
    ],
)
def test_other_questions_stay_as_they_are(interrupt):
    assert with_answer_schema(interrupt) == interrupt


def test_a_schema_of_the_agent_is_kept():
    interrupt = langgraph("Do you approve?", responseSchema={"type": "string"})

    assert with_answer_schema(interrupt) == interrupt


def test_options_are_the_only_answers():
    texts = with_answer_schema(langgraph({"question": "Ship it?", "options": ["go", "stop"]}))
    labelled = with_answer_schema(
        langgraph({"question": "?", "options": [{"label": "Go on", "value": 1}, {"label": "Stop"}]})
    )

    assert texts["responseSchema"]["oneOf"] == [
        {"const": "go", "title": "go"},
        {"const": "stop", "title": "stop"},
    ]
    assert labelled["responseSchema"]["oneOf"] == [
        {"const": 1, "title": "Go on"},
        {"const": "Stop", "title": "Stop"},
    ]


@pytest.mark.parametrize("options", [[], ["a", "a"], ["a", 3], [{"value": 1}], "ab", [""], [None]])
def test_options_that_are_no_choices_change_nothing(options):
    interrupt = langgraph({"question": "Name?", "options": options})

    assert with_answer_schema(interrupt) == interrupt


def check(payload, schema=YES_NO_OR_TEXT):
    state = InterruptState("i", InterruptStatus.OPEN, "langgraph:interrupt", None, schema)
    check_payload(state, ResumeEntry("i", EntryStatus.RESOLVED, payload))


@pytest.mark.parametrize("word", ["no", "No.", " REJECT ", "false", "denied", "don't", "nein"])
def test_a_word_that_says_no_is_refused_with_the_cure(word):
    with pytest.raises(InvalidPayload, match=r"Answer No \(false\)"):
        check(word)


@pytest.mark.parametrize("answer", [True, False, "yes", "No more than 500 EUR.", {"ok": 1}])
def test_other_answers_to_an_approval_are_accepted(answer):
    check(answer)


def test_a_word_that_says_no_answers_another_question():
    check("no", {"type": "string"})
