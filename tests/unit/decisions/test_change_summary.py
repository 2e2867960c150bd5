"""The summary of a reviewer's changes in one line."""

import json
from typing import Any

import pytest

from inbox.rules.decisions.change_summary import COUNTED, LISTED, summary_of, summary_of_decision
from inbox.rules.runs.states import Reason


def texts(before: Any, after: Any) -> list[str]:
    return [
        f"{line.name} {line.before} → {line.after}" if line.after else f"{line.name} {line.kind}"
        for line in summary_of(before, after).lines
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"amount": 310}, {"amount": 310}, []),
        ({"amount": 310}, {"amount": 31}, ["amount 310 → 31"]),
        ({"amount": 310.5}, {"amount": "31"}, ["amount 310.5 → 31"]),
        ({"sent": True}, {"sent": 1}, ["sent true → 1"]),
        ({"cc": None}, {"cc": ""}, ['cc null → ""']),
        ({"body": "x" * 41}, {"body": "short"}, ["body changed"]),
        ({"body": "a\nb"}, {"body": "a"}, ["body changed"]),
        ({"note": "a"}, {}, ["note removed"]),
        ({}, {"note": "a"}, ["note added"]),
        ({"to": {"name": "Ana"}}, {"to": {"name": "Bob"}}, ["to / name Ana → Bob"]),
        ({"lines": [1, 2]}, {"lines": [1, 3]}, ["lines / 2 2 → 3"]),
        ({"lines": [1, 2]}, {"lines": [1]}, ["lines changed"]),
        ({"to": "a"}, {"to": ["a"]}, ["to changed"]),
        ([1], {"0": 1}, [" changed"]),
    ],
)
def test_short_values_are_named_before_and_after(before: Any, after: Any, expected: Any) -> None:
    assert texts(before, after) == expected


def test_a_summary_of_secrets_has_their_names_only() -> None:
    before = {"password": "old", "user": {"api_key": "k1"}}

    after = {"password": "new", "user": {"api_key": "k2"}}

    assert texts(before, after) == ["password changed", "user / api_key changed"]


def test_a_secret_that_becomes_a_number_is_not_named() -> None:
    assert texts({"password": "old"}, {"password": 7}) == ["password changed"]


def test_hidden_characters_of_names_and_values_are_escaped() -> None:
    assert texts({"to\u202e": "a"}, {"to\u202e": "a\u200b"}) == ["to⟨U+202E⟩ a → a⟨U+200B⟩"]


def test_a_summary_of_many_changes_is_bounded() -> None:
    summary = summary_of({str(key) * 90: 0 for key in range(5_000)}, {})

    assert len(summary.lines) == LISTED
    assert summary.others == COUNTED - LISTED
    assert all(len(line.name) <= 40 for line in summary.lines)


def interrupt(schema: Any = None, **members: Any) -> str:
    return json.dumps({"id": "1", "responseSchema": schema or {}, **members})


def test_values_that_the_schema_marks_as_secret_are_not_named() -> None:
    marked = {"properties": {"iban": {"type": "string", "writeOnly": True}}}
    body = interrupt({"properties": {"editedArgs": marked}}, reason=Reason.TOOL_CALL)
    payload = json.dumps({"approved": True, "editedArgs": {"iban": "DE2"}})

    summary = summary_of_decision(interrupt=body, args='{"iban": "DE1"}', payload=payload)

    assert [(line.name, line.before, line.after) for line in summary.lines] == [("iban", "", "")]


@pytest.mark.parametrize("payload", [None, "true", '{"approved": false, "editedArgs": {"a": 2}}'])
def test_what_is_not_an_approval_has_no_changes(payload: str | None) -> None:
    assert not summary_of_decision(interrupt=interrupt(), args='{"a": 1}', payload=payload)


def test_edits_in_older_dialects_are_changes_too() -> None:
    body = interrupt(
        {"properties": {"approved": {}, "modifications": {}}},
        reason="draft:approval",
        metadata={"draft": {"payload": {"proposal": {"tool": "pay", "args": {"amount": 310}}}}},
    )
    payload = json.dumps({"approved": True, "modifications": {"amount": 31}})

    (line,) = summary_of_decision(interrupt=body, args=None, payload=payload).lines

    assert (line.name, line.before, line.after) == ("amount", "310", "31")
