"""Edits of arguments: offered where the response schema names `editedArgs`, refused elsewhere."""

import pytest

from inbox.rules.decisions.edits import check_edits, flat_edits, offers_edits
from inbox.rules.errors import EditsNotOffered, InvalidPayload

ARGS = '{"amount":47.5,"reason":"Duplicate charge"}'
APPROVED = {"properties": {"approved": {"type": "boolean"}}}
EDITABLE = {"properties": {"approved": {"type": "boolean"}, "editedArgs": {"type": "object"}}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (None, False),
        ({}, False),
        (APPROVED, False),
        ({**APPROVED, "additionalProperties": True}, False),
        ({"properties": {"editedArgs": False}}, False),
        (EDITABLE, True),
        ({"properties": {"editedArgs": True}}, True),
        ({"oneOf": [APPROVED, EDITABLE]}, True),
        ({"allOf": [{"$ref": "#/$defs/answer"}], "$defs": {"answer": EDITABLE}}, True),
        ({"if": {}, "then": EDITABLE}, True),
        ({"$ref": "#"}, False),
        ({"properties": {"payload": EDITABLE}}, False),
    ],
)
def test_the_schema_that_names_edits_offers_them(schema, expected):
    assert offers_edits(schema) is expected


@pytest.mark.parametrize("schema", [None, APPROVED])
@pytest.mark.parametrize(
    "edit",
    [
        {"editedArgs": {"amount": 5}},
        {"editedArgs": {}},
        {"toolCall": {"arguments": {"amount": 5}}},
        {"toolCall": {"arguments": '{"amount": 5}'}},
        {"toolCall": {"arguments": "5 EUR"}},
        {"modifications": {"amount": 5}},
        {"modifications": "dryRun"},
        {"amount": 5},
        {"edited_args": {"amount": 5}},
        {"edited_args": {}},
        {"editedargs": {"amount": 5}},
        {"editdArgs": {"amount": 5}},
        {"edits": [{"amount": 5}]},
        {"arguments": {"amount": 5}},
        {"args": '{"amount":5}'},
        {"tool_input": {"amount": 5}},
        {"modifiedArgs": {"amount": 5}},
    ],
)
def test_an_edit_that_is_not_offered_is_refused(schema, edit):
    with pytest.raises(EditsNotOffered):
        check_edits(schema=schema, args=ARGS, payload={"approved": True, **edit})


@pytest.mark.parametrize(
    "edit",
    [{"toolCall": {"arguments": {"amount": 5}}}, {"modifications": {"amount": 5}}, {"amount": 5}],
)
def test_an_edit_in_another_place_than_edited_args_is_refused(edit):
    with pytest.raises(InvalidPayload) as refused:
        check_edits(schema=EDITABLE, args=ARGS, payload={"approved": True, **edit})

    assert refused.value.code == "INVALID_PAYLOAD"
    assert refused.value.detail["problems"][0]["pointer"] == f"/{next(iter(edit))}"


@pytest.mark.parametrize(
    "payload",
    [
        {"approved": True},
        {"approved": True, "reason": "Seen the receipt"},
        {"approved": True, "amount": 47.5},
        {"approved": True, "modifications": {}},
        {"approved": True, "args": {"amount": 47.5, "reason": "Duplicate charge"}},
        {"approved": True, "edited_args": None},
        {"approved": True, "changes": []},
        {"approved": True, "toolCall": {"arguments": ARGS}},
        {"approved": False, "amount": 5},
        {"approved": False, "toolCall": {"arguments": {}}},
        {"approved": True, "budget": "Service"},
        True,
        "yes",
        None,
    ],
)
def test_what_changes_no_argument_is_no_edit(payload):
    check_edits(schema=APPROVED, args=ARGS, payload=payload)


def test_a_member_that_the_schema_names_is_no_edit():
    schema = {"properties": {"approved": {}, "amount": {"title": "Booked as"}}}

    check_edits(schema=schema, args=ARGS, payload={"approved": True, "amount": 5})


def test_a_repeated_call_with_the_edited_arguments_is_one_edit():
    edited = {"amount": 5}
    payload = {"approved": True, "editedArgs": edited, "toolCall": {"arguments": edited}}

    check_edits(schema=EDITABLE, args=ARGS, payload=payload)


def test_flat_members_with_names_of_arguments_are_edits():
    args = {"amount": 47.5, "reason": "Duplicate charge", "approved": 1, "budget": "x"}
    schema = {"properties": {"approved": {}, "reason": {}, "budget": {}}}
    payload = {"approved": True, "amount": 35, "reason": "Late", "budget": "y", "other": 1}

    assert flat_edits(schema=schema, args=args, payload=payload) == ["amount", "reason"]
