"""The AG-UI interrupt contract as tables of cases."""

from datetime import UTC, datetime, timedelta

import pytest

from inbox.rules import errors
from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    fingerprint,
    is_replay,
    plan_resume,
)
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from tests.support.http.resume_contract import check_array

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RESOLVED, CANCELLED = EntryStatus.RESOLVED, EntryStatus.CANCELLED
OPEN, EXPIRED = InterruptStatus.OPEN, InterruptStatus.EXPIRED


def ask(name, *, status=OPEN, reason="confirmation", expires_in=None, schema=None, answer=None):
    expires_at = NOW + timedelta(seconds=expires_in) if expires_in is not None else None
    return InterruptState(name, status, reason, expires_at, schema, answer)


def yes(name, payload=True):
    return ResumeEntry(name, RESOLVED, payload)


def off(name):
    return ResumeEntry(name, CANCELLED)


def test_resume_that_covers_every_open_interrupt_is_accepted_in_order():
    fresh = check_array(entries=[yes("b"), yes("a")], interrupts=[ask("a"), ask("b")], now=NOW)

    assert [entry.interrupt_id for entry in fresh] == ["a", "b"]


@pytest.mark.parametrize(
    ("entries", "questions", "refusal"),
    [
        pytest.param([yes("a"), yes("a")], [ask("a")], errors.DuplicateResume, id="duplicate"),
        pytest.param([yes("x")], [ask("a")], errors.UnknownInterrupt, id="unknown"),
        pytest.param([yes("x")], [], errors.UnknownInterrupt, id="nothing is open"),
        pytest.param([yes("a")], [ask("a"), ask("b")], errors.PartialResume, id="missing"),
        pytest.param(
            [yes("a")], [ask("a", expires_in=0)], errors.InterruptExpired, id="expires now"
        ),
        pytest.param(
            [yes("a", "no")],
            [ask("a", schema={"type": "boolean"})],
            errors.InvalidPayload,
            id="wrong type",
        ),
        pytest.param(
            [yes("a", False)],
            [ask("a", status=InterruptStatus.RESOLVED, answer=yes("a", True)), ask("b")],
            errors.AlreadyDecided,
            id="contradicts what stands",
        ),
        pytest.param(
            [yes("a", True)],
            [ask("a", status=EXPIRED, answer=off("a"))],
            errors.InterruptExpired,
            id="closed by expiry",
        ),
    ],
)
def test_what_the_contract_does_not_allow_is_refused(entries, questions, refusal):
    with pytest.raises(refusal):
        check_array(entries=entries, interrupts=questions, now=NOW)


@pytest.mark.parametrize(
    ("entries", "refusal"),
    [
        pytest.param([yes("x"), yes("x")], errors.DuplicateResume, id="duplicate before unknown"),
        pytest.param([yes("x")], errors.UnknownInterrupt, id="unknown before missing"),
        pytest.param([yes("late", "no")], errors.PartialResume, id="missing before expiry"),
        pytest.param(
            [yes("late", "no"), yes("typed", "no")],
            errors.InterruptExpired,
            id="expiry before schema",
        ),
    ],
)
def test_the_checks_come_in_the_order_of_the_contract(entries, refusal):
    questions = [ask("late", expires_in=-1), ask("typed", schema={"type": "boolean"})]

    with pytest.raises(refusal):
        check_array(entries=entries, interrupts=questions, now=NOW)


def test_a_late_interrupt_can_still_be_cancelled():
    fresh = check_array(entries=[off("a")], interrupts=[ask("a", expires_in=-1)], now=NOW)

    assert fresh == [off("a")]


def test_answer_that_repeats_a_decision_in_force_is_covered_and_not_new():
    decided = ask("a", status=InterruptStatus.RESOLVED, answer=yes("a"))

    fresh = check_array(entries=[yes("a"), yes("b")], interrupts=[decided, ask("b")], now=NOW)

    assert fresh == [yes("b")]


@pytest.mark.parametrize(
    "payload",
    ["true", 1, [], {}, True, {"approved": "true"}, {"approved": 1}, {"approved": None}, None],
)
def test_only_an_object_with_a_boolean_approves_a_tool_call(payload):
    question = ask("a", reason="tool_call")

    with pytest.raises(errors.InvalidPayload):
        check_array(entries=[yes("a", payload)], interrupts=[question], now=NOW)


def test_only_a_boolean_approves_even_if_the_agent_asked_for_a_string():
    loose = {"type": "object", "properties": {"approved": {"type": "string"}}}

    with pytest.raises(errors.InvalidPayload):
        check_array(
            entries=[yes("a", {"approved": "true"})],
            interrupts=[ask("a", reason="tool_call", schema=loose)],
            now=NOW,
        )


def test_every_problem_of_an_answer_is_named_with_its_place():
    schema = {
        "type": "object",
        "properties": {"year": {"type": "integer"}, "quarter": {"enum": ["Q1", "Q2"]}},
        "required": ["year", "quarter"],
    }

    with pytest.raises(errors.InvalidPayload) as refused:
        check_array(
            entries=[yes("a", {"year": "2026", "quarter": "Q9"})],
            interrupts=[ask("a", reason="input_required", schema=schema)],
            now=NOW,
        )

    assert {problem["pointer"] for problem in refused.value.detail["problems"]} == {
        "/year",
        "/quarter",
    }


def test_order_and_null_payloads_make_no_difference_to_a_fingerprint():
    first = [ResumeEntry("a", CANCELLED, None), yes("b", {"x": 1, "y": 2})]
    two = [yes("b", {"y": 2, "x": 1}), ResumeEntry("a", CANCELLED)]

    assert fingerprint(first) == fingerprint(two)


@pytest.mark.parametrize(
    ("first", "two"), [(1, True), (0, False), ("1", 1), (None, False), ([], {})]
)
def test_types_make_a_difference_to_a_fingerprint(first, two):
    assert fingerprint([yes("a", first)]) != fingerprint([yes("a", two)])


def test_the_same_entries_again_are_a_replay_and_a_part_of_them_is_not():
    questions = [
        ask("a", status=InterruptStatus.RESOLVED, answer=yes("a")),
        ask("b", status=InterruptStatus.CANCELLED, answer=off("b")),
    ]

    assert is_replay(entries=[off("b"), yes("a")], interrupts=questions)
    assert not is_replay(entries=[yes("a")], interrupts=questions)
    assert not is_replay(entries=[yes("a", 1), off("b")], interrupts=questions)


def test_there_is_no_resume_while_a_question_is_open():
    closed = ask("a", status=InterruptStatus.RESOLVED, answer=yes("a"))

    assert plan_resume([closed, ask("b")]) is None
    assert plan_resume([closed]) == [yes("a")]
